"""Caches in pages, attention over them, and experts."""

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def test_tokens_go_to_their_slots_of_the_cache() -> None:
    rng = np.random.default_rng(1)
    tokens, heads, size, blocks, slots, x = 9, 3, 16, 4, 8, 4
    key, value = rng.standard_normal((2, tokens, heads, size)).astype(np.float32)
    keys = np.zeros((blocks, heads, size // x, slots, x), dtype=np.float16)
    values = np.zeros((blocks, heads, size, slots), dtype=np.float16)
    mapping = rng.permutation(blocks * slots)[:tokens].astype(np.int64)
    mapping[4] = -1

    run(
        kernel("serving", "reshape_and_cache_float_half"),
        key,
        value,
        keys,
        values,
        mapping,
        np.int32(heads),
        np.int32(size),
        np.int32(slots),
        np.int32(x),
        threadgroups=tokens,
        threadgroup=32,
    )

    flat_keys = keys.transpose(0, 3, 1, 2, 4).reshape(-1, heads, size)
    flat_values = values.transpose(0, 3, 1, 2).reshape(-1, heads, size)
    written = mapping >= 0
    np.testing.assert_array_equal(flat_keys[mapping[written]], key[written].astype(np.float16))
    np.testing.assert_array_equal(flat_values[mapping[written]], value[written].astype(np.float16))
    untouched = np.delete(flat_keys, mapping[written], axis=0)
    assert not untouched.any()


@pytest.mark.parametrize("simdgroups", [1, 4])
def test_attention_over_pages(simdgroups: int) -> None:
    rng = np.random.default_rng(simdgroups)
    seqs, heads, kv_heads, size, slots, x, blocks = 2, 4, 2, 64, 16, 8, 9
    lengths = np.array([45, 17], dtype=np.uint32)
    q = rng.standard_normal((seqs, heads, size)).astype(np.float16)
    keys = rng.standard_normal((blocks, kv_heads, size // x, slots, x)).astype(np.float16)
    values = rng.standard_normal((blocks, kv_heads, size, slots)).astype(np.float16)
    tables = rng.permutation(blocks)[:8].reshape(seqs, 4).astype(np.uint32)
    result = np.zeros((seqs, heads, size), dtype=np.float32)

    run(
        kernel("serving", "paged_attention_hs64_bs16"),
        q,
        keys,
        values,
        tables,
        lengths,
        result,
        np.array([heads, kv_heads, 4, 0], dtype=np.int32),
        np.float32(size**-0.5),
        Scratch(4 * 64),
        threadgroups=(heads, seqs),
        threadgroup=32 * simdgroups,
    )

    flat_keys = (
        keys.astype(np.float64).transpose(0, 3, 1, 2, 4).reshape(blocks, slots, kv_heads, -1)
    )
    flat_values = values.astype(np.float64).transpose(0, 3, 1, 2)
    for seq, head in np.ndindex(seqs, heads):
        chosen = tables[seq]
        k = flat_keys[chosen].reshape(-1, kv_heads, size)[: lengths[seq], head // 2]
        v = flat_values[chosen].reshape(-1, kv_heads, size)[: lengths[seq], head // 2]
        weights = np.exp(k @ q[seq, head].astype(np.float64) * size**-0.5)
        expected = weights / weights.sum() @ v
        np.testing.assert_allclose(result[seq, head], expected, rtol=1e-3, atol=1e-3)


def test_the_tokens_of_each_expert() -> None:
    experts, count = 5, 70
    expert_of = np.random.default_rng(3).integers(0, experts, count).astype(np.int32)
    counts = np.zeros(experts, dtype=np.uint32)
    tokens = np.full((experts, count), -1, dtype=np.int32)

    run(
        kernel("serving", "tokens_of_experts"),
        expert_of,
        counts,
        tokens,
        np.int32(count),
        threadgroups=1,
        threadgroup=32 * experts,
    )

    for expert in range(experts):
        expected = np.flatnonzero(expert_of == expert)
        assert counts[expert] == expected.size
        np.testing.assert_array_equal(tokens[expert, : expected.size], expected)


def test_a_gated_unit_of_an_expert_with_powers_of_two_as_scales() -> None:
    rng = np.random.default_rng(4)
    tokens, experts, rows, columns = 4, 3, 7, 96
    x = rng.standard_normal((tokens, columns)).astype(np.float32)
    record = np.dtype([("scale", "u1"), ("values", "u1", 16)])
    weights = np.zeros((experts, rows, 2, columns // 32), dtype=record)
    weights["scale"] = rng.integers(122, 127, weights.shape)
    weights["values"] = rng.integers(0, 256, (*weights.shape, 16))
    bias = rng.standard_normal((experts, rows, 2)).astype(np.float32)
    expert_of = np.array([2, 0, 1, 2], dtype=np.int32)
    result = np.zeros((tokens, rows), dtype=np.float32)
    alpha, limit = 1.702, 7.0

    run(
        kernel("serving", "expert_gated"),
        x,
        weights,
        bias,
        expert_of,
        result,
        np.array([columns, rows], dtype=np.int32),
        np.array([alpha, limit], dtype=np.float32),
        threadgroups=(2, tokens),
        threadgroup=128,
    )

    codes = np.stack([weights["values"] & 15, weights["values"] >> 4], axis=-1)
    scales = 2.0 ** (weights["scale"].astype(np.float64) - 127)
    dense = FP4[codes.reshape(*weights.shape, 32)] * scales[..., None]
    dense = dense.reshape(experts, rows, 2, columns)[expert_of]
    sums = np.einsum("trpc,tc->trp", dense, x.astype(np.float64)) + bias[expert_of]
    gate, linear = np.minimum(sums[..., 0], limit), sums[..., 1].clip(-limit, limit)
    expected = gate / (1 + np.exp(-alpha * gate)) * (linear + 1)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
