"""What is wrong with a model, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..models.errors import ModelError

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that stands in the way.

    Attributes:
        where: the tensor, operator or place in the file that it concerns.
        operator: the operator's name, empty if it concerns none.
        reason: what is wrong, and what would be right.
    """

    where: str
    operator: str = ""
    reason: str

    def __str__(self) -> str:
        subject = f"{self.operator} at {self.where}" if self.operator else self.where
        return f"{subject}: {self.reason}"


class GraphRefused(ModelError):
    """A model that cannot be compiled for the NPU; `problems` are all that were found."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [f"  {problem}" for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            lines.append(f"  ... and {len(problems) - _SHOWN} more")
        super().__init__("\n".join((f"{source}: this model cannot be compiled:", *lines)))


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Says of what is refused inside that it is `source`, such as a file's name."""
    try:
        yield
    except GraphRefused as refused:
        raise GraphRefused(source, refused.problems) from None
