"""Every scalar operation gives the same bits on both engines, per lane and for all lanes at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.property.operation_kernels import DTYPES, FLOATS, INTEGERS, kernel, operands, operations
from tests.support.kernels import assemble, on_engine, on_reference

_CASES = [(type_, name) for type_ in (*FLOATS, *INTEGERS) for name in operations(type_)]
_ZERO_OF_EITHER_SIGN = ("minnum", "maxnum")


def _agree(type_: str, name: str, *, position: str, threads: int, size: int) -> None:
    declaration, expression, result = operations(type_)[name]
    text = kernel(type_, declaration, expression, result, position)
    arguments = [*operands(type_, 160, 1), np.zeros(160, np.uint64)]
    found, expected = (
        _results(
            run(
                assemble(text, "a b c out"),
                arguments,
                threadgroup_size=(size, 1, 1),
                threads=(threads, 1, 1),
            )[3],
            result,
            either_zero=name in _ZERO_OF_EITHER_SIGN,
        )
        for run in (on_engine, on_reference)
    )
    np.testing.assert_array_equal(found, expected)


def _results(slots: np.ndarray, type_: str, *, either_zero: bool) -> np.ndarray:
    """The bits of each 64-bit slot's value; all NaNs are one."""
    values = slots.view(DTYPES.get(type_, np.uint8)).reshape(len(slots), -1)[:, 0]
    if type_ in FLOATS:
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        if either_zero:
            values = np.where(values == 0, values.dtype.type(0), values)
    return values.view(f"u{values.dtype.itemsize}")


@pytest.mark.parametrize(("type_", "name"), _CASES)
def test_an_operation_on_lanes_agrees(type_: str, name: str) -> None:
    _agree(type_, name, position="thread_position_in_grid", threads=160, size=32)


@pytest.mark.parametrize(("type_", "name"), _CASES)
def test_an_operation_on_a_value_that_all_lanes_share_agrees(type_: str, name: str) -> None:
    _agree(type_, name, position="threadgroup_position_in_grid", threads=160, size=1)
