// Threadgroup memory that just fits.
#include <metal_stdlib>
using namespace metal;

//! [kernel.exactly_the_limit]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void exactly_the_limit(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8192];
  tile[t] = 1.0f;
  y[t] = tile[t];
}

//! [kernel.two_halves]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void two_halves(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[4096], right[4096];
  left[t] = 1.0f;
  right[t] = 2.0f;
  y[t] = left[t] + right[t];
}

//! [kernel.double_buffers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void double_buffers(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[2][64][32];
  threadgroup float right[2][64][32];
  left[0][0][t] = 1.0f;
  right[1][1][t] = 2.0f;
  y[t] = left[0][0][t] + right[1][1][t];
}

//! [kernel.exactly_the_limit_by_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.tile = { bytes = 32768 }
kernel void exactly_the_limit_by_argument(device float* y,
                                          threadgroup float* tile [[threadgroup(0)]],
                                          uint t [[thread_position_in_threadgroup]]) {
  tile[t] = 1.0f;
  y[t] = tile[t];
}

//! [kernel.declared_and_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.scratch = { bytes = 768 }
kernel void declared_and_argument(device float* y, threadgroup float* scratch [[threadgroup(0)]],
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8000];
  tile[t] = 1.0f;
  scratch[t] = 2.0f;
  y[t] = tile[t] + scratch[t];
}

//! [kernel.large_constant_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void large_constant_table(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[4096];
  tile[t] = float(t);
  y[t] = tile[t];
}

//! [kernel.unused_helper_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void unused_helper_memory(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup half4 tile[4096];
  tile[t] = half4(1.0h);
  y[t] = float(tile[t].w);
}

//! [kernel.bytes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint8", shape = [32], fill = "uninitialised" }
kernel void bytes(device uchar* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar tile[32768];
  tile[32767 - t] = uchar(t);
  y[t] = tile[32767 - t];
}

//! [kernel.packed_vectors_are_smaller]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void packed_vectors_are_smaller(device float* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup packed_float3 tile[2730];
  tile[t] = float3(1.0f);
  y[t] = tile[t].x;
}

//! [kernel.large_private_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void large_private_array(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  float values[64];
  for (uint k = 0; k < 64; ++k) {
    values[k] = x[k & 31];
  }
  y[t] = values[t * 2];
}
