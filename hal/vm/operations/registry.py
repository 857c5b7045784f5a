"""How instructions become closures: the registry that the other files of this package fill."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from ...status import invalid_argument
from ..arithmetic import ARITHMETIC
from ..decode import Instruction, RefOperand
from ..state import ModuleState
from ..values import ANY_REFERENCE, reference_type

Registers = list[Any]
Step = Callable[[Registers], None]

BUILDERS: Final[dict[str, Callable[..., Step]]] = {}
"""By mnemonic, or by mnemonic without its last part; takes the state (and that part), operands."""

LAYOUTS: Final = {
    "i32": struct.Struct("<i"),
    "i64": struct.Struct("<q"),
    "f32": struct.Struct("<f"),
    "f64": struct.Struct("<d"),
}


def builder(name: str) -> Callable[[Callable[..., Step]], Callable[..., Step]]:
    """Register the builder of a mnemonic or of a family of them."""

    def register(function: Callable[..., Step]) -> Callable[..., Step]:
        BUILDERS[name] = function
        return function

    return register


def build(state: ModuleState, instruction: Instruction) -> Step:
    """The closure of one straight-line instruction."""
    mnemonic = instruction.operation.mnemonic
    function = ARITHMETIC.get(mnemonic)
    if function is not None:
        return _arithmetic(function, instruction.operands)
    found = BUILDERS.get(mnemonic)
    if found is not None:
        return found(state, *instruction.operands)
    family, _, suffix = mnemonic.rpartition(".")
    return BUILDERS[family](state, suffix, *instruction.operands)


def _arithmetic(function: Callable[..., Any], operands: tuple[int, ...]) -> Step:
    if len(operands) == 2:
        a, result = operands

        def unary(r: Registers) -> None:
            r[result] = function(r[a])

        return unary
    if len(operands) == 3:
        a, b, result = operands

        def binary(r: Registers) -> None:
            r[result] = function(r[a], r[b])

        return binary
    a, b, c, result = operands

    def ternary(r: Registers) -> None:
        r[result] = function(r[a], r[b], r[c])

    return ternary


def constant(value: Any, result: int) -> Step:
    """A step that puts a fixed value into a register."""

    def step(r: Registers) -> None:
        r[result] = value

    return step


def type_check(state: ModuleState, type_ordinal: int) -> Callable[[Any], Any]:
    """A function that lets a reference of the type (or null) through and refuses others."""
    expected = reference_type(state.definition.types[type_ordinal])
    if expected == ANY_REFERENCE:
        return lambda value: value

    def check(value: Any) -> Any:
        if value is not None and "!" + value.type_name != expected:
            raise invalid_argument("source ref type mismatch")
        return value

    return check


def empty_moved(r: Registers, operands: tuple[RefOperand, ...]) -> None:
    """Empty the ref registers that an instruction took its operands out of."""
    for operand in operands:
        if operand.move:
            r[operand.register] = None
