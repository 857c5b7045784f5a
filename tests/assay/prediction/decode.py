"""One decoding step of a network of LLaMA-2-7B's shape, as a program for the emulated device.

Weights are buffers of their own for each layer, as caches would see them, but all layers share
their bytes: only sizes and addresses matter to time, and one layer fits into memory.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from assay.hal.metal import emulated as metal

WIDTH, HIDDEN, VOCABULARY, LAYERS, HEADS, CONTEXT = 4096, 11008, 32000, 32, 32, 128
HEAD = WIDTH // HEADS
PAGE = 16384
WEIGHTS = {"square": WIDTH * WIDTH, "wide": HIDDEN * WIDTH, "head": VOCABULARY * WIDTH}
STATE = {
    "k": CONTEXT * WIDTH,
    "v": CONTEXT * WIDTH,
    "x": WIDTH,
    "n": WIDTH,
    "q": WIDTH,
    "o": WIDTH,
    "h": HIDDEN,
    "g": HIDDEN,
    "norm": WIDTH,
    "logits": VOCABULARY,
}
"""Halves in each buffer."""

SOURCE = """#include <metal_stdlib>
using namespace metal;

// One simdgroup makes two rows of y = W x.
kernel void gemv(device const half4* w, device const half4* x, device half* y,
                 constant uint& columns, uint group [[threadgroup_position_in_grid]],
                 uint sg [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    uint row = (group * 4 + sg) * 2, quads = columns / 4;
    float4 first = 0, second = 0;
    for (uint i = lane; i < quads; i += 32) {
        float4 v = float4(x[i]);
        first = fma(float4(w[row * quads + i]), v, first);
        second = fma(float4(w[(row + 1) * quads + i]), v, second);
    }
    float one = simd_sum(first.x + first.y + first.z + first.w);
    float two = simd_sum(second.x + second.y + second.z + second.w);
    if (lane == 0) { y[row] = half(one); y[row + 1] = half(two); }
}
kernel void rms_norm(device const half* x, device const half* weight, device half* y,
                     constant uint& n, uint t [[thread_index_in_threadgroup]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float parts[32];
    float sum = 0;
    for (uint i = t; i < n; i += 1024) sum += float(x[i]) * float(x[i]);
    sum = simd_sum(sum);
    if (lane == 0) parts[sg] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float scale = rsqrt(simd_sum(parts[lane]) / n + 1e-5f);
    for (uint i = t; i < n; i += 1024) y[i] = half(float(x[i]) * scale * float(weight[i]));
}
kernel void rope(device half* x, constant uint& position, uint i [[thread_position_in_grid]]) {
    float angle = position * exp2(-float(i % 64) / 64 * 13.2877f);
    float c = cos(angle), s = sin(angle);
    uint at = i / 64 * 128 + i % 64;
    float a = x[at], b = x[at + 64];
    x[at] = half(a * c - b * s);
    x[at + 64] = half(a * s + b * c);
}
// One threadgroup for each head: scores, softmax, weighted sum.
kernel void attention(device const half* q, device const half* k, device const half* v,
                      device half* y, constant uint& n,
                      uint head [[threadgroup_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scores[4096];
    threadgroup float parts[4];
    for (uint i = sg; i < n; i += 4) {
        float sum = 0;
        for (uint d = lane; d < 128; d += 32)
            sum += float(q[head * 128 + d]) * float(k[(i * 32 + head) * 128 + d]);
        sum = simd_sum(sum) * 0.0883883f;
        if (lane == 0) scores[i] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float most = -INFINITY;
    for (uint i = lane; i < n; i += 32) most = max(most, scores[i]);
    most = simd_max(most);
    float total = 0;
    for (uint i = t; i < n; i += 128) {
        float e = exp(scores[i] - most);
        scores[i] = e;
        total += e;
    }
    total = simd_sum(total);
    if (lane == 0) parts[sg] = total;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = parts[0] + parts[1] + parts[2] + parts[3];
    float sum = 0;
    for (uint i = 0; i < n; i++) sum += scores[i] * float(v[(i * 32 + head) * 128 + t]);
    y[head * 128 + t] = half(sum / total);
}
kernel void add(device half4* x, device const half4* y, uint i [[thread_position_in_grid]]) {
    x[i] += y[i];
}
kernel void gate(device half4* x, device const half4* y, uint i [[thread_position_in_grid]]) {
    float4 v = float4(x[i]);
    x[i] = half4(v / (1 + exp(-v)) * float4(y[i]));
}
"""


class Decoder:
    """The network on a device of its own."""

    def __init__(self) -> None:
        self._device: Any = metal.MTLDevice(metal.DeviceOptions())
        library: Any
        library, error = self._device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        self._kernels = {
            name: self._device.newComputePipelineStateWithFunction_error_(
                library.newFunctionWithName_(name), None
            )[0]
            for name in library.functionNames()
        }
        self._queue = self._device.newCommandQueue()
        self._buffers = {name: self._buffer(name) for name in (*STATE, "head")}
        self._encoder: Any = None

    def _buffer(self, kind: str) -> Any:
        # Memory of its own, as weights have; pages that nothing touches are not there.
        count = {**WEIGHTS, **STATE}[kind]
        data = mmap.mmap(-1, -(-2 * count // PAGE) * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON)
        call = self._device.newBufferWithBytesNoCopy_length_options_deallocator_
        return call(data, len(data), 0, None)

    def step(self) -> None:
        """Encode and run all dispatches for one token."""
        commands = self._queue.commandBuffer()
        self._encoder = commands.computeCommandEncoder()
        for layer in range(LAYERS):
            self._layer(layer)
        self._norm("x", "n")
        self._gemv("head", "n", "logits", VOCABULARY, WIDTH)
        self._encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        assert commands.error() is None, commands.error()

    def _layer(self, layer: int) -> None:
        kinds = {"q": "square", "k": "square", "v": "square", "o": "square"}
        kinds |= {"gate": "wide", "up": "wide", "down": "wide"}
        own = {use: f"{layer}.{use}" for use in kinds}
        for use, name in own.items():
            if name not in self._buffers:
                self._buffers[name] = self._buffer(kinds[use])
        self._norm("x", "n")
        for use, target in (("q", "q"), ("k", "o"), ("v", "h")):
            self._gemv(own[use], "n", target, WIDTH, WIDTH)
        for target in ("q", "o"):
            self._run("rope", [target], np.uint32(7), WIDTH // 2 // 256, 256)
        self._run("attention", ["q", "k", "v", "o"], np.uint32(CONTEXT), HEADS, HEAD)
        self._gemv(own["o"], "o", "n", WIDTH, WIDTH)
        self._run("add", ["x", "n"], None, WIDTH // 4 // 256, 256)
        self._norm("x", "n")
        self._gemv(own["gate"], "n", "h", HIDDEN, WIDTH)
        self._gemv(own["up"], "n", "g", HIDDEN, WIDTH)
        self._run("gate", ["h", "g"], None, HIDDEN // 4 // 64, 64)
        self._gemv(own["down"], "h", "n", WIDTH, HIDDEN)
        self._run("add", ["x", "n"], None, WIDTH // 4 // 256, 256)

    def _norm(self, source: str, target: str) -> None:
        self._run("rms_norm", [source, "norm", target], np.uint32(WIDTH), 1, 1024)

    def _gemv(self, weights: str, x: str, y: str, rows: int, columns: int) -> None:
        self._run("gemv", [weights, x, y], np.uint32(columns), rows // 8, 128)

    def _run(
        self, kernel: str, buffers: list[str], constant: np.uint32 | None, groups: int, threads: int
    ) -> None:
        encoder = self._encoder
        encoder.setComputePipelineState_(self._kernels[kernel])
        for index, name in enumerate(buffers):
            encoder.setBuffer_offset_atIndex_(self._buffers[name], 0, index)
        if constant is not None:
            encoder.setBytes_length_atIndex_(constant.tobytes(), 4, len(buffers))
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((groups, 1, 1), (threads, 1, 1))
