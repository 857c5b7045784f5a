"""Reads the pairs under this folder and runs them as a user would.

A file is a bug and, with `FIXED` defined, its corrected twin: kernels are checked as by
`assay check FILE.metal` and `assay check FILE.metal -D FIXED`, host programs as by
`assay check FILE.py` and `assay check FILE.py -- fixed`. Each file begins with its source, a public
report or the class of bugs that it is of. Further checks than the default ones are named in a line

    // checks: overflow

Lines of the bug end in one of

    // BUG kind     a finding of this kind must name the line (`kind|kind`: either will do)
    // WITH         the other side of it
    // MAYBE kind   what follows from the bug: a finding of this kind may name the line
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import assay
from assay.cli import main, terminal

FOLDER = Path(__file__).parent
_MARK = re.compile(r"(?://|#) (BUG|MAYBE|WITH)((?: [\w|-]+)?)$")
_CHECKS = re.compile(r"^(?://|#) checks: ([\w,]+)$", re.MULTILINE)
_NOT_PAIRS = {"__init__.py", "pairs.py", "pending.py", "test_field.py", "rig.py"}
_EITHER_SIDE = ("race", "lanes", "barrier", "shuffle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One finding: its kind, its check, the lines that it names and all of its words."""

    kind: str
    check: str
    lines: tuple[int, ...]
    text: str


def pairs() -> list[Path]:
    """All files that hold a bug and its twin."""
    files = (p for p in FOLDER.rglob("*") if p.suffix in (".metal", ".py"))
    return sorted(p for p in files if p.name not in _NOT_PAIRS)


def name(path: Path) -> str:
    """Unique and readable: `race/tile`."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def marks(path: Path) -> dict[int, tuple[str, frozenset[str]]]:
    """Word and kinds of each marked line."""
    lines = enumerate(path.read_text().splitlines(), 1)
    found = {number: _MARK.search(line) for number, line in lines}
    return {n: (m[1], frozenset(m[2].strip().split("|"))) for n, m in found.items() if m}


def kinds(path: Path) -> frozenset[str]:
    """The kinds of findings that lines of a pair are marked with."""
    return frozenset().union(*(its for word, its in marks(path).values() if word == "BUG"))


def findings(path: Path, folder: Path, *, fixed: bool) -> list[Found]:
    """What the checks say to the bug, or to its twin; `folder` is for the report."""
    extra = _CHECKS.search(path.read_text())
    checks = ",".join(["all", *(extra[1].split(",") if extra else ())])
    if path.suffix == ".py":
        return list(_of_program(path, checks, folder / "report.json", fixed=fixed))
    report = assay.check(path, checks=checks, macros={"FIXED": "1"} if fixed else None)
    assert report.kernels, "there is no kernel"
    assert not report.problems or report.findings, report.problems
    return [
        Found(
            kind=f.kind,
            check=f.check,
            lines=tuple(party.site.line for party in f.parties),
            text=str(f),
        )
        for f in report.findings
    ]


def _of_program(path: Path, checks: str, output: Path, *, fixed: bool) -> Iterator[Found]:
    """What `assay check` writes of a host program."""
    arguments = [str(path), "--check", checks, "--format", "json", "--output", str(output)]
    with _as_command(["assay", "check", *arguments, *(["--", "fixed"] if fixed else [])]):
        try:
            main()
        except SystemExit as end:
            code = end.code
    data = json.loads(output.read_text())
    assert code in (0, 1) or data["findings"], (code, data)
    source = _line_of_source(path)
    for finding in data["findings"]:
        lines = tuple(n for party in finding["parties"] for n in _named(party, path.name, source))
        yield Found(
            kind=finding["kind"], check=finding["check"], lines=lines, text=json.dumps(finding)
        )


@contextmanager
def _as_command(arguments: list[str]) -> Iterator[None]:
    """The state of the process as when a command starts, and afterwards as before."""
    modules, path, argv = dict(sys.modules), list(sys.path), sys.argv
    sys.argv = arguments
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        for each in ("Metal", "rig"):
            sys.modules.pop(each, None)
            if each in modules:
                sys.modules[each] = modules[each]
        terminal.want_json(False)


def _line_of_source(path: Path) -> int:
    """The line before the first one of the program's MSL."""
    lines = path.read_text().splitlines()
    return next((n for n, line in enumerate(lines) if line.startswith("SOURCE")), 0)


def _named(party: dict[str, Any], name: str, source: int) -> Iterator[int]:
    """Lines of the program that a party names: its place, where it was encoded."""
    file, line = Path(party["site"]["file"]).name, int(party["site"]["line"])
    if file == name:
        yield line
    elif file == "program_source.metal" or file.endswith(".source"):
        yield source + line
    yield from (int(n) for n in re.findall(re.escape(name) + r":(\d+)", party["what"]))


def complaints(path: Path, found: list[Found]) -> list[str]:
    """What is wrong with the findings in a bug, one sentence each; empty if they are as marked."""
    marked = marks(path)
    wrong = []
    for line, (word, kinds) in marked.items():
        if word == "BUG" and not any(f.kind in kinds and line in _places(f) for f in found):
            wrong.append(f"line {line}: no finding of {' or '.join(sorted(kinds))}")
    for f in found:
        kinds = frozenset().union(*(marked[n][1] for n in f.lines if n in marked))
        if f.kind not in kinds:
            wrong.append(f"not marked: {f.text}")
    return wrong


def _places(found: Found) -> tuple[int, ...]:
    """Where a user looks: at either side of a race, else at the first place."""
    return found.lines if found.check in _EITHER_SIDE else found.lines[:1]
