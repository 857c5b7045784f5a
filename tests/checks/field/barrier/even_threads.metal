// Source: https://github.com/tile-ai/tilelang/issues/1026
// A generated barrier stands inside the branch that only even threads take.
#include <metal_stdlib>
using namespace metal;

//! [kernel.even_threads]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
kernel void even_threads(device float* x, uint tx [[thread_position_in_threadgroup]]) {
    threadgroup float shared_mem[32];
    shared_mem[tx] = x[tx];
    if (tx % 2 == 0) {
        float a = shared_mem[tx];
#ifndef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
#endif
        shared_mem[tx] = a * 2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    x[tx] = shared_mem[tx ^ 1];
}
