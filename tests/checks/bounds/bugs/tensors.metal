// Elements of tensors outside of their extents, though in the memory below.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;

//! [kernel.column_beyond_row]
//! threads = 16
//! arguments.a = { shape = 64, fill = "random" }
//! arguments.b = { shape = 64, fill = "zeros" }
kernel void column_beyond_row(device float* a, device float* b, uint i [[thread_position_in_grid]]) {
  auto A = tensor(a, dextents<int, 2>(8, 4));
  b[i] = A[i, 1]; // BUG outside-tensor
}

//! [kernel.slice_beyond_rest]
//! threads = 8
//! arguments.a = { shape = 64, fill = "random" }
//! arguments.b = { shape = 64, fill = "zeros" }
kernel void slice_beyond_rest(device float* a, device float* b, uint i [[thread_position_in_grid]]) {
  auto A = tensor(a, dextents<int, 2>(8, 8));
  auto rest = A.slice(2, 1);
  b[i] = rest[int(i) - 1, 0]; // BUG outside-tensor
}
