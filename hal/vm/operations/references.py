"""Selection, comparison and movement of values and references; failures and traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...status import StatusError, name_of
from ..decode import RefOperand
from ..state import ModuleState
from .registry import Registers, Step, builder, constant, empty_moved, type_check


@builder("select")
def _select(_: ModuleState, kind: str, condition: int, yes: int, no: int, result: int) -> Step:
    def step(r: Registers) -> None:
        r[result] = r[yes] if r[condition] else r[no]

    return step


@builder("switch")
def _switch(_: ModuleState, kind: str, index: int, default: int, values: Any, result: int) -> Step:
    choices = values.registers

    def step(r: Registers) -> None:
        choice = r[index]
        r[result] = r[choices[choice]] if 0 <= choice < len(choices) else r[default]

    return step


@builder("select.ref")
def _select_ref(
    state: ModuleState,
    condition: int,
    type_: int,
    yes: RefOperand,
    no: RefOperand,
    result: RefOperand,
) -> Step:
    check = type_check(state, type_)

    def step(r: Registers) -> None:
        chosen = yes if r[condition] else no
        value = check(r[chosen.register])
        if chosen.move:
            r[chosen.register] = None
        r[result.register] = value

    return step


@builder("switch.ref")
def _switch_ref(
    state: ModuleState,
    index: int,
    type_: int,
    default: RefOperand,
    values: Any,
    result: RefOperand,
) -> Step:
    check = type_check(state, type_)
    choices = [RefOperand(register, register in values.moved) for register in values.registers]

    def step(r: Registers) -> None:
        choice = r[index]
        chosen = choices[choice] if 0 <= choice < len(choices) else default
        value = check(r[chosen.register])
        if chosen.move:
            r[chosen.register] = None
        r[result.register] = value

    return step


@builder("cast.any.ref")
def _cast_any_ref(state: ModuleState, value: RefOperand, type_: int, result: RefOperand) -> Step:
    return _transfer(value, result, type_check(state, type_))


@builder("assign.ref")
def _assign_ref(_: ModuleState, value: RefOperand, result: RefOperand) -> Step:
    return _transfer(value, result, lambda reference: reference)


def _transfer(source: RefOperand, result: RefOperand, check: Callable[[Any], Any]) -> Step:
    a, move, b = source.register, source.move, result.register

    def step(r: Registers) -> None:
        value = check(r[a])
        if move:
            r[a] = None
        r[b] = value

    return step


@builder("discard.refs")
def _discard_refs(_: ModuleState, values: Any) -> Step:
    registers = values.registers

    def step(r: Registers) -> None:
        for register in registers:
            r[register] = None

    return step


@builder("cmp.eq.ref")
def _cmp_eq_ref(_: ModuleState, a: RefOperand, b: RefOperand, result: int) -> Step:
    return _compare_refs(a, b, result, 1, 0)


@builder("cmp.ne.ref")
def _cmp_ne_ref(_: ModuleState, a: RefOperand, b: RefOperand, result: int) -> Step:
    return _compare_refs(a, b, result, 0, 1)


def _compare_refs(a: RefOperand, b: RefOperand, result: int, same: int, other: int) -> Step:
    def step(r: Registers) -> None:
        value = same if r[a.register] is r[b.register] else other
        empty_moved(r, (a, b))
        r[result] = value

    return step


@builder("cmp.nz.ref")
def _cmp_nz_ref(_: ModuleState, a: RefOperand, result: int) -> Step:
    def step(r: Registers) -> None:
        r[result] = int(r[a.register] is not None)
        empty_moved(r, (a,))

    return step


@builder("fail")
def _fail(_: ModuleState, status: int, message: str) -> Step:
    def step(r: Registers) -> None:
        if r[status]:
            raise StatusError(name_of(r[status]), message)

    return step


@builder("trace")
@builder("print")
def _trace(_: ModuleState, name: str, values: Any) -> Step:
    # Tracing needs a tracing build of IREE's runtime, and the default one prints nothing either.
    def step(r: Registers) -> None:
        for register in values.moved:
            r[register] = None

    return step


@builder("import.resolved")
def _import_resolved(state: ModuleState, ordinal: int, result: int) -> Step:
    resolved = int(state.imports[ordinal & 0x7FFFFFFF] is not None)
    return constant(resolved, result)
