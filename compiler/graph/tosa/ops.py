"""Reading TOSA operators, which are unregistered operations to xDSL."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IntegerAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..elements import NUMPY, Array, array_of, dtype_of, shape_of
from ..errors import GraphRefused, Problem

CONSTANTS = ("tosa.const", "tosa.const_shape", "arith.constant")


def name_of(op: Operation) -> str:
    """The operator's full name, such as tosa.conv2d."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def functions(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that have bodies."""
    return [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]


def only_function(module: ModuleOp) -> FuncOp:
    """The function of a module that has one. Raises GraphRefused."""
    found = functions(module)
    if len(found) != 1:
        names = "".join(f", {function.sym_name.data}" for function in found)
        reason = f"the model has {len(found)} functions{names}; one is possible"
        raise GraphRefused("module", [Problem(where="the module", reason=reason)])
    return found[0]


def body(function: FuncOp) -> Block:
    """The one block of a function."""
    return function.body.blocks[0]


def returned(function: FuncOp) -> ReturnOp:
    """What ends a function."""
    last = body(function).last_op
    assert isinstance(last, ReturnOp)
    return last


def retype(function: FuncOp) -> None:
    """Lets a function's type say what it takes and gives now."""
    inputs = [argument.type for argument in body(function).args]
    outputs = [value.type for value in returned(function).operands]
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


def attribute(op: Operation, key: str) -> Attribute | None:
    """A property or attribute."""
    found = op.properties.get(key)
    return found if found is not None else op.attributes.get(key)


def integer(op: Operation, key: str, default: int = 0) -> int:
    """An attribute that is a whole number or a truth value."""
    found = attribute(op, key)
    return int(found.value.data) if isinstance(found, IntegerAttr) else default


def number(op: Operation, key: str) -> float | int | None:
    """An attribute that is a number."""
    found = attribute(op, key)
    if isinstance(found, IntegerAttr):
        return int(found.value.data)
    return float(found.value.data) if isinstance(found, FloatAttr) else None


def integers(op: Operation, key: str) -> tuple[int, ...]:
    """An attribute that is an array of whole numbers; empty if there is none."""
    found = attribute(op, key)
    if isinstance(found, DenseArrayBase):
        return tuple(int(value) for value in found.get_values())
    if isinstance(found, DenseIntOrFPElementsAttr):
        return tuple(int(value) for value in array_of(found).reshape(-1))
    if isinstance(found, ArrayAttr):
        return tuple(int(v.value.data) for v in found.data if isinstance(v, IntegerAttr))
    return ()


def word(op: Operation, key: str) -> str:
    """An attribute that names a choice, such as #tosa.rounding_mode<DOUBLE_ROUND>."""
    found = attribute(op, key)
    if isinstance(found, UnregisteredAttr):
        return found.value.data.strip().strip("<>").strip()
    return found.data if isinstance(found, StringAttr) else ""


def constant(value: SSAValue) -> Array | None:
    """The elements of a value that is a constant, none of a number; else None."""
    owner = value.owner
    if not isinstance(owner, Operation) or name_of(owner) not in CONSTANTS:
        return None
    values = attribute(owner, "values") or attribute(owner, "value")
    if isinstance(values, IntegerAttr | FloatAttr):
        return np.asarray(values.value.data).astype(NUMPY[dtype(value)])
    return array_of(values) if isinstance(values, DenseIntOrFPElementsAttr) else None


def shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor."""
    found = shape_of(value.type)
    assert found is not None, value.type
    return found


def dtype(value: SSAValue) -> str:
    """The element type of a tensor."""
    kind = value.type
    found = dtype_of(getattr(kind, "element_type", kind))
    assert found is not None, kind
    return found


def location(op: Operation) -> str:
    """The names in an operator's location, or file and line; empty if it has none."""
    return "; ".join(dict.fromkeys(_names(op.location)))


def _names(place: Attribute) -> Iterator[str]:
    if isinstance(place, NameLoc):
        yield place.desc.data
    elif isinstance(place, FusedLoc):
        assert isinstance(place.locations, ArrayAttr)
        for part in place.locations.data:
            yield from _names(part)
    elif isinstance(place, FileLineColLoc) and place.line.data:
        line, column = place.line.data, place.column.data
        if place.filename.data == "-":  # what bindings call text that they are given
            yield f"line {line}, column {column}"
        else:
            yield f"{place.filename.data}:{line}:{column}"
