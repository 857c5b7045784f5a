// Kernels that declare more threadgroup memory than there is.
#include <metal_stdlib>
using namespace metal;

//! [kernel.one_large_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void one_large_array(device float* y,  // BUG threadgroup-memory
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8193];
  tile[t] = 1.0f;
  y[t] = tile[t];
}

//! [kernel.two_arrays]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void two_arrays(device float* y,  // BUG threadgroup-memory
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[4096], right[4100];
  left[t] = 1.0f;
  right[t] = 2.0f;
  y[t] = left[t] + right[t];
}

//! [kernel.double_buffers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void double_buffers(device float* y,  // BUG threadgroup-memory
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[2][64][33];
  threadgroup float right[2][64][33];
  left[0][0][t] = 1.0f;
  right[1][1][t] = 2.0f;
  y[t] = left[0][0][t] + right[1][1][t];
}

//! [kernel.vectors]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void vectors(device float* y,  // BUG threadgroup-memory
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float4 tile[2049];
  tile[t] = float4(1.0f);
  y[t] = tile[t].x;
}

//! [kernel.vectors_of_three_are_as_large_as_of_four]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void vectors_of_three_are_as_large_as_of_four(device float* y,  // BUG threadgroup-memory
                                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float3 tile[2100];
  tile[t] = float3(1.0f);
  y[t] = tile[t].x;
}

//! [kernel.structures]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void structures(device float* y,  // BUG threadgroup-memory
                       uint t [[thread_position_in_threadgroup]]) {
  struct Node {
    float value;
    uint children[4];
  };
  threadgroup Node nodes[1639];
  nodes[t].value = 1.0f;
  y[t] = nodes[t].value;
}

//! [kernel.halves]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float16", shape = [32], fill = "uninitialised" }
kernel void halves(device half* y,  // BUG threadgroup-memory
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup half tile[128][130];
  tile[0][t] = 1.0h;
  y[t] = tile[0][t];
}

//! [kernel.bins_of_each_thread]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void bins_of_each_thread(device uint* y,  // BUG threadgroup-memory
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint bins[33][256];
  bins[t][0] = t;
  y[t] = bins[t][0];
}
