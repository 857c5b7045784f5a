"""Attention over caches of any format, paged or not, equals NumPy, without findings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.compiler.foundry.numbers import e4m3_bits
from assay.foundry import FoundryError, Kernel, added, format_of, scaled
from assay.foundry.library import (
    attention,
    attention_merge,
    cache_shape,
    cache_write,
    matmul,
    prefill,
    rope_tables,
    softmax,
)
from assay.foundry.types import half

# Of values near 1: float sums of some hundred numbers; weights and results rounded to half.
BOUNDS = {"float32": 3e-6, "float16": 2e-3}
few = settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KNOWN: dict[Any, Kernel] = {}


def once(make: Any, *args: Any, **options: Any) -> Kernel:
    key = (make, *map(str, args), str(options))
    if key not in KNOWN:
        KNOWN[key] = make(*args, **options)
    return KNOWN[key]


@dataclass
class Cached:
    """Keys and values [sequences, capacity, heads, numbers] as kernels read them, and bytes."""

    keys: np.ndarray
    values: np.ndarray
    given: dict[str, np.ndarray]


def cached(
    random: np.random.Generator,
    name: str,
    shape: tuple[int, int, int, int],
    block: int | None = None,
) -> Cached:
    """Random ones; with `block`, in blocks of so many tokens that lie in any order."""
    weights = format_of(name)
    numbers, bytes_of = [], []
    for _ in range(2):
        packed = weights.pack(random.normal(size=(np.prod(shape[:-1]), shape[-1])))
        numbers.append(weights.unpack(packed).reshape(shape))
        bytes_of.append(packed.matrix.reshape(*shape[:-1], -1))
    if block is None:
        return Cached(*numbers, dict(zip(("keys", "values"), bytes_of, strict=True)))
    sequences, capacity = shape[:2]
    count = sequences * capacity // block
    order = random.permutation(count + 2)[:count]
    given = {"blocks": order.reshape(sequences, -1).astype(np.uint32)}
    for each, data in zip(("keys", "values"), bytes_of, strict=True):
        paged = np.full((count + 2, block, *data.shape[2:]), 0xFF, np.uint8)
        paged[order] = data.reshape(count, block, *data.shape[2:])
        given[each] = paged
    return Cached(*numbers, given)


def attended(
    q: np.ndarray, cache: Cached, positions: np.ndarray, sequences: np.ndarray
) -> np.ndarray:
    wide = q.astype(np.float64)
    group = q.shape[1] // cache.keys.shape[2]
    made = np.zeros_like(wide)
    for t, h in np.ndindex(*q.shape[:2]):
        count = max(positions[t] + 1, 0)
        if count:
            k = cache.keys[sequences[t], :count, h // group].astype(np.float64)
            scores = k @ wide[t, h] / np.sqrt(q.shape[-1])
            shares = np.exp(scores - scores.max())
            v = cache.values[sequences[t], :count, h // group].astype(np.float64)
            made[t, h] = shares / shares.sum() @ v
    return made


def agrees(kernel: Kernel, expected: np.ndarray, **values: Any) -> None:
    made = kernel(**values)
    assert np.abs(made - expected).max() <= BOUNDS[made.dtype.name] * max(np.abs(expected).max(), 1)
    assert not kernel.check(**values).findings


@few
@given(st.integers(0, 95), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_token_attends_to_all_before_it(last: int, is_paged: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    cache = cached(random, "q8_0", (2, 96, 2, 64), 16 if is_paged else None)
    q = random.normal(size=(3, 4, 64)).astype(np.float32)
    positions = np.array([last, -1, 95], np.int32)
    order = {"positions": positions, "sequences": np.array([1, 0, 0], np.uint32)}
    kernel = once(attention, 64, format_of("q8_0"), together=2, is_paged=is_paged)
    expected = attended(q, cache, positions, order["sequences"])
    agrees(kernel, expected, q=q, **cache.given, **order)


HEADS = [
    (8, "f32", float, 1),
    (64, "q4_0", half, 4),
    (80, "f16", float, 2),
    (96, "q8_0", half, 1),
    (128, "bf16", float, 4),
    (192, "q4_0", float, 2),
    (256, "f16", half, 4),
    (40, "fp8_e4m3", float, 2),
    (96, "mxfp4", half, 4),
    (128, "nvfp4", float, 1),
]


SCALES = [1e-4, 1e-2, 1.0, 300.0]
"""Of numbers: E4M3 has subnormals below 2^-6, and none beyond 448."""


@pytest.mark.parametrize(
    "name", ["fp8_e4m3", pytest.param("mxfp4", marks=pytest.mark.slow), "nvfp4"]
)
def test_small_floats_are_stored_as_numpy_packs_them(name: str) -> None:
    weights, size = format_of(name), 64
    random = np.random.default_rng(9)
    k, v = (
        np.concatenate([random.normal(size=(1, 2, size)) * scale for scale in SCALES])
        .astype(np.float32)
        .repeat(4, axis=0)
        for _ in range(2)
    )
    k[0], v[0, :, ::3] = 0, 0
    # Ties between codes, and signs of what becomes 0.
    k[1] = np.tile([0.25, -0.25, 0.75, 1.25, -1.75, 2.5, 3.5, 6.0], size // 8)
    v[1] = (np.arange(2 * size).reshape(2, size) + 0.5) / 8
    shape = cache_shape(weights, 1, len(k), 2, size)
    keys, values, _ = once(cache_write, size, weights)(
        q=np.zeros((len(k), 1, size), np.float32),
        k=k,
        v=v,
        positions=np.arange(len(k), dtype=np.int32),
        sequences=np.zeros(len(k), np.uint32),
        cosines=np.ones((len(k), size // 2), np.float32),
        sines=np.zeros((len(k), size // 2), np.float32),
        keys=np.zeros(shape, np.uint8),
        values=np.zeros(shape, np.uint8),
    )
    for stored, numbers in ((keys, k), (values, v)):
        expected = weights.pack(numbers.reshape(-1, size)).matrix
        assert np.array_equal(stored.reshape(-1), expected)


def test_a_cache_of_e4m3_keeps_nan_and_cuts_off_what_is_too_large() -> None:
    size, weights = 64, format_of("fp8_e4m3")
    v = np.tile(np.array([np.nan, -np.nan, np.inf, -np.inf, 449, 1], np.float32), 11)[:size]
    zeros, shape = np.zeros((1, 1, size), np.float32), cache_shape(weights, 1, 1, 1, size)
    _, values, _ = once(cache_write, size, weights)(
        q=zeros,
        k=zeros,
        v=v.reshape(1, 1, size),
        positions=np.zeros(1, np.int32),
        sequences=np.zeros(1, np.uint32),
        cosines=np.ones((1, size // 2), np.float32),
        sines=np.zeros((1, size // 2), np.float32),
        keys=np.zeros(shape, np.uint8),
        values=np.zeros(shape, np.uint8),
    )
    assert np.array_equal(values.reshape(-1), e4m3_bits(v))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "name", "element", "together"), HEADS)
def test_heads_of_any_size_and_cache(size: int, name: str, element: Any, together: int) -> None:
    random = np.random.default_rng(size)
    cache = cached(random, name, (1, 150, 2, size))
    q = random.normal(size=(2, 8, size)).astype(np.float16 if element is half else np.float32)
    positions, sequences = np.array([149, 70], np.int32), np.zeros(2, np.uint32)
    given = {**cache.given, "positions": positions, "sequences": sequences}
    expected = attended(q, cache, positions, sequences)
    kernel = attention(size, format_of(name), element, together=together)
    agrees(kernel, expected, q=q, **given)
    split = attention(size, format_of(name), element, together=together, splits=5)
    assert not split.check(q=q, **given).findings
    agrees(attention_merge(size, element), expected, parts=split(q=q, **given))
    where = np.array([83, 0], np.uint32)
    q = random.normal(size=(35, 8, size)).astype(q.dtype)
    places = 83 + np.arange(35)
    expected = attended(q, cache, places, np.zeros(35, int))
    agrees(prefill(size, format_of(name), element), expected, q=q, **cache.given, where=where)


@pytest.mark.slow
@few
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_tokens_of_a_prompt_see_those_before_them(tokens: int, first: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    cache = cached(random, "q8_0", (2, 80, 1, 32), 8)
    q = random.normal(size=(tokens, 2, 32)).astype(np.float32)
    expected = attended(q, cache, first + np.arange(tokens), np.ones(tokens, int))
    kernel = once(prefill, 32, format_of("q8_0"), is_paged=True)
    agrees(kernel, expected, q=q, **cache.given, where=np.array([first, 1], np.uint32))


@pytest.mark.slow
def test_products_and_a_softmax_give_what_prefill_gives_head_by_head() -> None:
    # 35 rows of a head do not fill its tiles: those of the next head are not overwritten.
    random, tokens, heads, size = np.random.default_rng(1), 35, 4, 24
    cache = cached(random, "f32", (1, tokens, 2, size))
    q = random.normal(size=(tokens, heads, size)).astype(np.float32)
    keys, values = (np.repeat(each[0], 2, axis=1) for each in (cache.keys, cache.values))
    by_head = [np.ascontiguousarray(each.swapaxes(0, 1)) for each in (q, keys, values)]
    seen = np.tril(np.ones((tokens, tokens), bool))
    mask = np.broadcast_to(np.where(seen, 0, -np.finfo(np.float32).max / 2), (heads, *seen.shape))
    scores = matmul(float, turned=(False, True), epilogue=[scaled(), added(float)])(
        a=by_head[0],
        b=by_head[1],
        alpha=1 / np.sqrt(size),
        beta=1.0,
        addend=mask.astype(np.float32),
    )
    made = matmul(float)(a=softmax(float)(x=scores), b=by_head[2])
    expected = attended(q, cache, np.arange(tokens), np.zeros(tokens, int))
    assert np.abs(made.swapaxes(0, 1) - expected).max() <= 1e-5
    where = np.array([0, 0], np.uint32)
    fused = prefill(size, format_of("f32"))(q=q, **cache.given, where=where)
    assert np.abs(made.swapaxes(0, 1) - fused).max() <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("element", [float, half])
def test_keys_of_a_prompt_are_split_among_threadgroups(element: Any) -> None:
    random = np.random.default_rng(2)
    cache = cached(random, "q8_0", (1, 200, 2, 64))
    q = random.normal(size=(40, 4, 64)).astype(np.float16 if element is half else np.float32)
    kernel = prefill(64, format_of("q8_0"), element, splits=4)
    given = {"q": q, **cache.given, "where": np.array([150, 0], np.uint32)}
    parts = kernel(**given)
    assert parts.shape == (40, 4, 4, 66) and not kernel.check(**given).findings
    expected = attended(q, cache, 150 + np.arange(40), np.zeros(40, int))
    agrees(attention_merge(64, element), expected, parts=parts)


@pytest.mark.slow
def test_large_scores_and_splits_without_keys_stay_numbers() -> None:
    random = np.random.default_rng(0)
    cache = cached(random, "f32", (1, 40, 1, 32))
    q = 1e4 * random.normal(size=(1, 1, 32)).astype(np.float32)
    order = {"positions": np.array([2], np.int32), "sequences": np.zeros(1, np.uint32)}
    parts = once(attention, 32, format_of("f32"), splits=5)(q=q, **cache.given, **order)
    made = once(attention_merge, 32)(parts=parts)
    expected = attended(q, cache, order["positions"], order["sequences"])
    assert np.abs(made - expected).max() <= 1e-3


@pytest.mark.parametrize(
    ("name", "is_paged"),
    [
        ("q8_0", True),
        pytest.param("q4_0", False, marks=pytest.mark.slow),
        pytest.param("f16", True, marks=pytest.mark.slow),
        pytest.param("bf16", False, marks=pytest.mark.slow),
        pytest.param("fp8_e4m3", True, marks=pytest.mark.slow),
        pytest.param("mxfp4", True, marks=pytest.mark.slow),
        pytest.param("nvfp4", False, marks=pytest.mark.slow),
    ],
)
def test_keys_turn_and_go_into_the_cache_in_its_format(name: str, is_paged: bool) -> None:
    random = np.random.default_rng(3)
    weights, size, pairs = format_of(name), 64, 24
    q = random.normal(size=(3, 4, size)).astype(np.float32)
    k, v = (random.normal(size=(3, 2, size)).astype(np.float32) for _ in range(2))
    positions, sequences = np.array([0, 9, 2], np.int32), np.array([0, 1, 1], np.uint32)
    cosines, sines = rope_tables(12, size, pairs=pairs)
    given: dict[str, Any] = {"positions": positions, "sequences": sequences}
    shape = cache_shape(weights, 6 if is_paged else 2, 4 if is_paged else 12, 2, size)
    given |= {each: np.full(shape, 0xAB, np.uint8) for each in ("keys", "values")}
    blocks = np.array([[5, 0, 1], [3, 2, 4]], np.uint32)
    if is_paged:
        given["blocks"] = blocks
    kernel = once(cache_write, size, weights, is_paged=is_paged)
    # Without turning, bytes are those that NumPy packs.
    flat = {"cosines": np.ones_like(cosines), "sines": np.zeros_like(sines)}
    keys, values, turned = kernel(q=q, k=k, v=v, **given, **flat)
    assert np.array_equal(turned, q)
    for stored, numbers in ((keys, k), (values, v)):
        expected = given["keys"].copy()
        packed = weights.pack(numbers.reshape(-1, size)).matrix.reshape(3, 2, -1)
        for token in range(3):
            place = positions[token]
            if is_paged:
                expected[blocks[sequences[token], place // 4], place % 4] = packed[token]
            else:
                expected[sequences[token], place] = packed[token]
        assert np.array_equal(stored, expected)
    turns = {"cosines": cosines, "sines": sines}
    _, _, turned = kernel(q=q, k=k, v=v, **given, **turns)
    cos, sin = (each[positions][:, None] for each in (cosines, sines))
    first, second = q[..., :pairs], q[..., pairs : 2 * pairs]
    both = [first * cos - second * sin, first * sin + second * cos, q[..., 2 * pairs :]]
    assert np.allclose(turned, np.concatenate(both, axis=-1), atol=1e-6)
    assert not kernel.check(q=q, k=k, v=v, **given, **turns).findings


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(FoundryError, match=r"kernels do not write q6_k; they write f32"):
        attention(256, format_of("q6_k"))
    with pytest.raises(FoundryError, match="rows of 48 are no multiple"):
        attention(48, format_of("q8_0"))
    with pytest.raises(FoundryError, match="heads of 512"):
        prefill(512, format_of("f16"))
