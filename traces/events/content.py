"""What recorders and readers gather: definitions, and columns per kind as they came."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .clock import Clock
from .schema import Cause, Form, Kind, Role, Type
from .trace import Column

REFERENCE_SHIFT = 40
"""A reference to an event: number of its kind shifted by this, plus its row."""

_HEADS: dict[Form, tuple[tuple[str, Type], ...]] = {
    Form.SLICE: (
        ("track", Type.INTEGER),
        ("name", Type.TEXT),
        ("begin", Type.INTEGER),
        ("duration", Type.INTEGER),
        ("cause", Type.INTEGER),
    ),
    Form.INSTANT: (("track", Type.INTEGER), ("name", Type.TEXT), ("time", Type.INTEGER)),
    Form.COUNTER: (("track", Type.INTEGER), ("time", Type.INTEGER), ("value", Type.REAL)),
    Form.FLOW: (("source", Type.INTEGER), ("destination", Type.INTEGER)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackDefinition:
    """A track as it was declared; `parent` is a number of a track or -1.

    Siblings are shown by ascending `order`, then in the order in which they were declared.
    """

    name: str
    parent: int
    role: Role
    unit: str = ""
    capacity: int | None = None
    order: int = 0


@dataclass(slots=True, kw_only=True)
class Content:
    """A trace in the making. `columns[k]` are the columns of `kinds[k]`, by name."""

    clock: Clock
    title: str = ""
    tracks: list[TrackDefinition] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    columns: list[dict[str, Column]] = field(default_factory=list)
    complete: bool = True
    notes: list[str] = field(default_factory=list)


def columns_of(kind: Kind) -> tuple[tuple[str, Type], ...]:
    """Names and types of all columns of a kind: those of its form, then its arguments."""
    return _HEADS[kind.form] + tuple((item.name, item.type) for item in kind.arguments)


def joined(kind: Kind, parts: list[dict[str, Column]]) -> dict[str, Column]:
    """Columns of several batches, one after the other."""
    return {
        name: np.concatenate([np.empty(0, dtype_of(type)), *(part[name] for part in parts)])
        for name, type in columns_of(kind)
    }


def dtype_of(type: Type) -> np.dtype[np.float64] | np.dtype[np.int64]:
    """What a column of a type is made of."""
    return np.dtype(np.float64) if type is Type.REAL else np.dtype(np.int64)
