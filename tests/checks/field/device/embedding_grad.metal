// Source: https://github.com/pytorch/pytorch/pull/187109
// Gradients of repeated tokens are added to the same row by load and store.
#include <metal_stdlib>
using namespace metal;

//! [kernel.embedding_grad]
//! threads = [8, 32]
//! threadgroup = [8, 4]
//! arguments.grad = { shape = [32, 8], dtype = "float32", fill = "ones" }
//! arguments.token = { shape = 32, dtype = "int32", fill = 5 }
//! arguments.weight = { shape = [16, 8], dtype = "float32", fill = "zeros" }
kernel void embedding_grad(device const float* grad, constant int* token, device float* weight,
                           uint2 p [[thread_position_in_grid]]) {
    device float* cell = weight + token[p.y] * 8 + p.x;
    const float g = grad[p.y * 8 + p.x];
#ifdef FIXED
    atomic_fetch_add_explicit((device atomic_float*)cell, g, memory_order_relaxed);
#else
    *cell = *cell + g;  // BUG race-read-write|race-write-write
#endif
}
