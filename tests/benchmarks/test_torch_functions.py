"""PyTorch's kernels of one element at a time: which there are, their source, and their launches."""

from __future__ import annotations

import pytest

from benchmarks.apple.torch_functions import FUNCTIONS, kernels, launch, source

ERF = ("erf_dense_float_float", "erf_strided_half_half", "erf_dense_half_half")
ADD = (
    "add_dense_int_int",
    "add_dense_broadcast_int_int",
    "add_dense_ilp4_int_int",
    "add_dense_cast",
)
THERE = (*ERF, *ADD, "erfc_dense_float_float", "other")


def test_a_function_has_the_kernels_of_its_name_that_are_there() -> None:
    assert sorted(kernels("erf", THERE)) == sorted(ERF)
    assert sorted(kernels("add", THERE)) == sorted(ADD[:-1])


def test_its_source_has_each_pair_of_types_once() -> None:
    lines = source("erf", THERE).splitlines()
    assert [line for line in lines if line.startswith("REGISTER")] == [
        "REGISTER_UNARY_OP(erf, float, float);",
        "REGISTER_UNARY_OP(erf, half, half);",
    ]
    assert "REGISTER_BINARY_OP(add, int, int);" in source("add", THERE)


@pytest.mark.parametrize("kernel", [*ERF, *ADD[:-1], "add_inner_contiguous_int_int"])
def test_each_form_is_launched_over_all_of_its_elements(kernel: str) -> None:
    setup = launch(kernel)
    assert setup.threads is not None
    count = setup.threads[0] * setup.threads[1]
    assert count >= 63 or 4 * count >= 63


def test_functions_are_named_once() -> None:
    assert len(set(FUNCTIONS)) == len(FUNCTIONS) > 80
