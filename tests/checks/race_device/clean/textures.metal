// Textures that are written and read, with a fence where it is needed.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fence_between]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void fence_between(texture2d<float, access::read_write> image, device float* y,
                          uint2 p [[thread_position_in_grid]]) {
  image.write(float4(p.x), p);
  image.fence();
  y[p.y * 8 + p.x] = image.read(p).x;
}

//! [kernel.fence_in_each_step]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void fence_in_each_step(texture2d<float, access::read_write> image, device float* y,
                               uint2 p [[thread_position_in_grid]]) {
  for (uint k = 0; k < 3; ++k) {
    float4 value = image.read(p);
    image.write(value * 0.5f + 1.0f, p);
    image.fence();
  }
  y[p.y * 8 + p.x] = 1.0f;
}

//! [kernel.read_before]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void read_before(texture2d<float, access::read_write> image, device float* y,
                        uint2 p [[thread_position_in_grid]]) {
  float value = image.read(p).x;
  image.write(float4(value + 1.0f), p);
  y[p.y * 8 + p.x] = value;
}

//! [kernel.barrier_of_textures]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void barrier_of_textures(texture2d<float, access::read_write> image, device float* y,
                                uint2 p [[thread_position_in_grid]]) {
  image.write(float4(p.x), p);
  threadgroup_barrier(mem_flags::mem_texture);
  y[p.y * 8 + p.x] = image.read(p).x;
}

//! [kernel.each_its_two_texels]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void each_its_two_texels(texture2d<float, access::read_write> image, device float* y,
                                uint2 p [[thread_position_in_grid]]) {
  uint2 left = uint2(p.x / 2, p.y), right = uint2(4 + p.x / 2, p.y);
  if (p.x & 1)
    return;
  image.write(float4(1.0f), left);
  y[p.y * 8 + p.x] = image.read(right).x;
}
