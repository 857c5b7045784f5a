// Operations on tensors in threadgroups of the size that their scope says.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

//! [kernel.as_many_simdgroups]
//! threadgroups = 1
//! threadgroup = 128
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void as_many_simdgroups(device half* a, device half* b, device float* c,
                               uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<4>> product;
  product.run(A, B, C);
}

//! [kernel.one_of_several]
//! threadgroups = 1
//! threadgroup = 128
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
kernel void one_of_several(device half* a, device half* b, device float* c,
                           uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroup> product;
  if (simdgroup != 0) return;
  product.run(A, B, C);
}

//! [kernel.a_thread_alone]
//! threadgroups = 1
//! threadgroup = 1
//! arguments.a = { shape = 64, fill = "random" }
//! arguments.b = { shape = 64, fill = "random" }
//! arguments.c = { shape = 64, fill = "zeros" }
kernel void a_thread_alone(device half* a, device half* b, device float* c,
                           uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(8, 8));
  auto B = tensor(b, dextents<int, 2>(8, 8));
  auto C = tensor(c, dextents<int, 2>(8, 8));
  matmul2d<matmul2d_descriptor(8, 8, 8), execution_thread> product;
  product.run(A, B, C);
}

//! [kernel.all_in_a_loop]
//! threadgroups = 1
//! threadgroup = 64
//! arguments.a = { shape = 1024, fill = "random" }
//! arguments.b = { shape = 512, fill = "random" }
//! arguments.c = { shape = 512, fill = "zeros" }
//! arguments.times = 3
kernel void all_in_a_loop(device half* a, device half* b, device float* c, constant uint& times,
                          uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  auto A = tensor(a, dextents<int, 2>(32, 32));
  auto B = tensor(b, dextents<int, 2>(16, 32));
  auto C = tensor(c, dextents<int, 2>(16, 32));
  matmul2d<matmul2d_descriptor(32, 16, 32), execution_simdgroups<2>> product;
  for (uint i = 0; i < times; i++) {
    if (i != 1) product.run(A, B, C);
    if (i == 2) threadgroup_barrier(mem_flags::mem_device);
  }
}
