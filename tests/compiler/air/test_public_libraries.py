"""Libraries that Apple's compiler made and wheels for Macs carry: they open, run and are right."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.compiler.air import AirLibrary, open_library
from assay.hal.metal import api
from tests.support.wheels import member

pytestmark = pytest.mark.slow
Metal = api.load("emulated")
_MLX = ("mlx-metal==0.32.4", "mlx/lib/mlx.metallib")
_EXECUTORCH = ("executorch==1.5.1", "executorch/lib/mlx.metallib")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wheels")


@pytest.fixture(scope="module")
def mlx(wheels: Path) -> Path:
    return member(*_MLX, wheels)


def imported(library: AirLibrary, names: tuple[str, ...]) -> dict[str, str]:
    """Why kernels cannot be read into the engine, by name; every constant is 1."""
    refused = {}
    for name in names:
        needed = library.containers[0].functions[name].constants
        try:
            kernel = library.function(name, {each.index: 1 for each in needed})
            assert kernel.program().function.blocks
        except Exception as error:
            refused[name] = str(error)
    return refused


def test_all_kernels_of_a_small_library_are_imported(wheels: Path) -> None:
    folder = wheels / "executorch"
    folder.mkdir()
    library = open_library(member(*_EXECUTORCH, folder))
    assert len(library.function_names) == 164
    assert imported(library, library.function_names) == {}


def test_a_sample_of_a_large_library_is_imported(mlx: Path) -> None:
    library = open_library(mlx)
    assert len(library.function_names) == 17_248
    assert imported(library, library.function_names[::173]) == {}


Run = Callable[..., Mapping[int, np.ndarray]]


@pytest.fixture(scope="module")
def run(mlx: Path) -> Run:
    """Runs a kernel as MLX's host code does: arrays are buffers, bytes are constants."""
    device = Metal.MTLCreateSystemDefaultDevice()
    library, error = device.newLibraryWithURL_error_(mlx, None)
    assert library is not None, error.localizedDescription()
    queue = device.newCommandQueue()

    def state_of(name: str, constants: Mapping[int, bool]) -> Any:
        values = Metal.MTLFunctionConstantValues.alloc().init()
        for index, value in constants.items():
            raw = np.bool_(value).tobytes()
            values.setConstantValue_type_atIndex_(raw, Metal.MTLDataTypeBool, index)
        make = library.newFunctionWithName_constantValues_error_
        function, error = make(name, values, None)
        assert function is not None, error.localizedDescription()
        state, error = device.newComputePipelineStateWithFunction_error_(function, None)
        assert state is not None, error.localizedDescription()
        return state

    def run(
        name: str,
        given: Mapping[int, np.ndarray | bytes],
        groups: tuple[int, int, int],
        group: tuple[int, int, int],
        constants: Mapping[int, bool] | None = None,
    ) -> Mapping[int, np.ndarray]:
        commands = queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(state_of(name, constants or {}))
        buffers = {}
        for index, value in given.items():
            if isinstance(value, bytes):
                encoder.setBytes_length_atIndex_(value, len(value), index)
                continue
            buffer = device.newBufferWithBytes_length_options_(value, value.nbytes, 0)
            buffers[index] = (buffer, value)
            encoder.setBuffer_offset_atIndex_(buffer, 0, index)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, group)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.status() == Metal.MTLCommandBufferStatusCompleted, commands.error()
        return {
            index: np.frombuffer(buffer.contents().as_buffer(value.nbytes), value.dtype).reshape(
                value.shape
            )
            for index, (buffer, value) in buffers.items()
        }

    return run


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def i32(value: int) -> bytes:
    return struct.pack("<i", value)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


def f32(value: float) -> bytes:
    return struct.pack("<f", value)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_rms_norm_and_softmax(run: Run) -> None:
    x, w = drawn(5, 1000), drawn(1000)
    given = {0: x, 1: w, 2: np.zeros_like(x), 3: f32(1e-5), 4: i32(1000), 5: i32(1)}
    found = run("rmsfloat32", given, (5, 1, 1), (256, 1, 1))[2]
    mean = (x.astype(np.float64) ** 2).mean(-1, keepdims=True)
    np.testing.assert_allclose(found, x / np.sqrt(mean + 1e-5) * w, atol=2e-6)
    given = {0: x, 1: np.zeros_like(x), 2: i32(1000)}
    found = run("block_softmax_float32", given, (5, 1, 1), (256, 1, 1))[1]
    np.testing.assert_allclose(found, softmax(x), rtol=1e-5, atol=1e-8)


def test_a_product_of_ragged_matrices(run: Run) -> None:
    m, n, k = 70, 50, 90
    a, b = drawn(m, k), drawn(k, n)
    groups = (-(-n // 32), -(-m // 32), 1)
    sizes = (m, n, k, k, n, n, groups[0], groups[1], m * k, k * n, m * n, 0, k // 16, 1)
    given = {
        0: a,
        1: b,
        3: np.zeros((m, n), np.float32),
        4: struct.pack("<8i3q3i4x", *sizes),
        6: i32(1),
        7: bytes(16),
    }
    name = "steel_gemm_fused_nn_float32_float32_bm32_bn32_bk16_wm2_wn2"
    constants = dict.fromkeys((10, 100, 110, 200, 201, 202), False)
    found = run(name, given, groups, (32, 2, 2), constants)[3]
    np.testing.assert_allclose(found, a.astype(np.float64) @ b, atol=3e-5)


def test_attention_of_one_query(run: Run) -> None:
    heads, keys, width = 4, 37, 64
    q, k, v = drawn(heads, 1, width), drawn(heads, keys, width), drawn(heads, width, keys)
    v = np.ascontiguousarray(v.transpose(0, 2, 1))
    given = {
        0: q,
        1: k,
        2: v,
        3: np.zeros_like(q),
        4: i32(1),
        5: i32(keys),
        6: u64(keys * width),
        7: u64(width),
        8: u64(keys * width),
        9: u64(width),
        10: f32(width**-0.5),
    }
    constants = dict.fromkeys(range(20, 26), False)
    found = run("sdpa_vector_float_64_64", given, (heads, 1, 1), (1024, 1, 1), constants)[3]
    scores = softmax(np.einsum("hqd,hkd->hqk", q, k) * width**-0.5)
    np.testing.assert_allclose(found, np.einsum("hqk,hkd->hqd", scores, v), atol=2e-6)


def test_a_product_with_weights_of_four_bits(run: Run) -> None:
    rows, columns, group = 24, 512, 64
    random = np.random.default_rng(3)
    codes = random.integers(0, 16, (rows, columns))
    scales, biases = drawn(rows, columns // group), drawn(rows + 1, columns // group)[1:]
    shifts = 4 * np.arange(8, dtype=np.uint32)
    words = (codes.reshape(rows, -1, 8).astype(np.uint32) << shifts).sum(-1).astype(np.uint32)
    x = drawn(columns)
    given = {
        0: words,
        1: scales,
        2: np.ascontiguousarray(biases),
        3: x,
        4: np.zeros(rows, np.float32),
        5: i32(columns),
        6: i32(rows),
    }
    name = "affine_qmv_float_gs_64_b_4_batch_0_pr_0_hgs_0_r_4"
    found = run(name, given, (1, rows // 8, 1), (32, 2, 1))[4]
    weights = codes * scales.repeat(group, 1) + biases.repeat(group, 1)
    np.testing.assert_allclose(found, weights @ x.astype(np.float64), rtol=1e-4, atol=1e-3)
