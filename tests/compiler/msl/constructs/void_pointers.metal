#include <metal_stdlib>
using namespace metal;

kernel void k(device void* p [[buffer(0)]], constant void* q [[buffer(1)]],
              device const char* c [[buffer(2)]], device atomic_uint& cnt [[buffer(3)]],
              constant uint& n [[buffer(4)]], constant float4x4& m [[buffer(5)]],
              device float4* o [[buffer(6)]]) {
  device float* f = (device float*)p;
  f[0] = ((constant float*)q)[1] + c[0] + n;
  atomic_fetch_add_explicit(&cnt, 1u, memory_order_relaxed);
  o[0] = m * o[1];
}
