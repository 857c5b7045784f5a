// Barriers and fences.
#pragma once
#include "intrinsics.h"

namespace metal {
enum class mem_flags : int {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16,
  mem_device_and_threadgroup = 3,
};
__ASSAY_FN constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
__ASSAY_FN constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(int(a) & int(b)); }

enum memory_order {
  memory_order_relaxed = 0,
  memory_order_acquire = 2,
  memory_order_release = 3,
  memory_order_acq_rel = 4,
  memory_order_seq_cst = 5,
};
enum thread_scope {
  thread_scope_thread = 0,
  thread_scope_simdgroup = 4,
  thread_scope_threadgroup = 1,
  thread_scope_device = 2,
};

// Texels lie in device memory: what orders them orders that.
__ASSAY_FN constexpr int __ordered(mem_flags flags) {
  return int(flags) | ((int(flags) & int(mem_flags::mem_texture)) ? int(mem_flags::mem_device) : 0);
}
__attribute__((convergent)) __ASSAY_FN void threadgroup_barrier(
    mem_flags flags, thread_scope = thread_scope_threadgroup) {
  __assay_threadgroup_barrier(__ordered(flags));
}
__attribute__((convergent)) __ASSAY_FN void simdgroup_barrier(
    mem_flags flags, thread_scope = thread_scope_simdgroup) {
  __assay_simdgroup_barrier(__ordered(flags));
}
__ASSAY_FN void atomic_thread_fence(mem_flags flags, memory_order order,
                                    thread_scope scope = thread_scope_device) {
  __assay_fence(__ordered(flags), int(order), int(scope));
}
}  // namespace metal
