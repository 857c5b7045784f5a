"""Reads the kernels under this folder: how to run each, and which lines a finding must name.

`<check>/bugs/*.metal` and `<check>/clean/*.metal` hold one case per kernel. Its arguments are in
the `//!` lines before it. In bugs, lines end in

    // BUG kind     a finding of this kind must name the line (`kind|kind`: either will do)
    // MAYBE kind   a finding of this kind may name the line
    // WITH         the other side of a finding; races must name it too
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
# Folders whose check has another name.
_CHECK_OF = {"race_threadgroup": "race", "race_device": "race"}
_KERNEL = re.compile(r"^//! \[kernel\.(\w+)\]$")
_MARK = re.compile(r"// (BUG|MAYBE|WITH)((?: [\w|-]+)?)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a line's comment says: `BUG`, `MAYBE` or `WITH`, and the kinds meant."""

    word: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kernel of a corpus.

    Attributes:
        folder: which corpus, `race_device`.
        path: the source file.
        kernel: name of the kernel.
        settings: grid, threadgroup, arguments and constants as annotated.
        marks: by line number.
    """

    folder: str
    path: Path
    kernel: str
    settings: dict[str, Any]
    marks: dict[int, Mark]

    @property
    def check(self) -> str:
        """Name of the check that is judged."""
        return _CHECK_OF.get(self.folder, self.folder)

    @property
    def name(self) -> str:
        """Unique and readable: `race_device/bugs/indexing/strides_swapped`."""
        return f"{self.folder}/{self.path.parent.name}/{self.path.stem}/{self.kernel}"


def bugs() -> list[Case]:
    """All kernels with planted bugs."""
    return list(_cases("bugs"))


def near_misses() -> list[Case]:
    """All correct kernels that look like bugs."""
    return list(_cases("clean"))


def _cases(part: str) -> Iterator[Case]:
    for path in sorted(FOLDER.glob(f"*/{part}/*.metal")):
        yield from read_cases(path)


@functools.cache
def read_cases(path: Path) -> tuple[Case, ...]:
    """The kernels of one file, in its order."""
    lines = path.read_text().splitlines()
    starts = [at for at, line in enumerate(lines) if _KERNEL.match(line)]
    ends = [*starts[1:], len(lines)]
    return tuple(_read_case(path, lines, *span) for span in zip(starts, ends, strict=True))


def kinds_in(path: Path) -> frozenset[str]:
    """The kinds of findings that the kernels of a file are marked with."""
    marks = [mark for case in read_cases(path) for mark in case.marks.values()]
    return frozenset(kind for mark in marks if mark.word == "BUG" for kind in mark.kinds)


def _read_case(path: Path, lines: list[str], start: int, end: int) -> Case:
    block = lines[start:end]
    toml = "\n".join(line[3:] for line in block if line.startswith("//!"))
    ((kernel, settings),) = tomllib.loads(toml)["kernel"].items()
    marks = {}
    for number, line in enumerate(block, start + 1):
        found = _MARK.search(line)
        if found:
            marks[number] = Mark(word=found[1], kinds=frozenset(found[2].strip().split("|")))
    return Case(
        folder=path.parent.parent.name, path=path, kernel=kernel, settings=settings, marks=marks
    )
