#include <metal_stdlib>
using namespace metal;

constant int N [[function_constant(0)]];
constant bool has [[function_constant(1)]];
constant bool D = is_function_constant_defined(N);
constant int M = D ? N : 4;
constant float3 q [[function_constant(7)]];
kernel void k(device float* o [[buffer(0)]], device float* opt [[buffer(1), function_constant(D)]],
              uint i [[thread_position_in_grid]]) {
  if (D)
    o[i] = opt[i];
  else
    o[i] = M;
}
