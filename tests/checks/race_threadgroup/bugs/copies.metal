// Asynchronous copies that nobody waits for in time.
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_tile(ulong, ulong, threadgroup void*, ulong, ulong, ulong2,
                                     const device void*, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* copy_line(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

//! [kernel.tile_read_at_once]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void tile_read_at_once(const device float* x, device float* y,
                              uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  if (t < 32)
    copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0); // WITH
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t]; // BUG copy-not-waited
}

//! [kernel.waited_too_late]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void waited_too_late(const device float* x, device float* y,
                            uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done;
  if (t < 32)
    done = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0); // WITH
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float value = tile[t]; // BUG copy-not-waited
  if (t < 32)
    wait(1, &done);
  y[t] = value;
}

//! [kernel.source_overwritten]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void source_overwritten(const device float* x, device float* y,
                               uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  thread _simdgroup_event_t* done = copy_line(4, 4, y, tile, 32); // WITH
  tile[t] = 0.0f; // BUG copy-not-waited
  wait(1, &done);
}

//! [kernel.second_copy_not_waited]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void second_copy_not_waited(const device float* x, device float* y,
                                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0);
  wait(1, &done);
  copy_tile(4, 4, tile + 64, 8, 1, ulong2(8, 8), x + 64, 8, 1, ulong2(8, 8), long2(0), 0); // WITH
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t] + tile[t + 64]; // BUG copy-not-waited
}

//! [kernel.matrix_of_the_tile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void matrix_of_the_tile(const device float* x, device float* y,
                               uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0); // WITH
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8); // BUG copy-not-waited
  simdgroup_store(m, y, 8);
}

thread _simdgroup_event_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");

//! [kernel.copied_again_in_a_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void copied_again_in_a_loop(const device float* x, device float* y,
                                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  thread _simdgroup_event_t* done;
  for (int i = 0; i < 3; i++)
    done = copy_in(4, 4, tile, x + 32 * i, 64); // BUG copy-not-waited
  wait(1, &done);
  y[t] = tile[t];
}

//! [kernel.copied_over_another_copy]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void copied_over_another_copy(const device float* x, device float* y,
                                     uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  thread _simdgroup_event_t* done;
  if (t < 32)
    done = copy_in(4, 4, tile, x, 64); // WITH
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t >= 32)
    done = copy_in(4, 4, tile, x + 64, 64); // BUG copy-not-waited
  wait(1, &done);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}
