"""Constants, and loads and stores of a module's globals."""

from __future__ import annotations

from ...status import out_of_range
from ..decode import RefOperand
from ..state import ModuleState
from .registry import BUILDERS, LAYOUTS, Registers, Step, builder, constant, type_check

for _kind, _zero in (("i32", 0), ("i64", 0), ("f32", 0.0), ("f64", 0.0)):
    BUILDERS[f"const.{_kind}"] = lambda _, value, result: constant(value, result)
    BUILDERS[f"const.{_kind}.zero"] = lambda _, result, zero=_zero: constant(zero, result)


@builder("const.ref.zero")
def _const_ref_zero(_: ModuleState, result: RefOperand) -> Step:
    return constant(None, result.register)


@builder("const.ref.rodata")
def _const_ref_rodata(state: ModuleState, ordinal: int, result: RefOperand) -> Step:
    return constant(state.rodata[ordinal], result.register)


@builder("global.load")
def _global_load(state: ModuleState, kind: str, offset: int, result: int) -> Step:
    unpack, data = LAYOUTS[kind].unpack_from, state.global_values

    def step(r: Registers) -> None:
        r[result] = unpack(data, offset)[0]

    return step


@builder("global.store")
def _global_store(state: ModuleState, kind: str, offset: int, value: int) -> Step:
    pack, data = LAYOUTS[kind].pack_into, state.global_values

    def step(r: Registers) -> None:
        pack(data, offset, r[value])

    return step


def _checked_global(state: ModuleState, offset: int, size: int) -> int:
    offset &= 0xFFFFFFFF
    if offset + size > len(state.global_values):
        raise out_of_range(
            f"global byte_offset out of range: {offset} (rwdata={len(state.global_values)})"
        )
    return offset


@builder("global.load.indirect")
def _global_load_indirect(state: ModuleState, kind: str, offset: int, result: int) -> Step:
    layout, data = LAYOUTS[kind], state.global_values

    def step(r: Registers) -> None:
        place = _checked_global(state, r[offset], layout.size)
        r[result] = layout.unpack_from(data, place)[0]

    return step


@builder("global.store.indirect")
def _global_store_indirect(state: ModuleState, kind: str, offset: int, value: int) -> Step:
    layout, data = LAYOUTS[kind], state.global_values

    def step(r: Registers) -> None:
        layout.pack_into(data, _checked_global(state, r[offset], layout.size), r[value])

    return step


def _checked_global_ref(state: ModuleState, ordinal: int) -> int:
    ordinal &= 0xFFFFFFFF
    if ordinal >= len(state.global_refs):
        raise out_of_range(
            f"global ref ordinal out of range: {ordinal} (table={len(state.global_refs)})"
        )
    return ordinal


@builder("global.load.ref")
def _global_load_ref(state: ModuleState, ordinal: int, type_: int, result: RefOperand) -> Step:
    table, check, register, move = state.global_refs, type_check(state, type_), *_parts(result)

    def step(r: Registers) -> None:
        r[register] = check(table[ordinal])
        if move:
            table[ordinal] = None

    return step


@builder("global.store.ref")
def _global_store_ref(state: ModuleState, ordinal: int, type_: int, value: RefOperand) -> Step:
    table, check, register, move = state.global_refs, type_check(state, type_), *_parts(value)

    def step(r: Registers) -> None:
        table[ordinal] = check(r[register])
        if move:
            r[register] = None

    return step


@builder("global.load.indirect.ref")
def _global_load_indirect_ref(
    state: ModuleState, ordinal: int, type_: int, result: RefOperand
) -> Step:
    table, check, register, move = state.global_refs, type_check(state, type_), *_parts(result)

    def step(r: Registers) -> None:
        place = _checked_global_ref(state, r[ordinal])
        r[register] = check(table[place])
        if move:
            table[place] = None

    return step


@builder("global.store.indirect.ref")
def _global_store_indirect_ref(
    state: ModuleState, ordinal: int, type_: int, value: RefOperand
) -> Step:
    table, check, register, move = state.global_refs, type_check(state, type_), *_parts(value)

    def step(r: Registers) -> None:
        table[_checked_global_ref(state, r[ordinal])] = check(r[register])
        if move:
            r[register] = None

    return step


def _parts(operand: RefOperand) -> tuple[int, bool]:
    return operand.register, operand.move
