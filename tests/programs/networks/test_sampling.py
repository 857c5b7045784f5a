"""Random numbers by counters, and the choice of tokens."""

import numpy as np
import pytest

from tests.support.metal_kernel import kernel, run

PARAMS = np.dtype(
    [("vocabulary", "<u4"), ("k", "<u4"), ("p", "<f4"), ("temperature", "<f4"), ("u", "<f4")]
)
MASK = 0xFFFFFFFF


def philox(seed: int, index: int, subsequence: int) -> list[int]:
    """Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011."""
    key = [seed & MASK, seed >> 32]
    c = [index & MASK, index >> 32, subsequence & MASK, subsequence >> 32]
    for _ in range(10):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ key[0], second & MASK, first >> 32 ^ c[3] ^ key[1], first & MASK]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return c


def threefry(key: tuple[int, int], x: int, y: int) -> tuple[int, int]:
    words = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = (x + words[0]) & MASK, (y + words[1]) & MASK
    for group in range(5):
        for r in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x = (x + y) & MASK
            y = ((y << r | y >> (32 - r)) & MASK) ^ x
        x = (x + words[(group + 1) % 3]) & MASK
        y = (y + words[(group + 2) % 3] + group + 1) & MASK
    return x, y


def test_the_references_give_the_known_answers() -> None:
    assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert threefry((0, 0), 0, 0) == (0x6B200159, 0x99BA4EFE)


def test_philox_bits() -> None:
    seed, base = 0x0123456789ABCDEF, 77
    result = np.zeros((50, 4), dtype=np.uint32)

    run(
        kernel("random", "philox_bits"),
        result,
        np.array([seed, base], dtype=np.int64),
        threads=50,
        threadgroup=32,
    )

    np.testing.assert_array_equal(result, [philox(seed, i, base) for i in range(50)])


def test_dropout_keeps_by_the_random_numbers() -> None:
    x = np.arange(1, 81, dtype=np.float32)
    result = np.zeros_like(x)

    run(
        kernel("random", "dropout"),
        x,
        result,
        np.array([5, 6], dtype=np.int64),
        np.float32(0.75),
        threads=20,
        threadgroup=32,
    )

    bits = np.array([philox(5, i, 6) for i in range(20)]).reshape(-1)
    np.testing.assert_allclose(result, np.where((bits >> 8) / 2**24 < 0.75, x / 0.75, 0), rtol=1e-6)


def test_normal_numbers() -> None:
    result = np.zeros(4000, dtype=np.float32)

    run(
        kernel("random", "normals"),
        result,
        np.array([9, 0], dtype=np.int64),
        threads=1000,
        threadgroup=100,
    )

    u = np.array([philox(9, i, 0) for i in range(1000)]) // 256 / 2**24
    radius = np.sqrt(-2 * np.log(1 - u[:, ::2]))
    angle = 2 * np.pi * u[:, 1::2]
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert abs(result.mean()) < 0.06 and abs(result.std() - 1) < 0.05


@pytest.mark.parametrize("count", [16, 37])
def test_threefry_bytes_for_several_keys(count: int) -> None:
    keys = np.random.default_rng(1).integers(0, 2**32, (3, 2), dtype=np.uint32)
    words = -(-count // 4)
    half = words // 2
    odd = words % 2 == 1
    rows = half + odd
    result = np.zeros((3, count), dtype=np.uint8)
    # The last word of an odd number may be written past its end by whole words: room for it.
    room = np.zeros(3 * count + 8, dtype=np.uint8)

    run(
        kernel("random", "rbitsc"),
        keys,
        room,
        np.bool_(odd),
        np.uint32(count),
        threads=(3, rows),
        threadgroup=(1, rows),
    )

    result[...] = room[: 3 * count].reshape(3, count)
    for key, row in zip(keys.tolist(), result, strict=True):
        expected = np.zeros(2 * rows, dtype=np.uint32)
        for i in range(rows):
            last = odd and i == rows - 1
            expected[i], second = threefry(tuple(key), i, 0 if last else i + rows)
            if not last:
                expected[i + rows] = second
        np.testing.assert_array_equal(row, expected.view(np.uint8)[:count])


def params(vocabulary: int, k: int = 0, p: float = 1.0, u: float = 0.0) -> bytes:
    return np.array((vocabulary, k, p, 0.7, u), dtype=PARAMS).tobytes()


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("half", np.float16)])
@pytest.mark.parametrize(("vocabulary", "k", "threads"), [(1000, 7, 128), (33, 33, 64)])
def test_the_k_most_likely(name: str, dtype: type, vocabulary: int, k: int, threads: int) -> None:
    logits = (np.random.default_rng(2).integers(-40, 40, (3, vocabulary)) / 4).astype(dtype)
    values, indices = np.zeros((3, k), dtype=dtype), np.zeros((3, k), dtype=np.uint32)

    run(
        kernel("sampling", f"top_k_{name}"),
        logits,
        values,
        indices,
        params(vocabulary, k),
        threadgroups=3,
        threadgroup=threads,
    )

    expected = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(logits, expected, axis=1))


@pytest.mark.parametrize(("p", "u"), [(0.5, 0.3), (0.9, 0.99), (0.99, 0.5)])
def test_a_token_of_the_nucleus(p: float, u: float) -> None:
    vocabulary = 700
    logits = (np.random.default_rng(3).standard_normal((2, vocabulary)) * 3).astype(np.float32)
    tokens, kept = np.zeros(2, dtype=np.uint32), np.zeros(2, dtype=np.uint32)

    run(
        kernel("sampling", "top_p_sample"),
        logits,
        tokens,
        params(vocabulary, p=p, u=u),
        kept,
        threadgroups=2,
        threadgroup=256,
    )

    for row in range(2):
        weights = np.exp((logits[row] - logits[row].max()).astype(np.float64) / 0.7)
        falling = np.sort(weights)[::-1]
        size = int(np.searchsorted(falling.cumsum(), p * weights.sum())) + 1
        assert kept[row] == size
        nucleus = np.where(weights >= falling[size - 1] * (1 - 1e-6), weights, 0)
        sums = nucleus.cumsum()
        assert tokens[row] == np.searchsorted(sums, u * sums[-1], side="right")


def test_a_penalty_for_tokens_that_were() -> None:
    logits = np.array([1.0, -2.0, 3.0, -4.0, 5.0], dtype=np.float32)

    run(
        kernel("sampling", "repetition_penalty"),
        logits,
        np.array([1, 2], dtype=np.int32),
        np.float32(2),
        threads=2,
        threadgroup=2,
    )

    np.testing.assert_array_equal(logits, [1, -4, 1.5, -4, 5])
