"""Every kernel of the library equals NumPy for sizes, formats and forms that hypothesis makes."""

from collections.abc import Callable
from math import lcm
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, is_hypothesis_test, settings
from hypothesis import strategies as st

from assay.foundry import FORMATS, Format, Kernel, WordColumns, bias, format_of, residual
from assay.foundry.library import (
    attention,
    attention_merge,
    cache_shape,
    cache_write,
    dequantise,
    embedding,
    fused_gemv,
    gate_up,
    gemm,
    gemv,
    marlin,
    penalise,
    penalised,
    prefill,
    qkv,
    rope_tables,
)
from assay.foundry.products import MARLIN, Pipeline, Simdgroups, Tile, striped
from assay.foundry.types import bfloat, half
from tests.assay.foundry import test_gemv_fused, test_library, test_sampling
from tests.assay.foundry import test_products as products
from tests.assay.foundry.factors import UNIT, Weighted, drawn
from tests.assay.foundry.test_attention import attended, cached

Draw = Callable[[Any], Any]
TYPES = [(float, np.float32), (half, np.float16), (bfloat, ml_dtypes.bfloat16)]
types, seeds = st.sampled_from(TYPES), st.integers(0, 2**32 - 3)
formats = st.sampled_from(list(FORMATS.values()))
CACHES = ["f32", "f16", "bf16", "q8_0", "q4_0", "fp8_e4m3", "mxfp4", "nvfp4"]
several = settings(max_examples=6, deadline=None)
few = settings(max_examples=3, deadline=None)


def columns_of(draw: Draw, *weights: Format, most: int = 300) -> int:
    """A number of columns that all formats have."""
    step = lcm(*(each.multiple for each in weights))
    return step * draw(st.integers(1, max(most // step, 2)))


def agrees(kernel: Kernel, expected: np.ndarray, terms: np.ndarray, **values: Any) -> None:
    """Up to one rounding of the result, and float sums of some thousand terms in any order."""
    made = kernel(**values)
    assert made.shape == expected.shape
    bound = UNIT[made.dtype.name] * np.abs(expected) + 4e-6 * terms + 1e-7
    assert (np.abs(made.astype(np.float64) - expected) <= bound).all()
    assert not kernel.check(**values).findings


@pytest.mark.slow
@several
@given(st.data(), formats, types, seeds)
def test_gemv(data: Any, weights: Format, of: Any, seed: int) -> None:
    rows, batch = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))
    packed = weights.pack(drawn(seed, rows, columns_of(data.draw, weights)))
    x = drawn(seed + 1, batch, packed.columns, of=of[1])
    shift, rest = drawn(seed + 2, rows, of=of[1]), drawn(seed + 3, batch, rows, of=of[1])
    numbers, wide = weights.unpack(packed).astype(np.float64), x.astype(np.float64)
    expected = wide @ numbers.T + shift.astype(np.float64) + rest.astype(np.float64)
    terms = np.abs(wide) @ np.abs(numbers).T + np.abs(expected)
    kernel = gemv(weights, rows, of[0], epilogue=[bias(of[0]), residual(of[0])])
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": x}
    agrees(kernel, expected, terms, **values, bias=shift, residual=rest)


@pytest.mark.slow
@several
@given(st.data(), formats, types, seeds)
def test_dequantise_and_embedding(data: Any, weights: Format, of: Any, seed: int) -> None:
    rows = data.draw(st.integers(1, 20))
    packed = weights.pack(drawn(seed, rows, columns_of(data.draw, weights, most=600)))
    numbers = weights.unpack(packed).astype(of[1])
    values = {"matrix": packed.matrix, "scales": packed.scales}
    kernel = dequantise(weights, rows, packed.columns, of[0])
    assert np.array_equal(kernel(**values), numbers)
    assert not kernel.check(**values).findings
    tokens = np.array(data.draw(st.lists(st.integers(0, rows), min_size=1, max_size=5)), np.uint32)
    kernel = embedding(weights, rows, packed.columns, of[0])
    table = np.concatenate([numbers, np.zeros_like(numbers[:1])])
    assert np.array_equal(kernel(**values, tokens=tokens), table[tokens])
    assert not kernel.check(**values, tokens=tokens).findings


def pipeline_of(draw: Draw, weights: Format) -> Pipeline:
    """Any small one that computes products with these weights."""
    rows, columns = draw(st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2)]))
    buffers = draw(st.integers(1, 3))
    loaders = draw(st.integers(0, 1)) if buffers > 1 else 0
    is_async = buffers > 1 and not loaders and draw(st.booleans())
    ways = ["tile", "fused", *["packed"] * (is_async and isinstance(weights, WordColumns))]
    return Pipeline(
        tile=Tile(8 * rows * draw(st.integers(1, 3)), 8 * columns * draw(st.integers(1, 3)), 16),
        by=Simdgroups(rows, columns),
        buffers=buffers,
        loaders=loaders,
        is_async=is_async,
        weights=draw(st.sampled_from(ways)),
    )


