"""Launches of PyTorch's kernels agree with themselves."""

from __future__ import annotations

import numpy as np
import pytest

from assay.launches.inputs import Exact
from benchmarks.apple.torch_launches import launches_of
from benchmarks.apple.torch_launches.values import Launch, offsets


def array(launch: Launch, name: str) -> np.ndarray:
    given = launch.setup.arguments[name]
    assert isinstance(given, Exact)
    return given.array


KERNELS = (
    "fmax_bfloat",
    "copysign_bool",
    "complex_mul_half",
    "cross_uchar",
    "i0_long_float",
    "renorm_half",
    "index_select_8bit_idx64",
    "index_put_serial_16bit_idx32",
    "index_put_accumulate_32bit_float_idx32",
    "kernel_index_offsets_64",
    "kernel_index_offset",
    "searchsorted_bfloat_long_sorter",
    "histogramdd_half",
    "im2col_half2",
    "unfold_backward_bfloat",
    "upsample_bicubic2d_backward_half",
    "repeat_interleave_int64_t",
    "tril_indices_long",
    "triu_indices_int",
    "naive_matmul_bfloat",
    "weight_to_int4pack",
    "int4pack_mm_256_half",
    "int8pack_mv_float",
    "large_m_int8pack_mm_float",
    "fused_adamw_amsgrad_float_bfloat",
    "fused_sgd_momentum_half",
)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_of_each_family_is_launched_with_threads_and_arguments(kernel: str) -> None:
    found = launches_of(kernel)
    assert found
    for each in found:
        assert each.setup.threads or each.setup.threadgroups
        assert each.setup.threadgroup
        assert each.setup.arguments


def test_kernels_that_pytorch_has_not_are_given_no_launch() -> None:
    assert launches_of("fmax_complex") == ()


@pytest.mark.parametrize("launch", launches_of("tril_indices_int"))
def test_the_lower_triangle_is_a_trapezoid_and_a_rectangle(launch: Launch) -> None:
    assert launch.setup.threads is not None
    count = launch.setup.threads[0]
    assert array(launch, "tril_size").item() == count
    assert array(launch, "tensor").nbytes == 2 * 4 * count
    rectangle = count - array(launch, "trapezoid_size").item()
    assert rectangle % array(launch, "col").item() == 0
    assert rectangle > 0


def test_tensors_of_an_optimizer_lie_where_their_lists_begin() -> None:
    (launch, _) = launches_of("fused_adam_amsgrad_half_float")
    tensors = launch.addressed["args"]
    assert sorted(tensors) == sorted(8 * (32 * which + at) for which in range(6) for at in (0, 1))
    assert array(launch, "args").nbytes == 8 * 32 * 6
    lengths = array(launch, "metadata_args")[0, :2]
    assert [tensors[0].nbytes, tensors[8].nbytes] == (2 * lengths).tolist()
    assert tensors[8 * 32 * 5].view(np.float32).tolist() == [3]


def test_places_that_threads_write_at_once_are_distinct_or_added_to() -> None:
    for kernel, is_once in (
        ("index_put_32bit_idx32", True),
        ("index_put_serial_8bit_idx32", False),
    ):
        (launch,) = launches_of(kernel)
        pairs = [tensor.view(np.int64) for tensor in launch.addressed["indexAB"].values()]
        sizes = array(launch, "indexSizes")
        named = set(zip(*(one % size for one, size in zip(pairs, sizes, strict=True)), strict=True))
        assert (len(named) == len(pairs[0])) is is_once


def test_offsets_are_sums_of_strides_with_the_last_axis_first() -> None:
    assert offsets((2, 3), (10, 1), (0, 4)).tolist() == [
        [0, 0],
        [1, 4],
        [2, 8],
        [10, 0],
        [11, 4],
        [12, 8],
    ]
