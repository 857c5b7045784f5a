// Elements of tensors up to their edges.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;

//! [kernel.columns_of_a_row]
//! threads = 16
//! arguments.a = { shape = 64, fill = "random" }
//! arguments.b = { shape = 64, fill = "zeros" }
kernel void columns_of_a_row(device float* a, device float* b, uint i [[thread_position_in_grid]]) {
  auto A = tensor(a, dextents<int, 2>(8, 4));
  if (int(i) < A.get_extent(0)) b[i] = A[i, 3];
}

//! [kernel.last_row_of_a_slice]
//! threads = 6
//! arguments.a = { shape = 64, fill = "random" }
//! arguments.b = { shape = 64, fill = "zeros" }
kernel void last_row_of_a_slice(device float* a, device float* b,
                                       uint i [[thread_position_in_grid]]) {
  auto A = tensor(a, dextents<int, 2>(8, 8));
  auto rest = A.slice(2, 1);
  b[i] = rest[i, 6];
}
