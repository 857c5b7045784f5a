"""Kernels on half and 8-bit numbers in MSL, and the same work for IREE's CPU backend."""

from __future__ import annotations

MSL = """
#include <metal_stdlib>
using namespace metal;

kernel void half_gemm(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                      device float* c [[buffer(2)]], constant uint& n [[buffer(3)]],
                      uint2 position [[thread_position_in_grid]],
                      uint2 local [[thread_position_in_threadgroup]]) {
    threadgroup half tile_a[16][16];
    threadgroup half tile_b[16][16];
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        tile_a[local.y][local.x] = a[position.y * n + k + local.x];
        tile_b[local.y][local.x] = b[(k + local.y) * n + position.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 16; i++) sum += float(tile_a[local.y][i]) * float(tile_b[i][local.x]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[position.y * n + position.x] = sum;
}

struct Shape {
    uint width, inputs, outputs;  // of the result in pixels, channels
};

// 3x3, NHWC, weights as rows of output channels; a thread has one of these at four pixels of a row.
kernel void conv_int8(device const char* image [[buffer(0)]],
                      device const char* filter [[buffer(1)]], device int* to [[buffer(2)]],
                      constant Shape& shape [[buffer(3)]],
                      uint3 position [[thread_position_in_grid]]) {
    const uint channel = position.x, column = position.y * 4, row = position.z;
    int sums[4] = {0, 0, 0, 0};
    for (uint ky = 0; ky < 3; ky++) {
        for (uint kx = 0; kx < 3; kx++) {
            device const char* from =
                image + ((row + ky) * (shape.width + 2) + column + kx) * shape.inputs;
            device const char* by = filter + (ky * 3 + kx) * shape.inputs * shape.outputs + channel;
            for (uint i = 0; i < shape.inputs; i++) {
                const int weight = by[i * shape.outputs];
                for (uint p = 0; p < 4; p++) sums[p] += weight * from[p * shape.inputs + i];
            }
        }
    }
    for (uint p = 0; p < 4; p++) {
        to[((row * shape.width) + column + p) * shape.outputs + channel] = sums[p];
    }
}

// The same with a channel's weights together, as OHWI: four inputs at once, a thread per result.
kernel void conv_int8x4(device const char4* image [[buffer(0)]],
                        device const char4* filter [[buffer(1)]], device int* to [[buffer(2)]],
                        constant Shape& shape [[buffer(3)]],
                        uint3 position [[thread_position_in_grid]]) {
    const uint channel = position.x, column = position.y, row = position.z;
    const uint deep = shape.inputs / 4;
    int sum = 0;
    for (uint ky = 0; ky < 3; ky++) {
        for (uint kx = 0; kx < 3; kx++) {
            device const char4* from =
                image + ((row + ky) * (shape.width + 2) + column + kx) * deep;
            device const char4* by = filter + (channel * 9 + ky * 3 + kx) * deep;
            for (uint i = 0; i < deep; i++) {
                const int4 products = int4(from[i]) * int4(by[i]);
                sum += products.x + products.y + products.z + products.w;
            }
        }
    }
    to[(row * shape.width + column) * shape.outputs + channel] = sum;
}
"""

_PRODUCT = """
func.func @main(%a: tensor<{n}x{n}xf16>, %b: tensor<{n}x{n}xf16>) -> tensor<{n}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}x{n}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{n}x{n}xf16>, tensor<{n}x{n}xf16>)
      outs(%start : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  return %c : tensor<{n}x{n}xf32>
}}
"""

_CONVOLUTION = """
!image = tensor<1x{padded}x{padded}x{channels}xi8>
!filter = tensor<{filter}xi8>
!result = tensor<1x{width}x{width}x{channels}xi32>
func.func @main(%image: !image, %filter: !filter) -> !result {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : !result
  %start = linalg.fill ins(%zero : i32) outs(%empty : !result) -> !result
  %result = linalg.conv_2d_nhwc_{layout}
      {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
      ins(%image, %filter : !image, !filter) outs(%start : !result) -> !result
  return %result : !result
}}
"""

