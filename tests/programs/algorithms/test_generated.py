"""Kernels as other compilers write them."""

import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, buffer_of, contents, kernel, run

RECORD = np.dtype([("m0", "3f4"), ("m1", "f4"), ("m2", "4f4", 2)])
RECORDS = np.dtype([("m0", "u4"), ("m1", "u4"), ("pad", "2u4"), ("m2", RECORD, 40)])


@pytest.mark.parametrize(("factor", "threads"), [(None, 32), (24, 96)])
def test_a_matrix_times_a_vector_by_an_argument_buffer(factor: int | None, threads: int) -> None:
    rng = np.random.default_rng(threads)
    rows, columns = 6, 200
    matrix = rng.standard_normal((rows, columns)).astype(np.float32)
    vector = rng.standard_normal(columns).astype(np.float32)
    buffers = [buffer_of(a) for a in (matrix, vector, np.zeros(rows, dtype=np.float32))]
    table = np.array([b.gpuAddress() for b in buffers], dtype=np.uint64)
    constants = {} if factor is None else {0: np.uint32(factor)}

    run(
        kernel("spirv_generated", "matvec", constants),
        table,
        None,
        None,
        np.array([columns, 3, 0, 0], dtype=np.uint32),
        threadgroups=rows,
        threadgroup=threads,
        resources=buffers,
    )

    result = contents(buffers[2], np.zeros(rows, dtype=np.float32))
    np.testing.assert_allclose(result, 4 * (matrix @ vector), rtol=1e-4, atol=1e-4)


def test_records_by_an_array_of_pointers() -> None:
    rng = np.random.default_rng(2)
    tables = np.zeros(3, dtype=RECORDS)
    tables["m0"] = [40, 5, 33]
    tables["m2"]["m0"] = rng.integers(-9, 9, (3, 40, 3))
    tables["m2"]["m2"] = rng.integers(-9, 9, (3, 40, 2, 4))
    expected = tables.copy()
    chosen, factors = [2, 0], [3, 5]
    buffers = [buffer_of(tables[i : i + 1]) for i in range(3)]
    constants = buffer_of(np.array([*factors, 0, 0, *chosen, 0, 0], dtype=np.uint32))
    addresses = [b.gpuAddress() for b in (*buffers, constants)]
    arguments = np.array(addresses, dtype=np.uint64).tobytes() + np.uint64(7).tobytes()

    run(
        kernel("spirv_generated", "records"),
        None,
        arguments,
        threads=(64, 2),
        threadgroup=(32, 1),
        resources=[*buffers, constants],
    )

    for table, factor in zip(chosen, factors, strict=True):
        count = int(expected["m0"][table])
        row = expected["m2"][table, :count]
        row["m0"] = row["m0"][:, [2, 0, 1]] * factor + 7
        row["m1"] = np.clip(count - np.arange(count) // 32 * 32, 0, 32)
        row["m2"][:, 1] = row["m2"][:, 0]
        row["m2"][[0, 1, 2, 3], 1, [0, 1, 2, 3]] = -1
        expected["m2"][table, :count] = row
        expected["m1"][table] = table
    for i, buffer in enumerate(buffers):
        np.testing.assert_array_equal(contents(buffer, tables[i : i + 1]), expected[i : i + 1])


def test_a_rendered_map_of_vectors() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-4, 4, 1024).astype(np.float32)
    flags = rng.integers(-1, 2, 1024).astype(np.int32)
    result = np.zeros(1024, dtype=np.float32)

    run(
        kernel("rendered", "E_8_32_4"),
        result,
        x,
        flags,
        threadgroups=8,
        threadgroup=32,
    )

    expected = np.zeros((256, 4))
    value, flag = x.astype(np.float64).reshape(-1, 4), flags.reshape(-1, 4)
    expected[:, 0] = np.where(flag[:, 0] != 0, np.sin(value[:, 0]), 0)
    expected[:, 1] = np.where(flag[:, 1] != 0, np.exp(value[:, 1]), -np.inf)
    expected[:, 2] = np.where(flag[:, 2] >= 0, np.sqrt(np.abs(value[:, 2])), np.nan)
    expected[:, 3] = x.reshape(-1, 4)[:, 3].astype(np.float16)
    np.testing.assert_allclose(result.reshape(-1, 4), expected, rtol=1e-5, atol=1e-6)


def test_a_rendered_maximum_in_two_steps() -> None:
    x = np.random.default_rng(4).standard_normal((64, 128)).astype(np.float16)
    result = np.zeros(64, dtype=np.float32)

    run(kernel("rendered", "r_4_16_8_16"), result, x, threadgroups=(16, 4), threadgroup=16)

    np.testing.assert_array_equal(result, x.max(axis=1))


def test_a_rendered_product_by_matrix_units() -> None:
    rng = np.random.default_rng(5)
    a = rng.standard_normal((16, 32)).astype(np.float16)
    b = rng.standard_normal((32, 16)).astype(np.float16)
    result = np.zeros((16, 16), dtype=np.float32)

    run(
        kernel("rendered", "r_2_2_32_4"),
        result,
        a,
        b,
        threadgroups=(2, 2),
        threadgroup=(2, 4, 4),
    )

    np.testing.assert_allclose(result, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-3)


def test_particles_with_every_access_checked() -> None:
    rng = np.random.default_rng(6)
    count, stride = 50, 16
    particles = rng.random((count, 4)).astype(np.float32)
    head = np.zeros((1, 4), dtype=np.float32)
    source = np.concatenate([head, particles])
    result = np.zeros_like(source)
    delta, radius, scale, modulus = 0.1, 0.2, 40.0, 5
    params = np.float32((delta, radius, scale)).tobytes() + np.int32(modulus).tobytes()
    sizes = np.array([stride + stride * count] * 2, dtype=np.uint32)

    run(
        kernel("naga_generated", "step_particles"),
        source,
        result,
        params,
        sizes,
        Scratch(256),
        threadgroups=1,
        threadgroup=64,
    )

    position, velocity = particles[:, :2].astype(np.float64), particles[:, 2:].astype(np.float64)
    speed = np.linalg.norm(velocity, axis=1)
    gaps = np.linalg.norm(position[:, None] - position, axis=-1)
    near = (gaps < radius).sum(axis=1) - 1
    cell = (particles[:, 0] * np.float32(scale)).astype(np.int64)
    fastest = np.array([max(speed[0], *np.delete(speed, i)) for i in range(count)])
    expected = np.where(
        (cell % modulus == 0)[:, None],
        -velocity,
        np.where(
            (cell % modulus <= 2)[:, None],
            velocity * (1 + cell // modulus)[:, None],
            np.stack([near, fastest], axis=1),
        ),
    )
    np.testing.assert_allclose(result[1:, 2:], expected, rtol=1e-5)
    moved = position + expected * delta
    np.testing.assert_allclose(result[1:, :2], moved - np.floor(moved), atol=1e-5)
    assert result[0].view(np.uint32)[0] == count
