"""Assumptions that stand in MSL source beside a kernel: `// assay: assume(k % 32 == 0)`.

One before a kernel, or inside of it, is about that kernel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..launches.errors import LaunchInputError

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary

_COMMENT = re.compile(r"//\s*assay:(.*)")
_ASSUME = re.compile(r"\s*assume\((.+)\)\s*")
# What braces do not count in: comments, texts, characters.
_OPAQUE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)


@dataclass(frozen=True, slots=True)
class Stated:
    """An assumption, and the file and line that it stands at; none if the caller gave it."""

    text: str
    place: str = ""


def assumptions_of(library: KernelLibrary) -> Mapping[str, list[Stated]]:
    """What the comments of all files of a library assume, by kernel.

    Raises:
        LaunchInputError: for a comment that is not understood, or beside no kernel.
    """
    found: dict[str, list[Stated]] = {}
    places = library.places()
    for file, text in library.sources().items():
        lines = {name: line for name, (where, line) in places.items() if where == file}
        if lines:
            found.update(assumptions_in(text, file, lines))
    return found


def assumptions_in(source: str, file: str, lines: Mapping[str, int]) -> dict[str, list[Stated]]:
    """What the comments of a file assume, by kernel.

    Args:
        source: its text.
        file: its name, for messages.
        lines: where kernels begin in it.

    Raises:
        LaunchInputError: for a comment that is not understood, or beside no kernel.
    """
    found: dict[str, list[Stated]] = {}
    if "assay:" not in source:
        return found
    depths = _depths(source)
    for number, line in enumerate(source.split("\n"), 1):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        place = f"{file}:{number}"
        assumed = _ASSUME.fullmatch(comment[1])
        if assumed is None:
            raise LaunchInputError(
                f"{place}: '{comment[0]}' is not understood; expected "
                "// assay: assume(CONDITION), such as assume(k % 32 == 0)"
            )
        found.setdefault(_kernel_at(number, depths[number - 1], lines, place), []).append(
            Stated(assumed[1].strip(), place)
        )
    return found


def _kernel_at(number: int, depth: int, lines: Mapping[str, int], place: str) -> str:
    """The kernel that a line is in, or before."""
    before = [name for name in lines if lines[name] <= number]
    after = [name for name in lines if lines[name] > number]
    if depth and before:
        return max(before, key=lambda name: lines[name])
    if not depth and after:
        return min(after, key=lambda name: lines[name])
    raise LaunchInputError(
        f"{place}: no kernel begins behind this comment; put it before a kernel, or inside of it"
    )


def _depths(source: str) -> list[int]:
    """How many brackets are open where each line begins."""
    plain = _OPAQUE.sub(lambda found: "\n" * found[0].count("\n"), source)
    depths, depth = [], 0
    for line in plain.split("\n"):
        depths.append(depth)
        depth += sum(line.count(each) for each in "({") - sum(line.count(each) for each in ")}")
    return depths