@pytest.mark.slow
@several
@given(st.data(), formats, seeds)
def test_gemm(data: Any, weights: Format, seed: int) -> None:
    m, n = data.draw(st.integers(1, 50)), data.draw(st.integers(1, 50))
    x = Weighted(m, n, columns_of(data.draw, weights, most=100), weights, seed=seed)
    kernel = gemm(weights, n, half, pipeline=pipeline_of(data.draw, weights))
    x.check(kernel(**x.values()))
    assert not kernel.check(**x.values()).findings


@pytest.mark.slow
@pytest.mark.parametrize("form", MARLIN)
@few
@given(
    st.sampled_from([WordColumns(kind, 8) for kind in ("fp4", "nf4", "u4")]),
    st.tuples(st.integers(1, 80), st.integers(1, 80), st.integers(1, 18)),
    seeds,
)
def test_forms_of_marlin(
    form: str, weights: WordColumns, sizes: tuple[int, int, int], seed: int
) -> None:
    m, n, words = sizes
    x = Weighted(m, n, 8 * words, weights, seed=seed)
    kernel = marlin(weights, n, form=form)
    x.check(kernel(**x.values()))
    assert not kernel.check(**x.values()).findings


@pytest.mark.slow
@several
@given(st.data(), st.sampled_from([WordColumns("fp4", 8), format_of("f16")]), seeds)
def test_slices_of_k(data: Any, weights: Format, seed: int) -> None:
    m, n = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    x = Weighted(m, n, columns_of(data.draw, weights, most=200), weights, seed=seed)
    slices, groups = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 7))
    pipeline = pipeline_of(data.draw, weights)
    kernel = striped(weights, n, half, slices=slices, groups=groups, pipeline=pipeline)
    x.check(kernel(**x.values()))
    assert not [each for report in kernel.check(**x.values()) for each in report.findings]


@pytest.mark.slow
@several
@given(st.data(), types, seeds)
def test_fused_products(data: Any, of: Any, seed: int) -> None:
    draw = data.draw
    kind = draw(st.sampled_from(["qkv", "gate_up", "one"]))
    names = {"qkv": ["_q", "_k", "_v"], "gate_up": ["_gate", "_up"], "one": [""]}[kind]
    weights = [draw(formats) for _ in names]
    rows = [draw(st.integers(1, 24)) for _ in names]
    rows = rows[:1] * len(names) if kind == "gate_up" else rows
    vectors, batch = draw(st.integers(1, 8)), draw(st.integers(1, 9))
    columns = columns_of(draw, *weights)
    x, gamma = drawn(seed, batch, columns, of=of[1]), drawn(seed + 1, columns, of=of[1])
    wide = x.astype(np.float64)
    wide = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5) * gamma.astype(np.float64)
    values, sums, terms = {"x": x, "gamma": gamma}, [], []
    for number, (name, each, count) in enumerate(zip(names, weights, rows, strict=True)):
        packed = each.pack(drawn(seed + number, count, columns))
        numbers, shift = each.unpack(packed).astype(np.float64), drawn(number, count, of=of[1])
        values |= {f"matrix{name}": packed.matrix, f"scales{name}": packed.scales}
        values[f"bias{name}"] = shift
        sums.append(wide @ numbers.T + shift.astype(np.float64))
        # Codes are summed without their offsets, which are several steps.
        least = np.abs(wide).sum(axis=1, keepdims=True) * np.abs(numbers).max()
        terms.append(np.abs(wide) @ np.abs(numbers).T + 2 * least)
    options: Any = {"biases": True, "vectors": vectors}
    if kind == "qkv":
        kernel = qkv(weights, rows, of[0], **options)
    elif kind == "gate_up":
        kernel = gate_up(weights, rows[0], of[0], **options)
        gate, up = sums
        sums = [gate / (1 + np.exp(-gate)) * up]
        terms = [terms[0] * np.abs(up) * 2 + terms[1] * np.abs(gate)]
    else:
        options["biases"] = [True]
        kernel = fused_gemv(weights, rows, of[0], norm=1e-5, **options)
    made = kernel(**values)
    for one, expected, each in zip(made if kind == "qkv" else [made], sums, terms, strict=True):
        bound = UNIT[one.dtype.name] * np.abs(expected) + 4e-6 * each + 1e-6
        assert (np.abs(one.astype(np.float64) - expected) <= bound).all()
    assert not kernel.check(**values).findings


