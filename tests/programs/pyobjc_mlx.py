"""Runs kernels of MLX's compiled library as MLX's host code does: `pyobjc_mlx.py mlx.metallib`."""

import struct
import sys

import Foundation
import Metal
import numpy as np

GEMM = "steel_gemm_fused_nn_float32_float32_bm32_bn32_bk16_wm2_wn2"


class Kernels:
    def __init__(self, path):
        self.device = Metal.MTLCreateSystemDefaultDevice()
        url = Foundation.NSURL.fileURLWithPath_(path)
        self.library, error = self.device.newLibraryWithURL_error_(url, None)
        if self.library is None:
            raise SystemExit(error.localizedDescription())
        self.queue = self.device.newCommandQueue()

    def pipeline(self, name, constants):
        values = Metal.MTLFunctionConstantValues.alloc().init()
        for index, value in constants.items():
            raw = struct.pack("?", value)
            values.setConstantValue_type_atIndex_(raw, Metal.MTLDataTypeBool, index)
        function, error = self.library.newFunctionWithName_constantValues_error_(name, values, None)
        if function is None:
            raise SystemExit(error.localizedDescription())
        state, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
        if state is None:
            raise SystemExit(error.localizedDescription())
        return state

    def run(self, name, given, result, groups, group, constants=None):
        """What a kernel leaves in argument `result`: arrays are buffers, bytes are constants."""
        commands = self.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(self.pipeline(name, constants or {}))
        buffers = {}
        for index, value in given.items():
            if isinstance(value, bytes):
                encoder.setBytes_length_atIndex_(value, len(value), index)
                continue
            buffers[index] = self.device.newBufferWithBytes_length_options_(
                value.tobytes(), value.nbytes, Metal.MTLResourceStorageModeShared
            )
            encoder.setBuffer_offset_atIndex_(buffers[index], 0, index)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            Metal.MTLSizeMake(*groups), Metal.MTLSizeMake(*group)
        )
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        if commands.error() is not None:
            raise SystemExit(commands.error().localizedDescription())
        room = given[result]
        contents = buffers[result].contents().as_buffer(room.nbytes)
        return np.frombuffer(contents, room.dtype).reshape(room.shape)


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def i32(*values):
    return struct.pack(f"<{len(values)}i", *values)


def told(name, found, expected, tolerance):
    print(f"{name} is right: {np.allclose(found, expected, rtol=tolerance, atol=tolerance)}")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms_norm(kernels):
    x, w = drawn(5, 1000), drawn(1000)
    given = {0: x, 1: w, 2: np.zeros_like(x), 3: struct.pack("<f", 1e-5), 4: i32(1000), 5: i32(1)}
    mean = (x.astype(np.float64) ** 2).mean(-1, keepdims=True)
    found = kernels.run("rmsfloat32", given, 2, (5, 1, 1), (256, 1, 1))
    told("rms_norm", found, x / np.sqrt(mean + 1e-5) * w, 1e-5)


def softmax_of_rows(kernels):
    x = drawn(5, 1000)
    given = {0: x, 1: np.zeros_like(x), 2: i32(1000)}
    found = kernels.run("block_softmax_float32", given, 1, (5, 1, 1), (256, 1, 1))
    told("softmax", found, softmax(x.astype(np.float64)), 1e-5)


def product(kernels):
    m, n, k = 70, 50, 90
    a, b = drawn(m, k), drawn(k, n)
    tiles = (-(-n // 32), -(-m // 32))
    sizes = (m, n, k, k, n, n, *tiles, m * k, k * n, m * n, 0, k // 16, 1)
    given = {0: a, 1: b, 3: np.zeros((m, n), np.float32), 6: i32(1), 7: bytes(16)}
    given[4] = struct.pack("<8i3q3i4x", *sizes)
    constants = dict.fromkeys((10, 100, 110, 200, 201, 202), False)
    found = kernels.run(GEMM, given, 3, (*tiles, 1), (32, 2, 2), constants)
    told("steel_gemm", found, a.astype(np.float64) @ b, 5e-5)


def attention(kernels):
    heads, keys, width = 4, 37, 64
    q, k, v = drawn(heads, 1, width), drawn(heads, keys, width), drawn(heads + 1, keys, width)[1:]
    strides = {at: struct.pack("<Q", size) for at, size in {6: keys * width, 7: width}.items()}
    strides |= {8: strides[6], 9: strides[7]}
    given = {0: q, 1: k, 2: v, 3: np.zeros_like(q), 4: i32(1), 5: i32(keys), **strides}
    given[10] = struct.pack("<f", width**-0.5)
    constants = dict.fromkeys(range(20, 26), False)
    name = "sdpa_vector_float_64_64"
    found = kernels.run(name, given, 3, (heads, 1, 1), (1024, 1, 1), constants)
    scores = softmax(np.einsum("hqd,hkd->hqk", q.astype(np.float64), k) * width**-0.5)
    told("sdpa_vector", found, np.einsum("hqk,hkd->hqd", scores, v), 1e-5)


def quantised(kernels):
    rows, columns, group = 24, 512, 64
    codes = np.random.default_rng(3).integers(0, 16, (rows, columns))
    words = (codes.reshape(rows, -1, 8) << 4 * np.arange(8)).sum(-1).astype(np.uint32)
    scales, biases = drawn(rows, columns // group), drawn(rows + 1, columns // group)[1:]
    x = drawn(columns)
    given = {0: words, 1: scales, 2: biases, 3: x, 4: np.zeros(rows, np.float32)}
    given |= {5: i32(columns), 6: i32(rows)}
    name = "affine_qmv_float_gs_64_b_4_batch_0_pr_0_hgs_0_r_4"
    found = kernels.run(name, given, 4, (1, rows // 8, 1), (32, 2, 1))
    weights = codes * scales.repeat(group, 1) + biases.repeat(group, 1)
    told("qmv", found, weights @ x.astype(np.float64), 1e-3)


if __name__ == "__main__":
    library = Kernels(sys.argv[1])
    for each in (rms_norm, softmax_of_rows, product, attention, quantised):
        each(library)
