// Numbers that the compiler knows, up to the last that is right.
#include <metal_stdlib>
using namespace metal;

//! [kernel.private_to_its_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void private_to_its_end(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4];
  for (int j = 0; j < 4; ++j) {
    a[j] = x[(i + j) & 31];
  }
  int sum = 0;
  for (int j = 0; j < 4; ++j) {
    sum += a[j];
  }
  y[i] = sum;
}

//! [kernel.table_to_its_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
constant int weights[4] = {1, 2, 3, 4};
kernel void table_to_its_end(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int sum = x[i];
  for (int j = 0; j < 4; ++j) {
    sum += weights[j];
  }
  y[i] = sum;
}

//! [kernel.last_component_and_column]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void last_component_and_column(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int4 v = int4(x[i]);
  float2x2 m = float2x2(float(x[i]));
  y[i] = v[3] + int(m[1][1]);
}

//! [kernel.one_behind_the_end_is_not_read]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void one_behind_the_end_is_not_read(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4] = {x[i], 1, 2, 3};
  int sum = 0;
  for (thread int* p = a; p != a + 4; ++p) {
    sum += *p;
  }
  y[i] = sum;
}

//! [kernel.rows_run_into_one_another]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void rows_run_into_one_another(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[2][3] = {{x[i], 1, 2}, {3, 4, 5}};
  thread int* flat = &a[0][0];
  y[i] = flat[5];
}

//! [kernel.two_arrays_through_one_pointer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void two_arrays_through_one_pointer(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4] = {x[i], 1, 2, 3};
  int b[8] = {};
  thread int* p = x[i] > 7 ? a : b;
  int n = x[i] > 7 ? 3 : 7;
  y[i] = p[n];
}

//! [kernel.guarded_against_the_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void guarded_against_the_end(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4] = {x[i], 1, 2, 3};
  int sum = 0;
  for (int j = 0; j <= 4; ++j) {
    if (j < 4) {
      sum += a[j];
    }
  }
  y[i] = sum;
}

//! [kernel.largest_counts]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void largest_counts(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = (1 << 31) + (x[i] >> 31) + int(1l << 63 >> 62);
}

//! [kernel.counts_of_a_rotation]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void counts_of_a_rotation(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  uint r = uint(x[i]) & 31;
  y[i] = int((1u << r) | (1u >> (32 - r)));
}

//! [kernel.conversions_that_saturate]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void conversions_that_saturate(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + int(1e30f) + int(uint(-5.0f)) + int(NAN);
}

//! [kernel.divisor_compared_first]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
constant int STEP = 0;
kernel void divisor_compared_first(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = STEP != 0 ? x[i] / (STEP != 0 ? STEP : 1) : 0;
}

//! [kernel.divisor_that_is_negative]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void divisor_that_is_negative(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] / -1 + x[i] % -3;
}

//! [kernel.table_of_a_function]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void table_of_a_function(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  static constexpr int ones[4] = {1, 1, 1, 1};
  y[i] = ones[x[i] & 3];
}
