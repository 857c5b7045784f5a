"""Instructions on `!vm.buffer`. Offsets of typed loads, stores and fills count elements."""

from __future__ import annotations

import struct
from collections.abc import Callable

from ...status import invalid_argument
from ..decode import RefOperand
from ..siphash import siphash
from ..state import ModuleState
from ..values import VmBuffer, require
from .registry import BUILDERS, LAYOUTS, Registers, Step, builder

_BUFFER_LAYOUTS = {
    "i8": struct.Struct("<B"),
    "i8.u": struct.Struct("<B"),
    "i8.s": struct.Struct("<b"),
    "i16": struct.Struct("<H"),
    "i16.u": struct.Struct("<H"),
    "i16.s": struct.Struct("<h"),
    **LAYOUTS,
}
_STORE_MASKS = {"i8": 0xFF, "i16": 0xFFFF}


def _buffer(r: Registers, operand: RefOperand, role: str) -> VmBuffer:
    value = r[operand.register]
    if value is None:
        raise invalid_argument(f"{role} is null")
    return require(VmBuffer, value)


def _load_builder(kind: str) -> Callable[..., Step]:
    layout = _BUFFER_LAYOUTS[kind]
    unpack, size = layout.unpack_from, layout.size

    def builder(_: ModuleState, source: RefOperand, offset: int, result: int) -> Step:
        def step(r: Registers) -> None:
            view = _buffer(r, source, "source_buffer").elements(r[offset], 1, size)
            r[result] = unpack(view)[0]

        return step

    return builder


def _store_builder(kind: str) -> Callable[..., Step]:
    layout, mask = _BUFFER_LAYOUTS[kind], _STORE_MASKS.get(kind)
    pack, size = layout.pack_into, layout.size

    def builder(_: ModuleState, target: RefOperand, offset: int, value: int) -> Step:
        def step(r: Registers) -> None:
            view = _buffer(r, target, "target_buffer").elements(r[offset], 1, size, write=True)
            pack(view, 0, r[value] if mask is None else r[value] & mask)

        return step

    return builder


def _fill_builder(kind: str) -> Callable[..., Step]:
    layout, mask = _BUFFER_LAYOUTS[kind], _STORE_MASKS.get(kind)

    def builder(_: ModuleState, target: RefOperand, offset: int, length: int, value: int) -> Step:
        def step(r: Registers) -> None:
            buffer = _buffer(r, target, "buffer")
            view = buffer.elements(r[offset], r[length], layout.size, write=True)
            view[:] = layout.pack(r[value] if mask is None else r[value] & mask) * r[length]

        return step

    return builder


for _kind in ("i8.u", "i8.s", "i16.u", "i16.s", "i32", "i64", "f32", "f64"):
    BUILDERS[f"buffer.load.{_kind}"] = _load_builder(_kind)
for _kind in ("i8", "i16", "i32", "i64", "f32", "f64"):
    BUILDERS[f"buffer.store.{_kind}"] = _store_builder(_kind)
    BUILDERS[f"buffer.fill.{_kind}"] = _fill_builder(_kind)


@builder("buffer.alloc")
def _buffer_alloc(state: ModuleState, length: int, _: int, result: RefOperand) -> Step:
    def step(r: Registers) -> None:
        r[result.register] = state.limits.new_buffer(r[length])

    return step


@builder("buffer.clone")
def _buffer_clone(
    state: ModuleState, source: RefOperand, offset: int, length: int, __: int, result: RefOperand
) -> Step:
    def step(r: Registers) -> None:
        view = _buffer(r, source, "source").span(r[offset], r[length])
        copy = state.limits.new_buffer(len(view))
        copy.data[:] = view
        r[result.register] = copy

    return step


@builder("buffer.length")
def _buffer_length(_: ModuleState, operand: RefOperand, result: int) -> Step:
    def step(r: Registers) -> None:
        r[result] = len(_buffer(r, operand, "buffer").data)

    return step


@builder("buffer.copy")
def _buffer_copy(
    _: ModuleState,
    source: RefOperand,
    source_offset: int,
    target: RefOperand,
    target_offset: int,
    length: int,
) -> Step:
    def step(r: Registers) -> None:
        view = _buffer(r, source, "source_buffer").span(r[source_offset], r[length])
        destination = _buffer(r, target, "target_buffer")
        destination.span(r[target_offset], r[length], write=True)[:] = view

    return step


@builder("buffer.compare")
def _buffer_compare(
    _: ModuleState,
    a: RefOperand,
    a_offset: int,
    b: RefOperand,
    b_offset: int,
    length: int,
    result: int,
) -> Step:
    def step(r: Registers) -> None:
        left = _buffer(r, a, "lhs_buffer").span(r[a_offset], r[length])
        right = _buffer(r, b, "rhs_buffer").span(r[b_offset], r[length])
        r[result] = int(left == right)

    return step


@builder("buffer.hash")
def _buffer_hash(_: ModuleState, source: RefOperand, offset: int, length: int, result: int) -> Step:
    def step(r: Registers) -> None:
        view = _buffer(r, source, "source_buffer").span(r[offset], r[length])
        r[result] = siphash(bytes(view))

    return step
