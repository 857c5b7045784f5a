"""Particles, numbers of two floats, and linear systems."""

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run


def test_forces_between_tiles_of_atoms() -> None:
    rng = np.random.default_rng(1)
    atoms, padded = 75, 96
    box, cutoff = np.array([5.0, 6.0, 5.5]), 2.3
    posq = rng.uniform(0, 6, (atoms, 4)).astype(np.float32)
    posq[:, 3] = rng.choice([-0.5, 0.5], atoms)
    params = rng.uniform(0.2, 0.4, (atoms, 2)).astype(np.float32)
    tiles = np.array([(i, j) for i in range(3) for j in range(i, 3)], dtype=np.uint16)
    forces = np.zeros((3, padded), dtype=np.int64)
    energies = np.zeros(len(tiles), dtype=np.float32)

    run(
        kernel("particles", "nonbonded"),
        posq,
        params,
        forces,
        energies,
        tiles,
        np.uint32(atoms),
        np.float32((*box, cutoff)).tobytes(),
        np.uint32(padded),
        threadgroups=len(tiles),
        threadgroup=32,
    )

    wide = posq.astype(np.float64)
    delta = wide[None, :, :3] - wide[:, None, :3]
    delta -= box * np.floor(delta / box + 0.5)
    r = np.linalg.norm(delta, axis=-1)
    np.fill_diagonal(r, np.inf)
    near = r < cutoff
    s6 = ((params[:, None, 0] + params[:, 0]) / 2 / r) ** 6
    epsilon = 4 * np.sqrt(params[:, None, 1].astype(np.float64) * params[:, 1])
    coulomb = wide[:, None, 3] * wide[:, 3] / r
    energy = np.where(near, epsilon * s6 * (s6 - 1) + coulomb, 0).sum() / 2
    size = np.where(near, (epsilon * s6 * (12 * s6 - 6) + coulomb) / r**2, 0)
    expected = -(delta * size[..., None]).sum(axis=1)
    np.testing.assert_allclose(energies.sum(), energy, rtol=1e-3)
    np.testing.assert_allclose(forces[:, :atoms].T / 2**20, expected, rtol=1e-3, atol=1e-3)
    assert not forces[:, atoms:].any()


def test_lengths_of_molecules_are_restored() -> None:
    rng = np.random.default_rng(2)
    count, length = 10, 1.0
    before = rng.uniform(0, 9, (3 * count, 4)).astype(np.float32)
    for k in (1, 2):
        arm = rng.standard_normal((count, 3))
        arm /= np.linalg.norm(arm, axis=1)[:, None]
        before[k::3, :3] = before[::3, :3] + length * arm
    positions = before.copy()
    positions[:, :3] += rng.uniform(-0.05, 0.05, (3 * count, 3))
    molecules = np.zeros((count, 4), dtype=np.int32)
    molecules[:, :3] = np.arange(3 * count).reshape(count, 3)
    centre = positions[:, :3].reshape(count, 3, 3)
    weights = np.array([16, 1, 1])[:, None]
    momentum = (centre * weights).sum(axis=1)

    run(
        kernel("particles", "shake"),
        positions,
        before,
        molecules,
        np.array([length, 1 / 16, 1, 0], dtype=np.float32),
        threads=count,
        threadgroup=4,
    )

    after = positions[:, :3].reshape(count, 3, 3)
    for k in (1, 2):
        np.testing.assert_allclose(np.linalg.norm(after[:, k] - after[:, 0], axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose((after * weights).sum(axis=1), momentum, rtol=1e-4)
    np.testing.assert_array_equal(positions[:, 3], before[:, 3])


def split(values: np.ndarray) -> np.ndarray:
    """Float64 as (high, low) of float32."""
    high = values.astype(np.float32)
    return np.stack([high, (values - high).astype(np.float32)], axis=-1)


def joined(pairs: np.ndarray) -> np.ndarray:
    return pairs[..., 0].astype(np.float64) + pairs[..., 1]


def test_arithmetic_of_two_floats_has_48_bits() -> None:
    rng = np.random.default_rng(3)
    a, b = split(rng.uniform(1, 100, 150)), split(rng.uniform(-90, -1, 150))
    result = np.zeros((3, 150, 2), dtype=np.float32)

    run(
        kernel("numerics", "double_float_arithmetic"),
        a,
        b,
        result,
        np.uint32(150),
        threads=150,
        threadgroup=32,
    )

    x, y = joined(a), joined(b)
    np.testing.assert_allclose(joined(result[0]), x + y, rtol=0, atol=100 * 2**-44)
    np.testing.assert_allclose(joined(result[1]), x * y, rtol=2**-44)
    np.testing.assert_allclose(joined(result[2]), x / y, rtol=2**-43)


def test_a_compensated_sum_is_not_rearranged() -> None:
    x = np.full(20000, 0.1, dtype=np.float32)
    x[0] = 1e6
    result = np.zeros(1, dtype=np.float32)

    run(
        kernel("numerics", "compensated_sum"),
        x,
        result,
        np.uint32(x.size),
        threads=1,
        threadgroup=1,
    )

    assert result[0] == np.float32(x.astype(np.float64).sum())


def systems(count: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    half = rng.standard_normal((count, n, n))
    matrices = half @ half.transpose(0, 2, 1) + n * np.eye(n)
    return matrices.astype(np.float32), rng.standard_normal((count, n)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 33, 64])
def test_systems_by_cholesky(n: int) -> None:
    matrices, right = systems(3, n)
    result = right.copy()

    run(
        kernel("numerics", "cholesky_solve"),
        matrices,
        result,
        np.uint32(n),
        threadgroups=3,
        threadgroup=64,
    )

    expected = np.linalg.solve(matrices.astype(np.float64), right[..., None])[..., 0]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("n", "threads"), [(50, 64), (100, 128)])
def test_a_system_by_conjugate_gradients(n: int, threads: int) -> None:
    (matrix,), (right,) = systems(1, n)
    result, iterations = np.zeros(n, dtype=np.float32), np.zeros(1, dtype=np.uint32)

    run(
        kernel("numerics", "conjugate_gradient"),
        matrix,
        right,
        result,
        iterations,
        np.uint32(n),
        Scratch(4 * 128),
        threadgroups=1,
        threadgroup=threads,
    )

    expected = np.linalg.solve(matrix.astype(np.float64), right)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)
    assert 3 < iterations[0] < n
