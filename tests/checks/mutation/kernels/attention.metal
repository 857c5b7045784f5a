// Attention without exponentials: keys and values pass through threadgroup memory in tiles.
#include <metal_stdlib>
using namespace metal;

//! [kernel.attention]
//! threads = [64]
//! threadgroup = [64]
//! arguments.q = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.k = { dtype = "float32", shape = [128], fill = "random" }
//! arguments.v = { dtype = "float32", shape = [128], fill = "random" }
//! arguments.o = { dtype = "float32", shape = [256], fill = "uninitialised" }
//! arguments.count = 32
kernel void attention(device const float4* q, device const float4* k, device const float4* v,
                      device float4* o, constant uint& count,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float4 keys[8];
  threadgroup float4 values[8];
  float4 query = q[t];
  float most = -1.0e30f;
  float sum = 0.0f;
  float4 result = float4(0.0f);
  for (uint start = 0; start < count; start += 8) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 8) {
      keys[t] = k[start + t];
    }
    if (t >= 56) {
      values[t - 56] = v[start + t - 56];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 8; ++j) {
      float score = dot(query, keys[j]);
      float scale = score > most ? 0.5f : 1.0f;
      sum = sum * scale + score;
      result = result * scale + values[j] * score;
      most = max(most, score);
    }
  }
  o[t] = result / sum;
}
