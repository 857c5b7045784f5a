"""Every scalar operation gives the same bits on both engines, per lane and for all lanes alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels import assemble, on_engine, on_reference

from .operation_kernels import DTYPES, FLOATS, INTEGERS, kernel, operands, operations

_THREADS = 160
_ZERO_OF_EITHER_SIGN = ("minnum", "maxnum")


def _differing(type_: str, *, position: str, size: int) -> list[str]:
    """Names of the operations on which the engines differ, with the first operands."""
    table = operations(type_)
    columns = operands(type_, _THREADS, 1)
    slots = np.zeros((len(table), _THREADS), np.uint64)
    expected, found = (
        run(
            assemble(kernel(type_, position, _THREADS), "a b c out"),
            [*columns, slots],
            threadgroup_size=(size, 1, 1),
            threads=(_THREADS, 1, 1),
        )[3]
        for run in (on_reference, on_engine)
    )
    differing = []
    for number, (name, (_, _, result)) in enumerate(table.items()):
        either = name in _ZERO_OF_EITHER_SIGN
        left, right = (_bits(each[number], result, either) for each in (expected, found))
        for lane in np.flatnonzero(left != right)[:1]:
            given = ", ".join(str(column[lane]) for column in columns)
            differing.append(f"{name}({given}): {left[lane]:#x} expected, {right[lane]:#x} found")
    return differing


def _bits(slots: np.ndarray, type_: str, either_zero: bool) -> np.ndarray:
    """The bits of each 64-bit slot's value; all NaNs are one."""
    values = slots.view(DTYPES.get(type_, np.uint8)).reshape(len(slots), -1)[:, 0]
    if type_ in FLOATS:
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        if either_zero:
            values = np.where(values == 0, values.dtype.type(0), values)
    return values.view(f"u{values.dtype.itemsize}")


@pytest.mark.parametrize("type_", (*FLOATS, *INTEGERS))
def test_operations_on_lanes_agree(type_: str) -> None:
    assert _differing(type_, position="thread_position_in_grid", size=32) == []


@pytest.mark.parametrize("type_", (*FLOATS, *INTEGERS))
def test_operations_on_a_value_that_all_lanes_share_agree(type_: str) -> None:
    assert _differing(type_, position="threadgroup_position_in_grid", size=1) == []
