"""Models by this Assay and by an earlier one, by turns: whether any of them takes longer now."""

from __future__ import annotations

import pickle
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..turns import Rounds, asked, by_turns, shares
from .calls import calls_for
from .models import Subject, prepared

MOST = 1.03
"""Times what it took before that a model may take."""
_CALLER = Path(__file__).with_name("caller.py")
_HERE = Path(__file__).parents[2]
_ROUNDS = 11
_NOW, _BEFORE = "now", "before"


def compare(models: Sequence[str], earlier: Path) -> int:
    """Print what models take on one thread here and by the Assay in `earlier`.

    Returns 1 if one takes more than `MOST` times as long, else 0.
    """
    table = Table(title="A call, one thread, processor time")
    for column in ("model", _BEFORE, _NOW, "ratio", "bar", ""):
        table.add_column(column, justify="left" if column == "model" else "right")
    missed = False
    with tempfile.TemporaryDirectory(prefix="assay-profile-") as name:
        for model in models:
            folder = Path(name) / model
            folder.mkdir()
            rounds = _rounds(prepared(model, folder), folder, earlier)
            ratio = statistics.median(1 / share for share in shares(rounds, _NOW, [_BEFORE]))
            missed |= ratio > MOST
            before, now = (f"{statistics.median(rounds[who]) * 1e3:.3f}" for who in (_BEFORE, _NOW))
            verdict = "FAIL" if ratio > MOST else "pass"
            table.add_row(model, before, now, f"{ratio:.3f}", f"<= {MOST:g}", verdict)
            print(f"{model}: {ratio:.3f} times what it took", file=sys.stderr)
    Console(width=100).print(table)
    return int(missed)


def _rounds(subject: Subject, folder: Path, earlier: Path) -> Rounds:
    handed = folder / "subject.pickle"
    handed.write_bytes(
        pickle.dumps(
            {
                "metal": subject.metal,
                "parameters": subject.parameters,
                "function": subject.function,
                "arguments": subject.arguments,
            }
        )
    )
    with ExitStack() as processes:
        found = {}
        for who, where in ((_BEFORE, earlier), (_NOW, _HERE)):
            environment = {"PYTHONPATH": str(where.resolve()), "ASSAY_WORKERS": "1"}
            process = asked([str(_CALLER), str(handed)], environment, trial="1")
            ask = processes.enter_context(process)
            if ask is None:
                raise SystemExit(f"{subject.name}: the Assay in {where} does not run it")
            found[who] = ask
        calls = str(calls_for(found[_NOW]("1")))
        runs = {who: lambda _, ask=ask: ask(calls) for who, ask in found.items()}
        return by_turns({}, runs, rounds=_ROUNDS, repetitions=1)
