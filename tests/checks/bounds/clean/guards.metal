// Guards that keep every access inside.
#include <metal_stdlib>
using namespace metal;

//! [kernel.guarded]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void guarded(device const float* x, device float* y, constant uint& n,
                    uint i [[thread_position_in_grid]]) {
  if (i < n) {
    y[i] = x[i];
  }
}

//! [kernel.early_return]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void early_return(device const float* x, device float* y, constant uint& n,
                         uint i [[thread_position_in_grid]]) {
  if (i >= n) {
    return;
  }
  y[i] = x[i];
}

//! [kernel.zero_outside]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 100
kernel void zero_outside(device const float* x, device float* y, constant uint& n,
                         uint i [[thread_position_in_grid]]) {
  y[i] = i < n ? x[i] : 0.0f;
}

//! [kernel.short_circuit]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 100
kernel void short_circuit(device const float* x, device float* y, constant uint& n,
                          uint i [[thread_position_in_grid]]) {
  y[i] = i < n && x[i] > 3.0f ? 1.0f : 0.0f;
}

//! [kernel.clamped_neighbours]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void clamped_neighbours(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  y[i] = x[max(int(i) - 1, 0)] + x[min(i + 1, 63u)];
}

//! [kernel.ring]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void ring(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[(i + 1) & 63] + x[(i - 1) & 63];
}

//! [kernel.edge_threadgroups]
//! threads = [20, 20]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [400], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [400], fill = "uninitialised" }
kernel void edge_threadgroups(device const float* x, device float* y,
                              uint2 i [[thread_position_in_grid]]) {
  y[i.y * 20 + i.x] = x[i.x * 20 + i.y];
}

//! [kernel.whole_threadgroups_with_guard]
//! threadgroups = [3, 3]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [400], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [400], fill = "uninitialised" }
//! arguments.n = 20
kernel void whole_threadgroups_with_guard(device const float* x, device float* y,
                                          constant uint& n, uint2 i [[thread_position_in_grid]]) {
  if (i.x < n && i.y < n) {
    y[i.y * n + i.x] = x[i.x * n + i.y];
  }
}

//! [kernel.last_vector_element_by_element]
//! threads = [25]
//! threadgroup = [25]
//! arguments.x = { dtype = "float32", shape = [97], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [97], fill = "uninitialised" }
//! arguments.n = 97
kernel void last_vector_element_by_element(device const float* x, device float* y,
                                           constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i * 4 + 4 <= n) {
    ((device float4*)y)[i] = ((device const float4*)x)[i];
  } else {
    for (uint k = i * 4; k < n; ++k) {
      y[k] = x[k];
    }
  }
}
