// Operations on tensors in threadgroups of another size than their scope, or called by some simdgroups.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

//! [kernel.too_few_simdgroups]
//! threadgroups = 1
//! threadgroup = 64
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void too_few_simdgroups(device half* a, device half* b, device float* c,
                               uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<4>> product;
  product.run(A, B, C); // BUG tensor-scope
}

//! [kernel.too_many_simdgroups]
//! threadgroups = 1
//! threadgroup = 128
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void too_many_simdgroups(device half* a, device half* b, device float* c,
                                uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<2>> product;
  product.run(A, B, C); // BUG tensor-scope
}

//! [kernel.some_simdgroups_call]
//! threadgroups = 1
//! threadgroup = 128
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void some_simdgroups_call(device half* a, device half* b, device float* c,
                                 uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<4>> product;
  if (simdgroup < 3) product.run(A, B, C); // BUG partial-tensor-scope
}

//! [kernel.simdgroups_call_apart]
//! threadgroups = 1
//! threadgroup = 64
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void simdgroups_call_apart(device half* a, device half* b, device float* c,
                                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<2>> product;
  for (uint i = 0; i < 2; i++) {
    if (i == simdgroup) product.run(A, B, C); // BUG partial-tensor-scope
    threadgroup_barrier(mem_flags::mem_device);
  }
}
