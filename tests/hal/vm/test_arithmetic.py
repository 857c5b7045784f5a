"""Every arithmetic instruction against IREE's own VM, on random and special numbers."""

import math
from typing import Any

import numpy as np
import pytest

from assay.hal.vm import LoadedModule, VmError

from .programs import (
    OPERATIONS,
    VM_FLAGS,
    IreeVm,
    compiled,
    operations_module,
    random_number,
    vm_session,
)

_CASES = 25
_TRANSCENDENTAL = ("exp", "log", "sin", "cos", "tanh", "erf", "atan", "pow")


@pytest.fixture(scope="module")
def machines() -> tuple[LoadedModule, IreeVm]:
    data = compiled(operations_module(), *VM_FLAGS)
    return vm_session().load(data), IreeVm(data)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_computes_what_irees_vm_computes(
    machines: tuple[LoadedModule, IreeVm], name: str
) -> None:
    ours, theirs = machines
    generator = np.random.default_rng(abs(hash_of(name)))
    kinds, _ = OPERATIONS[name]
    for _ in range(_CASES):
        arguments = tuple(random_number(kind, generator) for kind in kinds)
        if name.startswith(("div.i", "rem.i")) and arguments[1] in (0, -1):
            continue  # IREE's VM traps on these
        expected = theirs.call(name, arguments)[0]
        got = ours.invoke(name, *arguments)[0]
        assert same(name, got, expected), (name, arguments, got, expected)


def hash_of(name: str) -> int:
    return sum(letter * 31**place for place, letter in enumerate(name.encode())) % 2**32


def same(name: str, got: Any, expected: Any) -> bool:
    assert type(got) is type(expected)
    if isinstance(got, float) and math.isnan(expected):
        return math.isnan(got)
    if name.startswith(_TRANSCENDENTAL):
        # One rounding of the exact value here, the C library's error there.
        return math.isclose(got, expected, rel_tol=3e-7, abs_tol=1e-45)
    return bool(got == expected)


@pytest.mark.parametrize("name", ["div.i32.s", "div.i64.u", "rem.i32.u", "rem.i64.s"])
def test_division_by_zero_is_an_error_and_not_a_trap(
    machines: tuple[LoadedModule, IreeVm], name: str
) -> None:
    with pytest.raises(VmError, match="integer division by zero"):
        machines[0].invoke(name, 7, 0)


@pytest.mark.parametrize(("bits", "name"), [(32, "div.i32.s"), (64, "div.i64.s")])
def test_the_quotient_that_does_not_fit_wraps(
    machines: tuple[LoadedModule, IreeVm], bits: int, name: str
) -> None:
    smallest = -(1 << (bits - 1))
    assert machines[0].invoke(name, smallest, -1) == [smallest]
