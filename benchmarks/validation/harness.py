"""Runs the cases, launch by launch, and keeps what came out as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .cases import Case, Status
from .machine import Machine, Tapes
from .summary import Prediction
from .table import cases

QUICK = 12  # every so many-th row of a group


def chosen(
    *, chips: Sequence[str] = (), rows: Sequence[int] = (), groups: Sequence[str] = (), quick: bool
) -> list[Case]:
    """The cases that these restrict to; all where nothing is given."""
    found = [
        case
        for case in cases()
        if (not chips or case.chip in chips)
        and (not rows or case.row.ident in rows)
        and (not groups or case.group in groups)
    ]
    if not quick:
        return found
    seen: dict[tuple[str, Status], int] = {}
    kept = []
    for case in found:
        key = (case.group, case.status)
        seen[key] = seen.get(key, -1) + 1
        if seen[key] % QUICK == 0:
            kept.append(case)
    return kept


def predict(selected: Iterable[Case], say: Callable[[str], None]) -> list[Prediction]:
    """The predictions of all cases, in the order of the rows."""
    tapes = Tapes()
    machines: dict[str, Machine] = {}
    # Rows of one workload follow each other, so that chips share its tapes.
    work = sorted(selected, key=lambda case: (case.group, case.row.workload, case.chip))
    found: list[Prediction] = []
    begin = time.monotonic()
    for number, case in enumerate(work, 1):
        if number % 20 == 0 or number == len(work):
            say(f"{number} of {len(work)} rows, {time.monotonic() - begin:.0f} s")
        found.append(_one(case, machines, tapes))
    return sorted(found, key=lambda prediction: prediction.case.row.ident)


def _one(case: Case, machines: dict[str, Machine], tapes: Tapes) -> Prediction:
    if case.predict is None:
        return Prediction(case=case, value=None)
    if case.chip not in machines:
        machines[case.chip] = Machine(case.chip, tapes)
    try:
        return Prediction(case=case, value=case.predict(machines[case.chip]))
    except Exception as error:  # a row must not hide the others; the report fails for it
        return Prediction(case=case, value=None, problem=f"{type(error).__name__}: {error}")


def progress(text: str) -> None:
    """One line that the next replaces."""
    print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def write_json(path: Path, predictions: Sequence[Prediction]) -> None:
    """Values by row, those that the file has of other rows among them."""
    values = _values(path) if path.exists() else {}
    for p in predictions:
        if p.case.predict is not None:
            values[p.case.row.ident] = None if p.value is None else float(f"{p.value:.5g}")
    known = {case.row.ident for case in cases() if case.predict is not None}
    lines = [f'"{n}": {json.dumps(values[n])}' for n in sorted(values.keys() & known)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _values(path: Path) -> dict[int, float | None]:
    return {int(ident): value for ident, value in json.loads(path.read_text("utf-8")).items()}


def read_json(path: Path) -> list[Prediction]:
    """What `write_json` wrote, with the cases as they are now."""
    values = _values(path)
    return [
        Prediction(
            case=case, value=values.get(case.row.ident) if case.predict is not None else None
        )
        for case in cases()
    ]
