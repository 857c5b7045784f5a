"""Launches of MLX's kernels agree with themselves."""

from __future__ import annotations

import numpy as np
import pytest

from assay.launches.inputs import Exact, Setup
from benchmarks.apple.launches import launch_of
from benchmarks.apple.launches.convolutions import Image
from benchmarks.apple.launches.values import struct

FUSED = "steel_gemm_fused_nt_float16_float32_bm32_bn64_bk16_wm2_wn1"


def array(setup: Setup, name: str) -> np.ndarray:
    given = setup.arguments[name]
    assert isinstance(given, Exact)
    return given.array


def test_a_struct_lies_as_c_has_it() -> None:
    made = struct(("i", 1), ("l", (2, 3)), ("?", True), ("f", 0.5)).array
    assert made.nbytes == 32
    words = np.frombuffer(made.tobytes(), np.int32)
    assert words[[0, 2, 4]].tolist() == [1, 2, 3]
    assert made.view(np.uint8)[24] == 1
    assert np.frombuffer(made.tobytes(), np.float32)[7] == 0.5


def test_a_product_has_cut_tiles_in_both_directions() -> None:
    setup = launch_of(FUSED)
    m, n, k, lda, ldb, ldd, across, down = np.frombuffer(
        array(setup, "params").tobytes(), np.int32
    )[:8]
    assert (m, n, k) == (37, 69, 37)
    assert (lda, ldb, ldd) == (k, k, n)
    assert setup.threadgroups == (across, down, 2) == (2, 2, 2)
    assert setup.threadgroup == (32, 1, 2)
    assert array(setup, "A").shape == (2, m * k)
    assert array(setup, "A").dtype == np.float16
    assert array(setup, "D").dtype == np.float32


def test_tiles_fit_where_a_name_says_that_they_do() -> None:
    name = "steel_gemm_splitk_nn_float16_float32_bm16_bn32_bk16_wm2_wn2_MN_taligned_K_naligned"
    m, n, k = np.frombuffer(array(launch_of(name), "params").tobytes(), np.int32)[:3]
    assert (m % 16, n % 32, k % 16) == (0, 0, 5)


def test_partitions_of_a_product_of_tensors_are_launched_in_a_row() -> None:
    tiled = "nn_float16_float32_bm64_bn64_bk256_wm2_wn2"
    assert launch_of(f"steel_gemm_splitk_{tiled}_MN_naligned_K_naligned").threadgroups == (2, 2, 2)
    assert launch_of(f"steel_gemm_splitk_nax_{tiled}").threadgroups == (8, 1, 1)


@pytest.mark.parametrize("axes", [2, 3])
def test_the_jumps_of_a_convolution_lead_over_its_filter(axes: int) -> None:
    setup = launch_of(f"implicit_gemm_conv_{axes}d_float32_bm32_bn8_bk16_wm4_wn1_filter_s")
    jumps = np.frombuffer(array(setup, "gemm_params").tobytes(), np.int32)[4 : 5 + axes]
    channels = 32
    row = 9 * channels
    places = [channels, row - 2 * channels, 6 * row - 2 * row - 2 * channels][:axes]
    assert jumps[:axes].tolist() == places
    last = sum(2 * step for step in [channels, row, 6 * row][:axes])
    assert jumps[axes] == 16 - last


def test_pixels_of_a_result_are_those_that_the_filter_fits_in() -> None:
    image = Image(batch=1, channels=1, outputs=1, image=(6, 9), filter=(3, 5), pad=1)
    assert image.result == (6, 7)


def test_kernels_that_run_by_assumptions_are_given_nothing() -> None:
    assert launch_of("v_Expfloat32float32") == Setup()
