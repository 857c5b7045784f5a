"""Products of matrices equal NumPy's within rigorous bounds, for any sizes, without findings."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.foundry import (
    FORMATS,
    GELU,
    GELU_SIGMOID,
    RELU,
    SILU,
    FoundryError,
    Kernel,
    added,
    bias,
    format_of,
    residual,
    scaled,
)
from assay.foundry.library import gemm, matmul
from assay.foundry.products import MARLIN, Pipeline, Simdgroups, Threads, Tile, striped
from assay.foundry.types import bfloat, half
from tests.assay.foundry.factors import DTYPES, UNIT, Weighted, assert_product, drawn

SMALL = Pipeline(tile=Tile(32, 32, 16), buffers=1)
BY_THREADS = Pipeline(tile=Tile(32, 32, 16), by=Threads(8, 16), buffers=2)
FUSED = Pipeline(tile=Tile(32, 32, 16), buffers=3, weights="fused")
TYPES = {"float": float, "half": half, "bfloat": bfloat}
KNOWN: dict[Any, Kernel] = {}


def product(element: str, turned: tuple[bool, bool], pipeline: Pipeline) -> Kernel:
    key = (element, turned, pipeline)
    if key not in KNOWN:
        KNOWN[key] = matmul(TYPES[element], turned=turned, pipeline=pipeline)
    return KNOWN[key]


def agrees(
    kernel: Kernel,
    element: str,
    turned: tuple[bool, bool],
    sizes: tuple[int, int, int],
    seed: int = 0,
    *,
    is_checked: bool = False,
) -> None:
    m, n, k = sizes
    a, b = drawn(seed, m, k, of=DTYPES[element]), drawn(seed + 1, k, n, of=DTYPES[element])
    values = {"a": a.T if turned[0] else a, "b": b.T if turned[1] else b}
    assert_product(kernel(**values), a, b)
    if is_checked:
        assert not kernel.check(**values).findings


CASES = [
    ("half", (True, False), SMALL),
    ("float", (False, True), BY_THREADS),
]


@pytest.mark.parametrize(("element", "turned", "pipeline"), CASES)
def test_products_of_ragged_matrices(
    element: str, turned: tuple[bool, bool], pipeline: Pipeline
) -> None:
    kernel = product(element, turned, pipeline)
    for seed, sizes in enumerate([(1, 1, 1), (32, 32, 32), (33, 70, 19), (5, 31, 100)]):
        agrees(kernel, element, turned, sizes, seed)


@pytest.mark.slow
@pytest.mark.parametrize("band", [2, 3, 7])
def test_bands_of_tiles_cover_the_product(band: int) -> None:
    kernel = product("half", (False, False), replace(SMALL, tile=Tile(16, 16, 16), band=band))
    for sizes in [(16, 16, 16), (75, 33, 20), (100, 60, 9)]:
        agrees(kernel, "half", (False, False), sizes, is_checked=True)


@pytest.mark.slow
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("turned", [(a, b) for a in (False, True) for b in (False, True)])
@pytest.mark.parametrize("pipeline", [SMALL, BY_THREADS], ids=["matrices", "threads"])
@settings(max_examples=8, deadline=None)
@given(sizes=st.tuples(*[st.integers(1, 80)] * 3), seed=st.integers(0, 2**32 - 2))
def test_products_of_any_sizes_types_and_transposes(
    element: str,
    turned: tuple[bool, bool],
    pipeline: Pipeline,
    sizes: tuple[int, int, int],
    seed: int,
) -> None:
    agrees(product(element, turned, pipeline), element, turned, sizes, seed, is_checked=True)


def test_batches_are_multiplied_each_with_its_own_or_with_one_for_all() -> None:
    kernel = product("float", (False, True), BY_THREADS)
    a, b = drawn(0, 2, 3, 9, 20), drawn(1, 2, 3, 20, 11)
    turned = b.swapaxes(-1, -2)
    assert_product(kernel(a=a, b=turned), a, b)
    assert_product(kernel(a=a, b=turned[0, 0]), a, b[0, 0])
    assert_product(kernel(a=a[1, 2], b=turned), a[1, 2], b)


def test_a_sum_of_nothing_is_zero() -> None:
    kernel = product("float", (False, True), BY_THREADS)
    made = kernel(a=np.empty((3, 0), np.float32), b=np.empty((5, 0), np.float32))
    assert made.tolist() == [[0] * 5] * 3


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((3, 4), (5, 6), r"a \(3, 4\) has 4 numbers to sum, and b \(5, 6\) has 5"),
        ((4,), (4, 6), r"a \(4,\) and b \(4, 6\) are to be matrices"),
        ((2, 3, 4), (3, 4, 5), r"a has \(2,\) matrices, and b has \(3,\)"),
    ],
)
def test_factors_that_do_not_fit_are_refused(
    a: tuple[int, ...], b: tuple[int, ...], message: str
) -> None:
    with pytest.raises(FoundryError, match=message):
        product("float", (False, False), SMALL)(a=drawn(0, *a), b=drawn(0, *b))


def test_epilogues_scale_add_and_activate() -> None:
    weights = format_of("q4_k")
    epilogue = [scaled(), bias(half), GELU, residual(half), added(half)]
    kernel = gemm(weights, 40, half, epilogue=epilogue, pipeline=SMALL)
    given = Weighted(9, 40, 256, weights)
    values = given.values()
    shift, more, old = (
        drawn(i, *s, of=np.float16) for i, s in [(5, (40,)), (6, (9, 40)), (7, (9, 40))]
    )
    made = kernel(**values, alpha=0.5, bias=shift, residual=more, beta=-2.0, addend=old)
    sums = values["x"].astype(np.float64) @ weights.unpack(given.packed()).astype(np.float64).T
    value = 0.5 * sums + shift
    gelu = 0.5 * value * (1 + np.tanh(0.7978845608 * (value + 0.044715 * value**3)))
    expected = gelu + more - 2.0 * old
    assert np.abs(made - expected).max() <= 2 * UNIT["float16"] * np.abs(expected).max()


EPILOGUES = {
    "none": ([], lambda v: v),
    "relu": ([RELU], lambda v: np.maximum(v, 0)),
    "silu": ([SILU], lambda v: v / (1 + np.exp(-v))),
    "gelu by tanh": ([GELU], lambda v: v / 2 * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))),
    "gelu by a sigmoid": ([GELU_SIGMOID], lambda v: v / (1 + np.exp(-1.702 * v))),
}


@pytest.mark.parametrize(
    "name",
    [n if "sigmoid" in n else pytest.param(n, marks=pytest.mark.slow) for n in EPILOGUES],
)
def test_activations_are_what_their_names_say(name: str) -> None:
    epilogue, function = EPILOGUES[name]
    a, b = drawn(0, 9, 20), drawn(1, 20, 11)
    kernel = matmul(float, pipeline=BY_THREADS, epilogue=epilogue)
    expected = function(a.astype(np.float64) @ b)
    assert np.abs(kernel(a=a, b=b) - expected).max() <= 1e-5


TILES = [
    (Tile(32, 32, 16), Simdgroups(2, 2)),
    (Tile(8, 128, 32), Simdgroups(1, 4)),
    (Tile(64, 16, 16), Simdgroups(4, 1)),
    (Tile(64, 64, 32), Simdgroups(2, 2)),
    (Tile(48, 48, 24), Simdgroups(2, 2)),
    (Tile(48, 48, 32), Simdgroups(2, 2)),
    (Tile(32, 32, 8), Simdgroups(2, 2)),
    (Tile(32, 32, 32), Simdgroups(2, 2)),
]
"""Those of MLX and Foundry, and those of metal-flash-attention."""


@pytest.mark.slow
@pytest.mark.parametrize(("tile", "by"), TILES, ids=str)
def test_tiles_that_others_choose(tile: Tile, by: Simdgroups) -> None:
    kernel = product("half", (False, True), Pipeline(tile=tile, by=by, buffers=1))
    for sizes in [(1, 1, 1), (70, 130, 33), (64, 128, 32)]:
        agrees(kernel, "half", (False, True), sizes, is_checked=True)


@pytest.mark.slow
def test_a_bias_reaches_beyond_column_32767() -> None:
    weights, columns = format_of("f16"), 32800
    kernel = gemm(weights, columns, half, epilogue=[bias(float)], pipeline=SMALL)
    shift = np.arange(columns, dtype=np.float32) / 64
    packed = weights.pack(np.zeros((columns, 8), np.float32))
    x = np.zeros((1, 8), np.float16)
    made = kernel(matrix=packed.matrix, scales=packed.scales, x=x, bias=shift)
    assert np.array_equal(made[0], shift.astype(np.float16))


QUICK = ("q4_0", "mlx_affine_4_64")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in FORMATS],
)
def test_weights_in_every_format(name: str) -> None:
    weights = FORMATS[name]
    columns = 43 if weights.multiple == 1 else 3 * weights.multiple
    given = Weighted(5, 37, columns, weights)
    kernel = gemm(weights, 37, half, pipeline=SMALL)
    given.check(kernel(**given.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_weights_in_every_format_by_threads_and_fused(name: str) -> None:
    weights = FORMATS[name]
    columns = 43 if weights.multiple == 1 else 3 * weights.multiple
    given = Weighted(5, 37, columns, weights)
    for pipeline in (BY_THREADS, FUSED):
        kernel = gemm(weights, 37, half, pipeline=pipeline)
        given.check(kernel(**given.values()))
        assert not kernel.check(**given.values()).findings


def test_slices_of_k_one_of_them_empty_are_summed_in_order() -> None:
    weights = format_of("f16")
    kernel = striped(weights, 40, half, slices=4, groups=3, epilogue=[SILU], pipeline=SMALL)
    # Five tiles of 16: two each for two slices, one for the third, none for the last.
    given = Weighted(35, 40, 75, weights)
    partials = kernel.kernels[0](**given.values())
    assert partials.shape == (4, 35, 40)
    assert not partials[3].any()
    given.check(partials.sum(axis=0))
    sums = ((partials[0] + partials[1]) + partials[2]) + partials[3]
    exact = sums.astype(np.float64)
    expected = exact / (1 + np.exp(-exact))
    made = kernel(**given.values())
    assert np.abs(made - expected).max() <= 2 * UNIT["float16"] * np.abs(expected).max()


def test_the_text_is_one_that_people_can_read() -> None:
    source = gemm(format_of("fp4_128"), 8, half, pipeline=MARLIN["hybrid"]).source
    own = source[source.index("using T = half") :]
    assert max(map(len, own.splitlines())) <= 100
    assert not re.search(r"[ \t]$", own, re.M)
    assert "multiply_decoded<Policy>(a_tiles + (tile % 3) * A_TILE" in own
