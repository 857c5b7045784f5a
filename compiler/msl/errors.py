"""The error that a program which does not compile raises."""

from __future__ import annotations


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
