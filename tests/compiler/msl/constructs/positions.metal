#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* o, uint3 a [[thread_position_in_grid]],
              ushort3 b [[thread_position_in_threadgroup]],
              uint2 c [[threadgroup_position_in_grid]], ushort2 d [[threads_per_threadgroup]],
              uint e [[thread_index_in_threadgroup]], ushort f [[thread_index_in_simdgroup]],
              uint g [[simdgroup_index_in_threadgroup]], ushort h [[simdgroups_per_threadgroup]],
              uint j [[threads_per_simdgroup]], uint l [[thread_index_in_quadgroup]],
              uint m [[quadgroup_index_in_threadgroup]], uint3 nn [[threads_per_grid]],
              uint3 p [[threadgroups_per_grid]], ushort q [[thread_execution_width]],
              uint3 r [[dispatch_threads_per_threadgroup]],
              uint s [[dispatch_simdgroups_per_threadgroup]], uint t [[quadgroups_per_threadgroup]],
              uint uu [[dispatch_quadgroups_per_threadgroup]], uint3 v [[grid_origin]],
              uint3 w [[grid_size]]) {
  o[a.x] =
      b.x + c.y + d.x + e + f + g + h + j + l + m + nn.x + p.z + q + r.x + s + t + uu + v.x + w.y;
}
