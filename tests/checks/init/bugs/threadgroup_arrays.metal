// Threadgroup memory that is read where nobody wrote.
#include <metal_stdlib>
using namespace metal;

//! [kernel.never_written]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void never_written(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  y[t] = x[t] + tile[t]; // BUG uninitialised-read
}

//! [kernel.halo_not_filled]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void halo_not_filled(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[66];
  tile[t + 1] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t] + tile[t + 2]; // BUG uninitialised-read
}

//! [kernel.edge_tile_not_filled]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 100
kernel void edge_tile_not_filled(device const float* x, device float* y, constant uint& n,
                                 uint t [[thread_position_in_threadgroup]],
                                 uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  if (i < n) {
    tile[t] = x[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[63 - t]; // BUG uninitialised-read
}

//! [kernel.accumulators_not_zeroed]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void accumulators_not_zeroed(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sums[64];
  sums[t] += x[t]; // WITH
  sums[t] += 1.0f;
  y[t] = sums[t]; // BUG uninitialised-read
}

//! [kernel.bins_not_zeroed]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void bins_not_zeroed(device const uint* x, device uint* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  atomic_fetch_add_explicit(&bins[x[t] & 3], 1u, memory_order_relaxed); // BUG uninitialised-read
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed); // WITH
  }
}

//! [kernel.too_few_zeroed]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void too_few_zeroed(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  if (t < 32) {
    tile[t * 2] = x[t];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t]; // BUG uninitialised-read
}

//! [kernel.branch_on_a_flag_nobody_set]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void branch_on_a_flag_nobody_set(device const float* x, device float* y,
                                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint flag;
  if (x[t] < 0.0f) {
    flag = 1;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (flag != 0) { // BUG uninitialised-read
    y[t] = 1.0f;
  } else {
    y[t] = 0.0f;
  }
}

//! [kernel.scratch_argument]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 256 }
kernel void scratch_argument(device const float* x, device float* y,
                             threadgroup float* scratch [[threadgroup(0)]],
                             uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] * scratch[t]; // BUG uninitialised-read
}

//! [kernel.index_from_nowhere]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void index_from_nowhere(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint order[64];
  if (t != 7) {
    order[t] = 63 - t;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint from = order[t] & 63; // WITH
  y[t] = x[from]; // BUG uninitialised-read
}

//! [kernel.matrix_from_nowhere]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matrix_from_nowhere(device const float* a, device float* y) {
  threadgroup float tile[64];
  simdgroup_float8x8 m, n, sum;
  simdgroup_load(m, a, 8);
  simdgroup_load(n, tile, 8); // MAYBE uninitialised-read
  simdgroup_multiply(sum, m, n); // MAYBE uninitialised-read
  simdgroup_store(sum, y, 8); // BUG uninitialised-read
}