# Scales and quants lie apart here, which suits a CPU: IREE has no type for blocks.
_Q8 = """
func.func @main(%q: tensor<{n}x{b}x32xi8>, %d: tensor<{n}x{b}xf16>, %x: tensor<{b}x32xf32>)
    -> tensor<{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}xf32>) -> tensor<{n}xf32>
  %y = linalg.generic {{indexing_maps = [
      affine_map<(r, b, i) -> (r, b, i)>, affine_map<(r, b, i) -> (r, b)>,
      affine_map<(r, b, i) -> (b, i)>, affine_map<(r, b, i) -> (r)>],
      iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%q, %d, %x : tensor<{n}x{b}x32xi8>, tensor<{n}x{b}xf16>, tensor<{b}x32xf32>)
      outs(%start : tensor<{n}xf32>) {{
    ^bb0(%quant: i8, %scale: f16, %other: f32, %sum: f32):
      %whole = arith.sitofp %quant : i8 to f32
      %wide = arith.extf %scale : f16 to f32
      %weight = arith.mulf %whole, %wide : f32
      %product = arith.mulf %weight, %other : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  }} -> tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}
"""

_Q4 = """
func.func @main(%q: tensor<{n}x{b}x16xi8>, %d: tensor<{n}x{b}xf16>, %x: tensor<{b}x16xf32>,
                %z: tensor<{b}x16xf32>) -> tensor<{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}xf32>) -> tensor<{n}xf32>
  %y = linalg.generic {{indexing_maps = [
      affine_map<(r, b, i) -> (r, b, i)>, affine_map<(r, b, i) -> (r, b)>,
      affine_map<(r, b, i) -> (b, i)>, affine_map<(r, b, i) -> (b, i)>,
      affine_map<(r, b, i) -> (r)>], iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%q, %d, %x, %z : tensor<{n}x{b}x16xi8>, tensor<{n}x{b}xf16>, tensor<{b}x16xf32>,
          tensor<{b}x16xf32>) outs(%start : tensor<{n}xf32>) {{
    ^bb0(%quants: i8, %scale: f16, %first: f32, %second: f32, %sum: f32):
      %mask = arith.constant 15 : i8
      %four = arith.constant 4 : i8
      %eight = arith.constant 8.0 : f32
      %low = arith.andi %quants, %mask : i8
      %high = arith.shrui %quants, %four : i8
      %one = arith.uitofp %low : i8 to f32
      %two = arith.uitofp %high : i8 to f32
      %centred = arith.subf %one, %eight : f32
      %other = arith.subf %two, %eight : f32
      %left = arith.mulf %centred, %first : f32
      %right = arith.mulf %other, %second : f32
      %both = arith.addf %left, %right : f32
      %wide = arith.extf %scale : f16 to f32
      %product = arith.mulf %both, %wide : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  }} -> tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}
"""


def product(size: int) -> str:
    """MLIR of a product of two square matrices of half, sums in f32."""
    return _PRODUCT.format(n=size)


def convolution(width: int, channels: int, *, rows: bool) -> str:
    """MLIR of a 3x3 convolution of int8 without padding, `width` pixels each way.

    Weights of a result's channel lie together if they are in `rows`, those of a place otherwise.
    """
    return _CONVOLUTION.format(
        width=width,
        padded=width + 2,
        channels=channels,
        filter=f"{channels}x3x3x{channels}" if rows else f"3x3x{channels}x{channels}",
        layout="fhwc" if rows else "hwcf",
    )


def q8(size: int) -> str:
    """MLIR of a square matrix in Q8_0 times a vector."""
    return _Q8.format(n=size, b=size // 32)


def q4(size: int) -> str:
    """MLIR of a square matrix in Q4_0 times a vector, whose halves of blocks lie apart."""
    return _Q4.format(n=size, b=size // 32)
