"""Launches of PyTorch's tensor operations, and what NumPy computes for them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay.launches.inputs import Exact
from benchmarks.apple.page import PAGE, with_tensors
from benchmarks.apple.tensor_launches import convolutions, rows, run_of, triangular
from benchmarks.apple.tensors import KINDS, STORED, Found, counts, drawn, kind_of

NAMES = (
    "conv3d_mpp_half_b32_w8_h8_s2_k333_s122_d111_c3_bias_ncdhw_ungrouped",
    "conv1d_mpp_ncl_nlc_b16_s2_float",
    "grouped_mm_rows_mpp_nt_float_bm16_bn64",
    "grouped_mm_rows_float_bm16_u32",
    "prefill_attention_mpp_a10_float16_bq64_bk32_bd64_wm4_wn1_hm1_dc1_maskbool_",
    "prefill_attention_mpp_a9_float16_bq64_bk32_bd64_wm4_wn1_hm0_dc0_maskfloat16",
    "scaled_mm_mpp_float8_e4m3fn",
    "int_mm_mpp_64_64_4",
    "triangular_solve_small_mpp_general_16",
    "applySYRKTrailingU_64_64_4",
    "gemmLU_64_64_4",
)


def array(kernel: str, name: str) -> np.ndarray:
    run = run_of(kernel)
    assert run is not None
    given = run.setup.arguments[name]
    assert isinstance(given, Exact)
    return given.array


@pytest.mark.parametrize(
    ("at", "name", "size"),
    [(0, "gP", 100), (1, "p", 72), (2, "params", 72), (6, "p", 72), (8, "p", 20)],
)
def test_structs_are_as_long_as_the_library_says(at: int, name: str, size: int) -> None:
    assert array(NAMES[at], name).nbytes == size


def test_structs_of_attention_are_as_long_as_the_library_says() -> None:
    assert array(NAMES[4], "params").nbytes == 128
    assert array(NAMES[4], "mask_params").nbytes == 32


@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_is_what_pytorch_computes(groups: int) -> None:
    torch = pytest.importorskip("torch")
    volume = convolutions.Volume(
        kernel=(3, 1, 2),
        stride=(1, 2, 2),
        dilation=(1, 1, 2),
        given=(4, 7, 9),
        padding=(1, 0, 1),
        groups=groups,
        channels=3,
        results=4,
    )
    draw = np.random.default_rng(1)
    act = draw.standard_normal((*volume.given, groups * 3))
    weights = draw.standard_normal((*volume.kernel, 3, groups * 4))
    expected = torch.nn.functional.conv3d(
        torch.from_numpy(act.transpose(3, 0, 1, 2).copy())[None],
        torch.from_numpy(weights.transpose(4, 3, 0, 1, 2).copy()),
        stride=volume.stride,
        padding=volume.padding,
        dilation=volume.dilation,
        groups=groups,
    )[0]
    np.testing.assert_allclose(convolutions.convolved(volume, act, weights), expected.numpy())


@pytest.mark.parametrize(
    "row",
    [
        rows.Row(groups=2, results=4, dilation=2, padding=5),
        rows.Row(groups=1, results=3, stride=2),
        rows.Row(groups=2, results=3, stride=2, dilation=2),
    ],
)
def test_a_convolution_of_rows_is_what_pytorch_computes(row: rows.Row) -> None:
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(1)
    act = draw.standard_normal((2, row.groups * 5, row.given))
    weights = draw.standard_normal((row.taps, row.groups * row.results, 5))
    expected = torch.nn.functional.conv1d(
        torch.from_numpy(act),
        torch.from_numpy(weights.transpose(1, 2, 0).copy()),
        stride=row.stride,
        padding=row.padding,
        dilation=row.dilation,
        groups=row.groups,
    )
    assert expected.shape[-1] == row.left
    np.testing.assert_allclose(rows.convolved(row, act, weights), expected.numpy())


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("has_ones", [False, True])
def test_a_triangle_is_what_pytorch_solves(upper: bool, transposed: bool, has_ones: bool) -> None:
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(1)
    matrices, given = (
        draw.standard_normal((2, 4, 4)) + 3 * np.eye(4),
        draw.standard_normal((2, 4, 3)),
    )
    system = triangular.System(upper=upper, transposed=transposed, has_ones=has_ones)
    as_solved = torch.from_numpy(matrices).mT if transposed else torch.from_numpy(matrices)
    expected = torch.linalg.solve_triangular(
        as_solved, torch.from_numpy(given), upper=upper != transposed, unitriangular=has_ones
    )
    found = np.linalg.solve(triangular.triangle(system, matrices), given)
    np.testing.assert_allclose(found, expected.numpy())


@pytest.mark.parametrize("mode", ["rows", "cols", "k"])
@pytest.mark.parametrize("layout", ["nn", "tt"])
def test_groups_are_products_of_what_lies_at_the_strides(mode: str, layout: str) -> None:
    kernel = f"grouped_mm_{mode}_mpp_{layout}_float_bm16_bn64"
    run = run_of(kernel)
    assert run is not None
    m, n, k, groups = array(kernel, "params")[0].tolist()[:4]
    strides = array(kernel, "params")[0].tolist()[4:]
    ends = array(kernel, "offsets").tolist()
    a, b = (array(kernel, name).reshape(-1).astype(np.float64) for name in ("mat_a", "mat_b"))
    group, row, column = 2, m - 1, n - 1  # the last element is of the last group
    base_a = strides[6] * group if mode == "cols" else 0
    base_b = strides[6] * group if mode == "rows" else 0
    terms = range(ends[1], ends[2]) if mode == "k" else range(k)
    expected = sum(
        a[base_a + row * strides[0] + each * strides[1]]
        * b[base_b + each * strides[2] + column * strides[3]]
        for each in terms
    )
    assert groups == 3
    assert run.expected.reshape(-1)[-1] == pytest.approx(expected)


def test_kinds_are_told_by_names_and_drawn_with_a_seed() -> None:
    kinds = [kind_of(name) for name in NAMES]
    assert len(set(kinds)) == len(KINDS) + 1  # and one that is none
    assert drawn(NAMES, 5) == [NAMES[at] for at in (0, 1, 2, 4, 5, 6, 7, 8, 9, 10)]


def test_what_was_not_run_is_not_near_and_integers_must_be_equal() -> None:
    assert not Found(kernel="k", kind="k", problem="why").is_close
    assert Found(kernel="k", kind="k", type="int").is_close
    assert not Found(kernel="k", kind="k", type="int", off=1e-9).is_close
    assert Found(kernel="k", kind="k", type="half", off=5e-4).is_close
    rows = [Found(kernel=NAMES[7], kind=kind_of(NAMES[7]), type="int")]
    (row,) = [each for each in counts(NAMES, rows) if each["run"]]
    assert (row["there"], row["close"], row["off"]) == (1, 1, {"int": 0.0})


def test_the_page_has_what_was_run() -> None:
    rows = json.loads(STORED.read_text())
    assert sum(row["there"] for row in rows) == 892
    assert all(row["close"] == row["run"] for row in rows)
    page = PAGE.read_text()
    assert with_tensors(page, rows) == page
