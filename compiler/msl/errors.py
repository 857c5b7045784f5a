"""The error that a program which does not compile raises, and texts of several errors."""

from __future__ import annotations

import re

_ERROR = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: ", re.MULTILINE
)
_MOST_ERRORS = 20  # as clang shows by default


class CompileError(Exception):
    """The source does not compile; `str()` is what a person needs: file:line:column and why."""

    @classmethod
    def at(cls, file: str, line: int, column: int, message: str) -> CompileError:
        """An error at one place of the user's source, worded as clang words its own."""
        return cls(f"{file}:{line}:{column}: error: {message}")


class MissingConstants(CompileError):
    """A kernel reads function constants that were given no values: their `names`."""

    def __init__(self, message: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.names = names


def merged(ours: str, theirs: str) -> str:
    """Errors of the rules that clang does not know, and clang's, in the order of the source.

    Where both tell of one place, clang's is about what the other's left behind.
    """
    own = [(_place(each), each) for each in split_errors(ours)]
    places = {place for place, _ in own}
    known = [(_place(each), each) for each in split_errors(theirs)]
    every = [*own, *((place, each) for place, each in known if place not in places)]
    order = {file: number for number, file in enumerate(dict.fromkeys(p[0] for p, _ in every))}
    every.sort(key=lambda item: (order[item[0][0]], *item[0][1:]))
    shown = list(dict.fromkeys(text for _, text in every))
    if len(shown) > _MOST_ERRORS:
        shown[_MOST_ERRORS:] = ["fatal error: too many errors emitted, stopping now"]
    return "\n".join(shown)


def split_errors(errors: str) -> list[str]:
    """Each error with its notes and what they quote."""
    starts = [match.start() for match in _ERROR.finditer(errors)]
    ends = [*starts[1:], len(errors)][: len(starts)]
    return [errors[start:end].rstrip() for start, end in zip(starts, ends, strict=True)]


def _place(error: str) -> tuple[str, int, int]:
    found = _ERROR.match(error)
    assert found is not None
    return found["file"], int(found["line"]), int(found["column"])
