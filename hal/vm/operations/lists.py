"""Instructions on `!vm.list`."""

from __future__ import annotations

from ...status import invalid_argument
from ..decode import RefOperand
from ..state import ModuleState
from ..values import ANY_REFERENCE, VmList, reference_type, require
from .registry import Registers, Step, builder, empty_moved


def _list(r: Registers, operand: RefOperand) -> VmList:
    value = r[operand.register]
    if value is None:
        raise invalid_argument("list is null")
    return require(VmList, value)


@builder("list.alloc")
def _list_alloc(state: ModuleState, type_: int, capacity: int, result: RefOperand) -> Step:
    element_type = state.definition.types[type_]

    def step(r: Registers) -> None:
        new = VmList(element_type)
        new.check_capacity(r[capacity])
        r[result.register] = new

    return step


@builder("list.reserve")
def _list_reserve(_: ModuleState, operand: RefOperand, capacity: int) -> Step:
    return lambda r: _list(r, operand).check_capacity(r[capacity])


@builder("list.size")
def _list_size(_: ModuleState, operand: RefOperand, result: int) -> Step:
    def step(r: Registers) -> None:
        r[result] = len(_list(r, operand).items)

    return step


@builder("list.resize")
def _list_resize(_: ModuleState, operand: RefOperand, size: int) -> Step:
    return lambda r: _list(r, operand).resize(r[size])


@builder("list.get")
def _list_get(_: ModuleState, kind: str, operand: RefOperand, index: int, result: int) -> Step:
    def step(r: Registers) -> None:
        r[result] = _list(r, operand).get_value(r[index], kind)

    return step


@builder("list.set")
def _list_set(_: ModuleState, kind: str, operand: RefOperand, index: int, value: int) -> Step:
    return lambda r: _list(r, operand).set(r[index], r[value])


@builder("list.get.ref")
def _list_get_ref(
    state: ModuleState, operand: RefOperand, index: int, type_: int, result: RefOperand
) -> Step:
    expected = reference_type(state.definition.types[type_])

    def step(r: Registers) -> None:
        source = _list(r, operand)
        value = source.get(r[index])
        if result.move:
            source.items[r[index] & 0xFFFFFFFF] = None
        named = "!" + value.type_name if hasattr(value, "type_name") else None
        # Another type than asked for reads as null, as in IREE.
        r[result.register] = value if expected in (named, ANY_REFERENCE) else None

    return step


@builder("list.set.ref")
def _list_set_ref(_: ModuleState, operand: RefOperand, index: int, value: RefOperand) -> Step:
    def step(r: Registers) -> None:
        _list(r, operand).set(r[index], r[value.register])
        empty_moved(r, (value,))

    return step
