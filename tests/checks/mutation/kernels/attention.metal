// Attention in integers: keys and values pass through threadgroup memory in tiles.
#include <metal_stdlib>
using namespace metal;

//! [kernel.attention]
//! threads = [64]
//! threadgroup = [64]
//! arguments.q = { dtype = "int32", shape = [128], fill = "random" }
//! arguments.k = { dtype = "int32", shape = [32], fill = "random" }
//! arguments.v = { dtype = "int32", shape = [32], fill = "random" }
//! arguments.o = { dtype = "int32", shape = [128], fill = "uninitialised" }
//! arguments.count = 16
kernel void attention(device const int2* q, device const int2* k, device const int2* v,
                      device int2* o, constant uint& count,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup int2 keys[8];
  threadgroup int2 values[8];
  int2 query = q[t];
  int most = -1000000000;
  int sum = 0;
  int2 result = int2(0);
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
      int score = query.x * keys[j].x + query.y * keys[j].y;
      int scale = score > most ? 3 : 1;
      sum = sum * scale + score;
      result = result * scale + values[j] * score;
      most = max(most, score);
    }
  }
  o[t] = result ^ sum;
}