@pytest.mark.slow
@several
@given(st.data(), st.sampled_from(CACHES), st.booleans(), st.booleans(), seeds)
def test_cache_write(data: Any, name: str, is_paged: bool, is_neox: bool, seed: int) -> None:
    draw, weights, random = data.draw, format_of(name), np.random.default_rng(seed)
    size = weights.multiple * draw(st.integers(1, 2)) if weights.multiple > 1 else 40
    tokens, kv_heads, group = (draw(st.integers(1, 4)) for _ in range(3))
    pairs = draw(st.integers(1, size // 2))
    q = random.normal(size=(tokens, kv_heads * group, size)).astype(np.float32)
    k, v = random.normal(size=(2, tokens, kv_heads, size)).astype(np.float32)
    places = random.permutation(2 * 12)[:tokens]
    sequences, positions = (places // 12).astype(np.uint32), (places % 12).astype(np.int32)
    cosines, sines = rope_tables(12, size, pairs=pairs)
    shape = cache_shape(weights, 6 if is_paged else 2, 4 if is_paged else 12, kv_heads, size)
    given = {"positions": positions, "sequences": sequences, "q": q, "k": k, "v": v}
    given |= {each: np.full(shape, 0xAB, np.uint8) for each in ("keys", "values")}
    blocks = random.permutation(6).reshape(2, 3).astype(np.uint32)
    if is_paged:
        given["blocks"] = blocks
    kernel = cache_write(size, weights, is_neox=is_neox, is_paged=is_paged)
    still = {"cosines": np.ones_like(cosines), "sines": np.zeros_like(sines)}
    keys, values, turned = kernel(**given, **still)
    assert np.array_equal(turned, q)
    for stored, numbers in ((keys, k), (values, v)):
        expected = np.full(shape, 0xAB, np.uint8)
        packed = weights.pack(numbers.reshape(-1, size)).matrix.reshape(tokens, kv_heads, -1)
        for token, (sequence, place) in enumerate(zip(sequences, positions, strict=True)):
            at = (blocks[sequence, place // 4], place % 4) if is_paged else (sequence, place)
            expected[at] = packed[token]
        assert np.array_equal(stored, expected)
    _, _, turned = kernel(**given, cosines=cosines, sines=sines)
    cos, sin = cosines[positions][:, None], sines[positions][:, None]
    expected = q.copy()
    first = np.s_[..., :pairs] if is_neox else np.s_[..., 0 : 2 * pairs : 2]
    second = np.s_[..., pairs : 2 * pairs] if is_neox else np.s_[..., 1 : 2 * pairs : 2]
    expected[first] = q[first] * cos - q[second] * sin
    expected[second] = q[first] * sin + q[second] * cos
    assert np.allclose(turned, expected, atol=1e-5)
    assert not kernel.check(**given, cosines=cosines, sines=sines).findings


@pytest.mark.slow
@several
@given(st.data(), st.sampled_from(CACHES), st.booleans(), seeds)
def test_attention_in_parts_and_of_prompts(data: Any, name: str, is_paged: bool, seed: int) -> None:
    draw, weights, random = data.draw, format_of(name), np.random.default_rng(seed)
    multiple = lcm(weights.multiple, 8)
    size = multiple * draw(st.integers(1, 256 // multiple))
    kv_heads, together, groups = (draw(st.integers(1, 2)) for _ in range(3))
    heads, splits = kv_heads * together * groups, draw(st.integers(1, 5))
    cache = cached(random, name, (2, 48, kv_heads, size), 8 if is_paged else None)
    tokens, order = draw(st.integers(1, 3)), {}
    q = random.normal(size=(tokens, heads, size)).astype(np.float32)
    order["positions"] = random.integers(-1, 48, tokens).astype(np.int32)
    order["sequences"] = random.integers(0, 2, tokens).astype(np.uint32)
    options: Any = {"together": together, "splits": splits, "is_paged": is_paged}
    kernel = attention(size, weights, **options)
    expected = attended(q, cache, order["positions"], order["sequences"])
    made = kernel(q=q, **cache.given, **order)
    assert not kernel.check(q=q, **cache.given, **order).findings
    if splits > 1:
        merge = attention_merge(size)
        assert not merge.check(parts=made).findings
        made = merge(parts=made)
    assert np.abs(made - expected).max() <= 4e-6 * max(np.abs(expected).max(), 1)
    first, prompt = draw(st.integers(0, 8)), draw(st.integers(1, 40))
    q = random.normal(size=(prompt, heads, size)).astype(np.float32)
    kernel = prefill(size, weights, splits=splits, is_paged=is_paged)
    given = {"q": q, **cache.given, "where": np.array([first, 1], np.uint32)}
    expected = attended(q, cache, first + np.arange(prompt), np.ones(prompt, int))
    made = kernel(**given) if splits == 1 else attention_merge(size)(parts=kernel(**given))
    assert np.abs(made - expected).max() <= 4e-6 * max(np.abs(expected).max(), 1)
    assert not kernel.check(**given).findings


@pytest.mark.slow
@several
@given(st.integers(1, 4), st.integers(1, 700), st.integers(1, 60), seeds)
def test_penalise(rows: int, columns: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)).astype(np.float32)
    recent = random.integers(0, columns, (rows, count)).astype(np.uint32)
    recent[random.random(recent.shape) < 0.1] = 0xFFFFFFFF
    options = {"repetition": 1.3, "presence": 0.5, "frequency": 0.25}
    kernel = penalise(**options)
    assert np.allclose(kernel(x=x, recent=recent), penalised(x, recent, **options), atol=1e-5)
    assert not kernel.check(x=x, recent=recent).findings


TRIED = {
    "softmax": test_library.test_softmax,
    "rms_norm": test_library.test_rms_norm,
    "layer_norm": test_library.test_layer_norm,
    "rope": test_library.test_rope,
    "swiglu": test_library.test_swiglu,
    "argmax": test_library.test_argmax_is_the_first_of_the_largest,
    "gemv": test_gemv,
    "embedding": test_dequantise_and_embedding,
    "dequantise": test_dequantise_and_embedding,
    "gemm": test_gemm,
    "matmul": products.test_products_of_any_sizes_types_and_transposes,
    **{f"marlin_{form}": test_forms_of_marlin for form in MARLIN},
    "small_batch_gemv": test_gemv_fused.test_weights_of_any_shape_are_read_once_for_four_vectors,
    "qkv": test_fused_products,
    "gate_up": test_fused_products,
    "gemv_columns": test_gemv_fused.test_fp4_words_are_read_by_columns,
    "attention": test_attention_in_parts_and_of_prompts,
    "attention_merge": test_attention_in_parts_and_of_prompts,
    "prefill": test_attention_in_parts_and_of_prompts,
    "cache_write": test_cache_write,
    "sample": test_sampling.test_the_kernel_chooses_what_its_twin_chooses,
    "penalise": test_penalise,
    "row_sum": test_sampling.test_rows_are_summed_and_their_largest_found,
    "row_max": test_sampling.test_rows_are_summed_and_their_largest_found,
}
"""By kernel of the library, the test that hypothesis makes sizes for."""


def test_every_kernel_of_the_library_is_tried_with_sizes_of_hypothesis() -> None:
    from assay.compiler.foundry.library import KERNELS

    assert set(TRIED) == set(KERNELS)
    assert all(is_hypothesis_test(test) for test in TRIED.values())
