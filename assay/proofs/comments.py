"""Assumptions that stand in MSL source beside a kernel: `// assay: assume(k % 32 == 0)`.

One before a kernel, or inside of it, is about that kernel. One of which it cannot be told whether
the compiler sees it, or that is about something else, is refused: it would prove too much.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..launches.errors import LaunchInputError

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary

_COMMENT = re.compile(r"//\s*assay:(.*)")
_ASSUME = re.compile(r"\s*assume\((.+)\)\s*")
_BLANK = r"[^\S\n]*"
_SPLICE = r"\\[ \t\r]*\n"
# What braces do not count in: comments, texts, characters. Numbers may have quotes in them.
_OPAQUE = re.compile(
    rf"//(?:{_SPLICE}|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?P<number>\b\d(?:'?\w)*)"
    r"|'(?:\\.|[^'\\\n])+'",
    re.S,
)
_DIRECTIVE = re.compile(rf"^{_BLANK}#(?:[^\n]*{_SPLICE})*[^\n]*", re.M)
# Of these it cannot be told line by line what the preprocessor sees: `#` in other characters, a
# directive or the begin of a comment in two lines.
_HIDDEN = re.compile(
    rf"%:|\?\?[=/]|^{_BLANK}#{_BLANK}\w*{_SPLICE}|^{_BLANK}#{_BLANK}$|[/*]{_SPLICE}"
    rf"|{_SPLICE}{_BLANK}#{_BLANK}(?:if|el|endif)",
    re.M,
)
# A text or a line that ends elsewhere than it seems to; a directive that may begin in no new line.
_ELSEWHERE = re.compile(rf"\b(?:u8|[uUL])?R\"|\r(?!\n)|\*/{_BLANK}#{_BLANK}(?:if|el|endif)")
_CONDITION = re.compile(rf"^{_BLANK}#{_BLANK}(if|el|endif)", re.M)  # elif, else


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
            seen = functools.partial(library.lines_of, file)
            found.update(assumptions_in(text, file, lines, seen))
    return found


def assumptions_in(
    source: str, file: str, lines: Mapping[str, int], seen: Callable[[], Collection[int]]
) -> dict[str, list[Stated]]:
    """What the comments of a file assume, by kernel.

    Args:
        source: its text.
        file: its name, for messages.
        lines: where kernels begin in it.
        seen: which lines the compiler saw; asked where `#if` may leave a comment out.

    Raises:
        LaunchInputError: for a comment that is not understood, or beside no kernel.
    """
    found: dict[str, list[Stated]] = {}
    if "assay:" not in source:
        return found
    text = _Text(source)
    if text.hidden:
        raise LaunchInputError(
            f"{file}:{text.hidden}: it cannot be told what the preprocessor leaves out from here "
            "on; write directives with '#', each name in one line"
        )
    for token in _OPAQUE.finditer(source):
        comment = _COMMENT.match(token[0])
        if comment is None:
            continue
        number = source.count("\n", 0, token.start()) + 1
        place = f"{file}:{number}"
        assumed = _ASSUME.fullmatch(comment[1])
        if assumed is None:
            raise LaunchInputError(
                f"{place}: '{comment[0]}' is not understood; expected "
                "// assay: assume(CONDITION), such as assume(k % 32 == 0)"
            )
        line = _kernel_at(number, text, set(lines.values()), place)
        if not (text.is_there_with(number, line) or _is_seen(number, text, seen(), place)):
            continue
        for kernel in (name for name in lines if lines[name] == line):
            found.setdefault(kernel, []).append(Stated(assumed[1].strip(), place))
    return found


def _kernel_at(number: int, text: _Text, lines: Collection[int], place: str) -> int:
    """Where the kernel begins that a line is in, or right before."""
    around = [line for line in lines if line <= number <= text.end_of(line)]
    behind = [line for line in lines if line > number]
    line = max(around) if around else min(behind, default=0)
    if not line or not (around or text.are_adjacent(number, line)):
        raise LaunchInputError(
            f"{place}: no kernel begins behind this comment; put it right before a kernel, or "
            "inside of it"
        )
    return line


def _is_seen(number: int, text: _Text, seen: Collection[int], place: str) -> bool:
    """Whether the compiler sees what is behind a comment in its branch of an `#if`."""
    line = text.next_in_branch(number)
    if line is None or not seen:
        raise LaunchInputError(
            f"{place}: it cannot be told whether '#if' leaves this comment out; put it outside, or "
            "before a line of code in the same branch"
        )
    return line in seen


class _Text:
    """The lines of a file without what braces do not count in.

    Attributes:
        hidden: the first line with what cannot be told line by line; 0 if there is none.
    """

    def __init__(self, source: str) -> None:
        plain = _OPAQUE.sub(_blank, source)
        hidden = _HIDDEN.search(plain) or _ELSEWHERE.search(source)
        self.hidden = 0 if hidden is None else hidden.string.count("\n", 0, hidden.start()) + 1
        self._open = _conditions(plain)
        self._lines = _DIRECTIVE.sub(_blank, plain).split("\n")

    def end_of(self, line: int) -> int:
        """The line in which what begins in one ends: with its last brace, or a semicolon."""
        braces = brackets = 0
        for number, text in enumerate(self._lines[line - 1 :], line):
            for each in text:
                braces += (each == "{") - (each == "}")
                brackets += (each == "(") - (each == ")")
                if braces < 0 or (not (braces or brackets) and each in "};"):
                    return number
        return len(self._lines)

    def are_adjacent(self, first: int, second: int) -> bool:
        """Whether nothing ends or is opened between two lines."""
        return not any(
            each in text for text in self._lines[first - 1 : second - 1] for each in "{};"
        )

    def next_in_branch(self, number: int) -> int | None:
        """The next line with code, if it is in the same branch of all conditions."""
        for line in range(number, len(self._lines) + 1):
            if self._open[line - 1] != self._open[number - 1]:
                return None
            if self._lines[line - 1].strip():
                return line
        return None

    def is_there_with(self, line: int, other: int) -> bool:
        """Whether a line is there for the compiler wherever another one is."""
        mine, others = self._open[line - 1], self._open[other - 1]
        return others[: len(mine)] == mine


def _blank(found: re.Match[str]) -> str:
    if found.lastgroup == "number":
        return found[0]
    return "\n" * found[0].count("\n")


def _conditions(plain: str) -> list[tuple[int, ...]]:
    """For each line the branches of `#if` that it is in, each by the line at which it begins."""
    found: list[tuple[int, ...]] = []
    current: tuple[int, ...] = ()
    for number, line in enumerate(plain.split("\n")):
        found.append(current)
        directive = _CONDITION.match(line)
        if directive is not None:
            outer = current if directive[1] == "if" else current[:-1]
            current = outer if directive[1] == "endif" else (*outer, number)
    return found
