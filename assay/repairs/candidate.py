"""A change that may mend a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ..edits import Edit


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is changed, in words, and how."""

    what: str
    edits: tuple[Edit, ...]
