#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(256)]] kernel void k(device float* f) {
  f[0] = 1;
}
kernel [[max_total_threads_per_threadgroup(128)]] void k2(device float* f) {
  f[0] = 1;
}
[[kernel, max_total_threads_per_threadgroup(64)]] void k3(device float* f) {
  f[0] = 1;
}
