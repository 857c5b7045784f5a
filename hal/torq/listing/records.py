"""Plain data of an executable, such as bindings and actions, as fields of operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from enum import IntEnum
from typing import TypeVar

from assay.compiler.torq.hw.attributes import Fields, FieldsAttr, Value, made_of
from assay.compiler.torq.hw.operation import FieldsOp

from ..format import BufferType, ElementType

_T = TypeVar("_T")
_ENUMERATIONS: dict[str, type[IntEnum]] = {
    "BufferType": BufferType,
    "ElementType": ElementType,
}


def record_op(kind: type[FieldsOp], made: object) -> FieldsOp:
    """An operation with the fields of a dataclass."""
    return kind.create(properties={"fields": FieldsAttr(record_fields(made))})


def record_fields(made: object) -> Fields:
    """A dataclass's fields but for the usual ones; enumerations by name."""
    found = []
    for field in fields(made):  # type: ignore[arg-type]
        value = getattr(made, field.name)
        if field.default is MISSING or value != field.default:
            found.append((field.name, value.name if isinstance(value, IntEnum) else value))
    return tuple(found)


def record_of(kind: Callable[..., _T], given: Fields) -> _T:
    """A dataclass of fields. Raises ValueError."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    made: list[tuple[str, Value]] = []
    for name, value in given:
        names = _ENUMERATIONS.get(str(known[name].type)) if name in known else None
        if names is not None:
            if value not in names.__members__:
                raise ValueError(
                    f"field {name} is {value}; there are {', '.join(names.__members__)}"
                )
            made.append((name, names[str(value)]))
        else:
            made.append((name, value))
    needed = [name for name, f in known.items() if f.default is MISSING and name not in dict(given)]
    if needed:
        raise ValueError(f"field {needed[0]} is missing")
    return made_of(kind, tuple(made))
