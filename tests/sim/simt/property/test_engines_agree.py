"""The lane-vector engine and the reference engine give the same bits for random kernels."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.kernels import Kernel, Size, assemble, compile_cpp, on_engine, on_reference

from . import address_kernels as addresses
from .graph_kernels import OUTPUTS, graph_kernels
from .structured_kernels import (
    COUNTERS,
    FLOAT_OUTPUTS,
    INPUTS,
    INTEGER_OUTPUTS,
    PARAMETERS,
    THREADS,
    structured_kernels,
)

_PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
_quick = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=_PHASES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_structured = settings(_quick, max_examples=5)
_addresses = settings(_quick, max_examples=4)
_long = settings(_quick, max_examples=300)
# `python -m tests.campaigns graphs` draws 10,000.
_graphs = settings(_quick, max_examples=int(os.environ.get("ASSAY_GRAPH_CASES", "300")))


def _agree(
    kernel: Kernel,
    arguments: Sequence[np.ndarray | int],
    *,
    threadgroup_size: Size,
    threads: Size,
) -> None:
    """Run on both and compare all buffers wholly."""
    expected = on_reference(kernel, arguments, threadgroup_size=threadgroup_size, threads=threads)
    for how in ({"workers": 1}, {"workers": 2}, {"quick": True}):
        found = on_engine(
            kernel, arguments, threadgroup_size=threadgroup_size, threads=threads, **how
        )
        for parameter, left, right in zip(kernel.parameters, expected, found, strict=False):
            np.testing.assert_array_equal(
                _bits(right), _bits(left), err_msg=f"buffer '{parameter.name}', {how}"
            )


def _bits(array: np.ndarray) -> np.ndarray:
    """An array's bits, every NaN as the same one: which NaN comes out is nobody's promise."""
    if array.dtype != np.float32:
        return array
    return np.where(np.isnan(array), np.float32(np.nan), array).view(np.uint32)


def _graphs_agree(text: str, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 2**32, 70, np.uint32)
    numbers[::3] &= 7
    _agree(
        assemble(text, "in out"),
        [numbers, np.zeros((70, OUTPUTS), np.uint32)],
        threadgroup_size=(40, 1, 1),
        threads=(70, 1, 1),
    )


@_quick
@given(text=graph_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_any_control_flow_graph(text: str, seed: int) -> None:
    _graphs_agree(text, seed)


@pytest.mark.slow
@_graphs
@given(text=graph_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_many_control_flow_graphs(text: str, seed: int) -> None:
    _graphs_agree(text, seed)


def _structured_agree(source: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    integers = random.integers(0, 2**32, INPUTS, np.uint32)
    integers[::2] %= 9
    threads = 2 * THREADS
    _agree(
        compile_cpp(source, PARAMETERS),
        [
            integers,
            random.standard_normal(INPUTS).astype(np.float32) * 8,
            random.integers(0, 256, INPUTS, np.uint8),
            np.zeros((threads, INTEGER_OUTPUTS), np.uint64),
            np.zeros((threads, FLOAT_OUTPUTS), np.float32),
            np.zeros(COUNTERS, np.uint32),
            4 * THREADS,
        ],
        threadgroup_size=(THREADS, 1, 1),
        threads=(threads, 1, 1),
    )


@_structured
@given(source=structured_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_structured_kernels(source: str, seed: int) -> None:
    _structured_agree(source, seed)


@pytest.mark.slow
@_long
@given(source=structured_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_many_structured_kernels(source: str, seed: int) -> None:
    _structured_agree(source, seed)


def _addresses_agree(kernel: tuple[str, Size], seed: int) -> None:
    source, size = kernel
    random = np.random.default_rng(seed)
    threads = (2 * size[0], 2 * size[1] - size[1] // 2, 1)  # the last row is cut off
    count = threads[0] * threads[1]
    floats = random.standard_normal(addresses.BYTES // 4).astype(np.float32) * 1000
    _agree(
        compile_cpp(source, addresses.PARAMETERS),
        [
            floats.view(np.uint8),
            np.zeros(count * addresses.OUTPUTS, np.uint32),
            random.integers(0, 4, 8, np.uint32),
        ],
        threadgroup_size=size,
        threads=threads,
    )


@_addresses
@given(kernel=addresses.address_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_addresses(kernel: tuple[str, Size], seed: int) -> None:
    _addresses_agree(kernel, seed)


@pytest.mark.slow
@_long
@given(kernel=addresses.address_kernels(), seed=st.integers(0, 9))
def test_engines_agree_on_many_addresses(kernel: tuple[str, Size], seed: int) -> None:
    _addresses_agree(kernel, seed)
