// Asynchronous copies that are waited for.
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_tile(ulong, ulong, threadgroup void*, ulong, ulong, ulong2,
                                     const device void*, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* copy_line(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

//! [kernel.waited_by_its_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void waited_by_its_simdgroup(const device float* x, device float* y,
                                    uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  if (t < 32) {
    thread _simdgroup_event_t* done = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0);
    wait(1, &done);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}

//! [kernel.other_memory_meanwhile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void other_memory_meanwhile(const device float* x, device float* y,
                                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0);
  tile[t + 64] = x[t + 64];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t + 64] = tile[t + 64];
  wait(1, &done);
  y[t] = tile[t];
}

//! [kernel.source_read_meanwhile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void source_read_meanwhile(const device float* x, device float* y,
                                  uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0);
  float own = x[t];
  wait(1, &done);
  y[t] = own + tile[31 - t];
}

//! [kernel.stored_at_the_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void stored_at_the_end(const device float* x, device float* y,
                              uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  tile[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  copy_line(4, 4, y, tile, 32);
}

//! [kernel.two_copies_and_one_wait]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void two_copies_and_one_wait(const device float* x, device float* y,
                                    uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done[2];
  done[0] = copy_tile(4, 4, tile, 8, 1, ulong2(8, 8), x, 8, 1, ulong2(8, 8), long2(0), 0);
  done[1] = copy_tile(4, 4, tile + 64, 8, 1, ulong2(8, 8), x + 64, 8, 1, ulong2(8, 8), long2(0),
                      0);
  wait(2, done);
  y[t] = tile[t] + tile[t + 64];
}

thread _simdgroup_event_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");

//! [kernel.copied_again_after_the_wait]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void copied_again_after_the_wait(const device float* x, device float* y,
                                        uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  for (int i = 0; i < 3; i++) {
    thread _simdgroup_event_t* done = copy_in(4, 4, tile, x + 32 * i, 64);
    wait(1, &done);
  }
  y[t] = tile[t];
}

//! [kernel.the_source_of_two_copies]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void the_source_of_two_copies(const device float* x, device float* y,
                                     uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done[2];
  done[0] = copy_in(4, 4, tile, x, 64);
  done[1] = copy_in(4, 4, tile + 64, x, 64);
  wait(2, done);
  y[t] = tile[t] + tile[t + 64];
}

//! [kernel.the_same_copied_twice]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void the_same_copied_twice(const device float* x, device float* y,
                                  uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[128];
  thread _simdgroup_event_t* done[2];
  done[0] = copy_in(4, 4, tile, x, 64);
  done[1] = copy_in(4, 4, tile, x, 64);
  wait(2, done);
  y[t] = tile[t];
}
