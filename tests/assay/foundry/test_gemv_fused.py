"""Fused products: several matrices, a norm in front, activations behind, few vectors at a time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.foundry import SILU, FoundryError, Kernel, WordColumns, bias, format_of, residual
from assay.foundry.library import (
    GEGLU,
    SWIGLU,
    fused_gemv,
    gate_up,
    gemv_columns,
    qkv,
    small_batch_gemv,
)
from assay.foundry.types import half
from assay.hw.apple.facts.chips import chips

few = settings(max_examples=4, deadline=None)
# Parts of the largest value: float sums, then one rounding to the type.
BOUNDS = {"float32": 3e-6, "float16": 2**-10}
MADE: dict[Any, Kernel] = {}


class Given:
    """Random matrices with biases, vectors, gamma, and the products in double precision."""

    def __init__(
        self, names: list[str], formats: list[str], rows: list[int], x: tuple[int, ...], of: Any
    ) -> None:
        random = np.random.default_rng(7)
        self.x = random.normal(size=x).astype(of)
        self.gamma = random.normal(size=x[-1]).astype(of)
        self.values: dict[str, Any] = {}
        self.matrices, self.biases = [], []
        for name, each, count in zip(names, formats, rows, strict=True):
            packed = format_of(each).pack(random.normal(size=(count, x[-1])).astype(np.float32))
            self.matrices.append(format_of(each).unpack(packed).astype(np.float64))
            self.biases.append(random.normal(size=count).astype(of))
            self.values |= {f"matrix{name}": packed.matrix, f"scales{name}": packed.scales}

    def products(self, *, is_normal: bool, with_biases: bool) -> list[np.ndarray]:
        wide = self.x.astype(np.float64)
        if is_normal:
            wide = wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-5) * self.gamma
        zipped = zip(self.matrices, self.biases, strict=True)
        return [wide @ m.T + (b if with_biases else 0) for m, b in zipped]


def agrees(kernel: Kernel, expected: list[np.ndarray], **values: Any) -> None:
    made = kernel(**values)
    for one, other in zip(made if isinstance(made, tuple) else (made,), expected, strict=True):
        assert one.shape == other.shape
        assert np.abs(one - other).max() <= BOUNDS[one.dtype.name] * np.abs(other).max()
    assert not kernel.check(**values).findings


def check_qkv(
    formats: list[str], rows: list[int], x: tuple[int, ...], of: Any, vectors: int
) -> None:
    names = ["_q", "_k", "_v"]
    g = Given(names, formats, rows, x, of)
    element = half if of is np.float16 else float
    kernel = qkv([format_of(each) for each in formats], rows, element, biases=True, vectors=vectors)
    shifts = {f"bias{name}": each for name, each in zip(names, g.biases, strict=True)}
    expected = g.products(is_normal=True, with_biases=True)
    agrees(kernel, expected, x=g.x, gamma=g.gamma, **g.values, **shifts)


@pytest.mark.slow
def test_queries_keys_and_values_of_mixed_formats() -> None:
    check_qkv(["q8_0", "q4_0", "q8_0"], [13, 4, 21], (3, 96), np.float32, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formats", "rows", "x", "of", "vectors"),
    [
        (["f16"] * 3, [12, 12, 12], (37,), np.float16, 1),
        (["q4_0"] * 3, [8, 4, 4], (8, 96), np.float32, 4),
        (["q4_0"] * 3, [8, 4, 4], (8, 96), np.float32, 8),
        (["q4_k", "q6_k", "q5_k"], [5, 9, 9], (1, 768), np.float32, 1),
        (["mlx_affine_4_64"] * 3, [16, 8, 8], (2, 2, 320), np.float16, 4),
        (["bf16", "mxfp4", "nvfp4"], [1, 3, 40], (5, 64), np.float32, 4),
        (["fp4_128", "q4_0_split", "f32"], [16, 8, 8], (8, 384), np.float32, 8),
    ],
)
def test_queries_keys_and_values_of_other_formats(
    formats: list[str], rows: list[int], x: tuple[int, ...], of: Any, vectors: int
) -> None:
    check_qkv(formats, rows, x, of, vectors)


def test_gate_and_up_become_one_result() -> None:
    g = Given(["_gate", "_up"], ["q4_0", "q4_0"], [11, 11], (96,), np.float32)
    gate, up = g.products(is_normal=True, with_biases=False)
    kernel = gate_up(format_of("q4_0"), 11)
    agrees(kernel, [gate / (1 + np.exp(-gate)) * up], x=g.x, gamma=g.gamma, **g.values)


@pytest.mark.slow
def test_the_other_gate_is_that_of_geglu() -> None:
    g = Given(["_gate", "_up"], ["q4_0", "q4_0"], [11, 11], (96,), np.float32)
    gate, up = g.products(is_normal=False, with_biases=False)
    gelu = 0.5 * gate * (1 + np.tanh(0.7978845608 * (gate + 0.044715 * gate**3)))
    weights = [format_of("q4_0")] * 2
    kernel = fused_gemv(
        weights, [11, 11], names=("gate", "up"), combine=GEGLU, epilogue=[residual(float)]
    )
    rest = np.arange(11, dtype=np.float32)
    agrees(kernel, [gelu * up + rest], x=g.x, residual=rest, **g.values)


@few
@given(st.integers(1, 20), st.integers(1, 9), st.integers(1, 300))
def test_weights_of_any_shape_are_read_once_for_four_vectors(
    rows: int, count: int, columns: int
) -> None:
    g = Given([""], ["f32"], [rows], (count, columns), np.float32)
    key = "small batch"
    if key not in MADE:
        MADE[key] = small_batch_gemv(format_of("f32"), 1, epilogue=[residual(float)])
    kernel = small_batch_gemv(format_of("f32"), rows, epilogue=[residual(float)])
    assert kernel.source == MADE[key].source  # sizes are no part of the text: it is compiled once
    rest = np.random.default_rng(1).normal(size=(count, rows)).astype(np.float32)
    (sums,) = g.products(is_normal=False, with_biases=False)
    agrees(kernel, [sums + rest], x=g.x, residual=rest, **g.values)


@pytest.mark.slow
@pytest.mark.parametrize("vectors", range(2, 9))
def test_every_small_batch(vectors: int) -> None:
    g = Given([""], ["q4_0"], [19], (vectors, 288), np.float16)
    kernel = small_batch_gemv(
        format_of("q4_0"), 19, half, vectors=vectors, epilogue=[bias(half), SILU]
    )
    (sums,) = g.products(is_normal=False, with_biases=True)
    agrees(kernel, [sums / (1 + np.exp(-sums))], x=g.x, bias=g.biases[0], **g.values)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": [8]}, r"2 names, 2 weights, 1 rows, 2 biases; the lists have an entry for each"),
        ({"names": ("a", "a")}, "of different names"),
        ({"rows": [8, 9], "combine": SWIGLU}, "swiglu combines matrices of one number of rows"),
        ({"epilogue": [SILU]}, "an epilogue is for one result"),
        ({"vectors": 9}, "9 vectors; 1 to 8"),
    ],
)
def test_what_does_not_fit_is_refused_when_declared(changed: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"rows": [8, 8], "names": ("gate", "up"), **changed}
    with pytest.raises(FoundryError, match=message):
        fused_gemv([format_of("q8_0")] * 2, **options)


@few
@given(st.integers(1, 40), st.integers(1, 2), st.integers(1, 5), st.sampled_from([1, 4]))
def test_fp4_words_are_read_by_columns(
    pairs: int, count: int, groups: int, groups_together: int
) -> None:
    weights = WordColumns("fp4", 32)
    rows, columns = 2 * pairs, 32 * groups
    random = np.random.default_rng(rows)
    packed = weights.pack(random.normal(size=(rows, columns)).astype(np.float32))
    x = random.normal(size=(count, columns)).astype(np.float32)
    shift = random.normal(size=rows).astype(np.float32)
    options: Any = {"groups_together": groups_together, "simdgroups": 2}
    kernel = gemv_columns(weights, rows, epilogue=[bias(float)], **options)
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x, "bias": shift}
    agrees(kernel, [x @ weights.unpack(packed).astype(np.float64).T + shift], **values)


def test_what_columns_do_not_hold_is_refused() -> None:
    with pytest.raises(FoundryError, match="gemv_columns reads fp4"):
        gemv_columns(WordColumns("nf4"), 8)
    with pytest.raises(FoundryError, match="7 rows, 2 per lane"):
        gemv_columns(WordColumns("fp4"), 7)
    with pytest.raises(FoundryError, match="3 groups together: 1, 2, 4 or 8"):
        gemv_columns(WordColumns("fp4"), 8, groups_together=3)


@pytest.mark.parametrize("groups_together", [2, 8])
def test_groups_that_are_read_together_make_more_threadgroups(groups_together: int) -> None:
    options: Any = {"rows_per_lane": 4, "simdgroups": 1, "groups_together": groups_together}
    kernel = gemv_columns(WordColumns("fp4", 8), 260, **options)
    x, weights = np.ones(72, np.float32), WordColumns("fp4", 8)
    packed = weights.pack(np.random.default_rng(0).normal(size=(260, 72)).astype(np.float32))
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x}
    assert kernel.grid_of(values).threadgroups[0] == -(-260 * groups_together // 128)
    agrees(kernel, [weights.unpack(packed).astype(np.float64) @ x], **values)
    # A row's sum does not depend on what else there is.
    alone = weights.pack(weights.unpack(packed)[:4])
    few_rows = gemv_columns(weights, 4, **options)
    first = few_rows(matrix=alone.matrix, scales=alone.scales, x=x)
    assert first.tobytes() == kernel(**values)[:4].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("chip", [each for each in chips() if each.startswith("m")])
def test_fp4_is_predicted_to_reach_most_of_the_roofline(chip: str) -> None:
    rows, columns, weights = 14336, 4096, WordColumns("fp4")
    values = {
        "matrix": np.zeros(rows * columns // 2, np.uint8),
        "scales": np.ones(rows * columns // 128, np.float16).view(np.uint8),
        "x": np.ones(columns, np.float16),
    }
    kernel = gemv_columns(weights, rows, half, simdgroups=16)
    (found,) = kernel.time(chip=chip, warm=False, **values).dispatches
    assert found.time.roofline.seconds / (found.end - found.begin) >= 0.8
