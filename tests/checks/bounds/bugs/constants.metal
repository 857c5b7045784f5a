// What is wrong with numbers that the compiler knows.
#include <metal_stdlib>
using namespace metal;

//! [kernel.private_read_after_unrolling]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void private_read_after_unrolling(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4];
  for (int j = 0; j < 4; ++j) {
    a[j] = x[(i + j) & 31];
  }
  int sum = 0;
  for (int j = 0; j <= 4; ++j) {
    sum += a[j]; // BUG out-of-bounds-read
  }
  y[i] = sum;
}

//! [kernel.private_write_after_unrolling]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void private_write_after_unrolling(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4];
  for (int j = 0; j <= 4; ++j) {
    a[j] = x[(i + j) & 31]; // BUG out-of-bounds-write
  }
  y[i] = a[0] + a[1] + a[2] + a[3];
}

//! [kernel.end_of_a_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
constant int weights[4] = {1, 2, 3, 4};
kernel void end_of_a_table(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int sum = x[i];
  for (int j = 0; j <= 4; ++j) {
    sum += weights[j]; // BUG out-of-bounds-read
  }
  y[i] = sum;
}

//! [kernel.component_that_is_not_there]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void component_that_is_not_there(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int4 v = int4(x[i]);
  y[i] = v[4]; // BUG out-of-bounds-read
}

//! [kernel.column_that_is_not_there]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void column_that_is_not_there(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  float2x2 m = float2x2(float(x[i]));
  y[i] = int(m[2][0]); // BUG out-of-bounds-read
}

//! [kernel.neighbour_of_a_variable]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void neighbour_of_a_variable(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int value = x[i];
  y[i] = (&value)[1]; // BUG out-of-bounds-read
}

//! [kernel.row_through_a_function]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
static int last_of(thread const int* part) {
  return part[3]; // BUG out-of-bounds-read
}
kernel void row_through_a_function(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[4] = {x[i], 1, 2, 3};
  y[i] = last_of(a + 2);
}

//! [kernel.index_that_is_written_out]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void index_that_is_written_out(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[2] = {x[i], 1};
  if (i < 32) {
    y[i] = a[2]; // BUG out-of-bounds-read
  }
}

//! [kernel.index_in_code_that_does_not_run]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void index_in_code_that_does_not_run(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  int a[2] = {x[i], 1};
  y[i] = a[0];
  if (x[i] > 1000) {
    y[i] = a[2]; // BUG constant-index
  }
}

//! [kernel.count_as_large_as_the_type]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void count_as_large_as_the_type(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + (1 << 32); // BUG shift-count
}

//! [kernel.negative_count]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void negative_count(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] >> -1; // BUG shift-count
}

//! [kernel.division_by_a_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void division_by_a_zero(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] / 0; // BUG division-by-zero
}

//! [kernel.remainder_of_a_folded_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
constant int STEP = 4;
kernel void remainder_of_a_folded_zero(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] % (STEP - 4); // BUG division-by-zero
}

//! [kernel.table_of_equal_numbers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void table_of_equal_numbers(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  static constexpr int ones[4] = {1, 1, 1, 1};
  y[i] = ones[x[i] & 7]; // BUG out-of-bounds-read
}

//! [kernel.number_as_a_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
constant int ONE = 1;
kernel void number_as_a_table(device const int* x, device int* y, uint i [[thread_position_in_grid]]) {
  y[i] = (&ONE)[x[i] & 1]; // BUG out-of-bounds-read
}
