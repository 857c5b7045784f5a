// Threads read texels that they wrote themselves, without a fence.
#include <metal_stdlib>
using namespace metal;

//! [kernel.written_and_read]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void written_and_read(texture2d<float, access::read_write> image, device float* y,
                             uint2 p [[thread_position_in_grid]]) {
  image.write(float4(p.x), p); // WITH
  y[p.y * 8 + p.x] = image.read(p).x; // BUG texture-not-fenced
}

//! [kernel.steps_in_place]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void steps_in_place(texture2d<float, access::read_write> image, device float* y,
                           uint2 p [[thread_position_in_grid]]) {
  for (uint k = 0; k < 3; ++k) {
    float4 value = image.read(p); // BUG texture-not-fenced
    image.write(value * 0.5f + 1.0f, p); // WITH
  }
  y[p.y * 8 + p.x] = 1.0f;
}

//! [kernel.line_of_texels]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void line_of_texels(texture1d<float, access::read_write> image, device float* y,
                           uint2 p [[thread_position_in_grid]]) {
  uint i = p.y * 8 + p.x;
  image.write(float4(i), i); // WITH
  y[i] = image.read(i).x; // BUG texture-not-fenced
}

//! [kernel.fence_too_early]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void fence_too_early(texture2d<float, access::read_write> image, device float* y,
                            uint2 p [[thread_position_in_grid]]) {
  image.fence();
  image.write(float4(2.0f), p); // WITH
  if (p.x & 1)
    y[p.y * 8 + p.x] = image.read(p).x; // BUG texture-not-fenced
}

//! [kernel.barrier_of_other_memory]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void barrier_of_other_memory(texture2d<float, access::read_write> image, device float* y,
                                    uint2 p [[thread_position_in_grid]]) {
  image.write(float4(p.y), p); // WITH
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[p.y * 8 + p.x] = image.read(p).x; // BUG texture-not-fenced
}
