// Threadgroup memory that the host asks for in excess.
#include <metal_stdlib>
using namespace metal;

//! [kernel.one_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.tile = { bytes = 32784 }
kernel void one_argument(  // BUG threadgroup-memory
    device float* y, threadgroup float* tile [[threadgroup(0)]],
    uint t [[thread_position_in_threadgroup]]) {
  tile[t] = 1.0f;
  y[t] = tile[t];
}

//! [kernel.two_arguments]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.left = { bytes = 16384 }
//! arguments.right = { bytes = 16400 }
kernel void two_arguments(  // BUG threadgroup-memory
    device float* y, threadgroup float* left [[threadgroup(0)]],
    threadgroup float* right [[threadgroup(1)]],
    uint t [[thread_position_in_threadgroup]]) {
  left[t] = 1.0f;
  right[t] = 2.0f;
  y[t] = left[t] + right[t];
}

//! [kernel.declared_and_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.scratch = { bytes = 1024 }
kernel void declared_and_argument(  // BUG threadgroup-memory
    device float* y, threadgroup float* scratch [[threadgroup(0)]],
    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8000];
  tile[t] = 1.0f;
  scratch[t] = 2.0f;
  y[t] = tile[t] + scratch[t];
}

//! [kernel.far_too_much]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.tile = { bytes = 100000 }
kernel void far_too_much(  // BUG threadgroup-memory
    device float* y, threadgroup float* tile [[threadgroup(0)]],
    uint t [[thread_position_in_threadgroup]]) {
  tile[t] = 1.0f;
  y[t] = tile[t];
}

//! [kernel.a_single_float_too_many]
//! threads = [64]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 32768 }
kernel void a_single_float_too_many(device float* y,  // BUG threadgroup-memory
    threadgroup float* scratch [[threadgroup(0)]],
    uint t [[thread_position_in_threadgroup]],
    uint i [[thread_position_in_grid]]) {
  threadgroup float total;
  total = 1.0f;
  scratch[t] = 2.0f;
  y[i] = total + scratch[t];
}
