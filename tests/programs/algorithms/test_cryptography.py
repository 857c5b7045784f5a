"""Hashes and arithmetic of large numbers."""

import hashlib

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run

P = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
R = 2**256


@pytest.mark.parametrize("length", [0, 3, 55, 56, 64, 150])
def test_sha_256(length: int) -> None:
    messages = np.random.default_rng(length).integers(0, 256, (33, max(length, 1)), dtype=np.uint8)
    digests = np.zeros((33, 32), dtype=np.uint8)

    run(
        kernel("hashes", "sha256"),
        messages,
        digests,
        np.uint32(length),
        threads=33,
        threadgroup=32,
    )

    for message, digest in zip(messages, digests, strict=True):
        assert digest.tobytes() == hashlib.sha256(message[:length].tobytes()).digest()


@pytest.mark.parametrize("length", [1, 32, 135])
def test_keccak_by_its_sibling_sha_3(length: int) -> None:
    messages = np.random.default_rng(length).integers(0, 256, (8, length), dtype=np.uint8)
    digests = np.zeros((8, 32), dtype=np.uint8)

    run(
        kernel("hashes", "keccak256"),
        messages,
        digests,
        np.array([length, 6], dtype=np.uint32),
        threads=8,
        threadgroup=8,
    )

    for message, digest in zip(messages, digests, strict=True):
        assert digest.tobytes() == hashlib.sha3_256(message.tobytes()).digest()


def test_a_permutation_of_a_prime_field() -> None:
    prime, outer, inner = 2**64 - 2**32 + 1, 4, 6
    rng = np.random.default_rng(1)
    states = rng.integers(0, prime, (9, 8), dtype=np.uint64)
    states[0, :3] = [0, prime - 1, 2**32]
    constants = rng.integers(0, prime, (outer + inner, 8), dtype=np.uint64)
    expected = [[int(v) for v in row] for row in states]

    run(
        kernel("hashes", "poseidon"),
        states,
        constants,
        np.array([outer, inner], dtype=np.uint32),
        threads=9,
        threadgroup=32,
    )

    matrix = (7, 1, 3, 8, 8, 3, 4, 9)
    for number, row in enumerate(expected):
        state = row
        for r in range(outer + inner):
            state = [(s + int(c)) % prime for s, c in zip(state, constants[r], strict=True)]
            is_outer = r < outer // 2 or r >= outer // 2 + inner
            state = [pow(s, 7, prime) if is_outer or i == 0 else s for i, s in enumerate(state)]
            state = [
                sum(state[j] * matrix[(j - i) % 8] for j in range(8)) % prime for i in range(8)
            ]
        assert states[number].tolist() == state


def limbs(*numbers: int) -> np.ndarray:
    data = b"".join(n.to_bytes(32, "little") for n in numbers)
    return np.frombuffer(data, dtype=np.uint32).reshape(-1, 8).copy()


def numbers(array: np.ndarray) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in array.reshape(-1, 8)]


def field_elements(count: int) -> list[int]:
    rng = np.random.default_rng(count)
    found = [int.from_bytes(rng.bytes(32), "little") % P for _ in range(count)]
    return [0, 1, P - 1, *found[3:]]


@pytest.mark.parametrize("name", ["montgomery_products", "montgomery_products_wide"])
def test_montgomery_products(name: str) -> None:
    a = field_elements(40)
    b = a[1:] + a[:1]
    result = limbs(*[0] * 40)

    run(kernel("big_integers", name), limbs(*a), limbs(*b), result, threads=40, threadgroup=32)

    inverse = pow(R, -1, P)
    assert numbers(result) == [x * y * inverse % P for x, y in zip(a, b, strict=True)]


def test_inverses_by_powers() -> None:
    a = field_elements(10)[1:]
    values = limbs(*[x * R % P for x in a])

    run(kernel("big_integers", "inverses"), values, limbs(R % P), threads=9, threadgroup=32)

    assert numbers(values) == [pow(x, -1, P) * R % P for x in a]


def test_a_multi_scalar_sum_by_buckets() -> None:
    count, bits, windows = 50, 4, 8
    points = field_elements(count)
    scalars = np.random.default_rng(2).integers(0, 2**32, count, dtype=np.uint32)
    shape = np.array([count, bits, windows, 0], dtype=np.uint32)
    buckets, total = limbs(*[0] * windows * 15), limbs(0)

    run(
        kernel("big_integers", "accumulate_buckets"),
        limbs(*points),
        scalars,
        buckets,
        shape,
        threads=(15, windows),
        threadgroup=(15, 2),
    )
    run(
        kernel("big_integers", "combine_buckets"),
        buckets,
        total,
        shape,
        Scratch(windows * 32),
        threadgroups=1,
        threadgroup=32,
    )

    expected = sum(p * int(s) for p, s in zip(points, scalars, strict=True)) % P
    assert numbers(total) == [expected]


@pytest.mark.parametrize(("log_n", "threads"), [(3, 32), (8, 64)])
def test_a_transform_over_a_prime_field_and_back(log_n: int, threads: int) -> None:
    prime, n = 15 * 2**27 + 1, 1 << log_n
    root = pow(31, (prime - 1) // n, prime)
    values = np.random.default_rng(log_n).integers(0, prime, (3, n)).astype(np.uint32)

    def in_form(number: int) -> np.uint32:
        return np.uint32((number << 32) % prime)

    def transform(data: np.ndarray, w: int, scale: int) -> None:
        run(
            kernel("number_theory", "ntt"),
            data,
            in_form(w),
            in_form(1),
            in_form(scale),
            np.uint32(log_n),
            Scratch(4 * n),
            threadgroups=3,
            threadgroup=threads,
        )

    result = values.copy()
    transform(result, root, 1)
    powers = [pow(root, k, prime) for k in range(n)]
    for row, line in zip(values.tolist(), result.tolist(), strict=True):
        expected = [sum(v * powers[i * k % n] for i, v in enumerate(row)) % prime for k in range(n)]
        assert line == expected
    transform(result, pow(root, -1, prime), pow(n, -1, prime))
    np.testing.assert_array_equal(result, values)


def test_md5_finds_a_word() -> None:
    rng = np.random.default_rng(5)
    count = 77
    lengths = rng.integers(0, 56, count).astype(np.uint32)
    words = rng.integers(0, 256, (count, 64), dtype=np.uint8)
    lengths[[41, 60]], words[60] = 20, words[41]
    wanted = hashlib.md5(words[41, :20].tobytes(), usedforsecurity=False).digest()
    found = np.array([2**32 - 1], dtype=np.uint32)

    run(
        kernel("number_theory", "m00000_a0"),
        words,
        lengths,
        wanted,
        found,
        np.uint32(count),
        threads=96,
        threadgroup=32,
    )

    assert found[0] == 41
