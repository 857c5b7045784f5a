// A product in the manner of code that a generator writes: matrices in registers go past the
// standard class to its storage, with loads of their own for every address space and type.
#include <metal_stdlib>
using namespace metal;

METAL_FUNC static ushort2 morton_order(ushort thread_index_in_simdgroup) {
  const ushort lane_id = thread_index_in_simdgroup;
  const ushort quad_id = lane_id / 4;
  const ushort M_floor = (quad_id / 4) * 4, M_in_quad = (lane_id / 2) % 4;
  const ushort N_floor = (quad_id & 2) * 2, N_in_quad = (lane_id % 2) * 2;
  return ushort2(N_floor + N_in_quad, M_floor + M_in_quad);
}

#pragma METAL internals : enable
namespace metal
{
  template <typename T>
  struct simdgroup_matrix_storage {
    typedef vec<T, 64> storage_type;
    storage_type t;

    METAL_FUNC thread vec<T, 2>* thread_elements() thread {
      return reinterpret_cast<thread vec<T, 2>*>(&t);
    }
    METAL_FUNC simdgroup_matrix_storage() thread = default;
    METAL_FUNC simdgroup_matrix_storage(vec<T, 2> thread_elements) thread {
      *(this->thread_elements()) = thread_elements;
    }

    template <typename U>
    METAL_FUNC static device U* apply_offset(device U* src, uint elements_per_row, uint2 origin,
                                             bool transpose = false) {
      return transpose ? src + ulong(origin.x * elements_per_row) + origin.y
                       : src + ulong(origin.y * elements_per_row) + origin.x;
    }
    template <typename U>
    METAL_FUNC static threadgroup U* apply_offset(threadgroup U* src, ushort elements_per_row,
                                                  ushort2 origin, bool transpose = false) {
      return transpose ? src + origin.x * elements_per_row + origin.y
                       : src + origin.y * elements_per_row + origin.x;
    }

    template <typename U>
    METAL_FUNC void load(const device U* src, uint elements_per_row, ushort2 origin,
                         bool transpose = false) {
      if (transpose) {
        *(thread_elements()) =
            vec<T, 2>(T(src[uint(origin.x * elements_per_row) + origin.y]),
                      T(src[uint((origin.x + 1) * elements_per_row) + origin.y]));
      } else {
        *(thread_elements()) = vec<T, 2>(
            *reinterpret_cast<const device vec<U, 2>*>(src + uint(origin.y * elements_per_row) + origin.x));
      }
    }
    template <typename U>
    METAL_FUNC void load(const threadgroup U* src, ushort elements_per_row, ushort2 origin,
                         bool transpose = false) {
      const ushort first = transpose ? origin.x * elements_per_row + origin.y
                                     : origin.y * elements_per_row + origin.x;
      *(thread_elements()) =
          vec<T, 2>(T(src[first]), T(src[first + (transpose ? elements_per_row : 1)]));
    }
    template <typename U>
    METAL_FUNC void store(device U* dst, uint elements_per_row, ushort2 origin) {
      *reinterpret_cast<device vec<U, 2>*>(dst + uint(origin.y * elements_per_row) + origin.x) =
          vec<U, 2>(*(thread_elements()));
    }
    template <typename U>
    METAL_FUNC void store(threadgroup U* dst, ushort elements_per_row, ushort2 origin) {
      *reinterpret_cast<threadgroup vec<U, 2>*>(dst + origin.y * elements_per_row + origin.x) =
          vec<U, 2>(*(thread_elements()));
    }

    template <typename A, typename B>
    METAL_FUNC void multiply(simdgroup_matrix_storage<A> a, simdgroup_matrix_storage<B> b,
                             bool accumulate = true) {
      if (!accumulate) {
        *(thread_elements()) = vec<T, 2>(0);
      }
      t = __metal_simdgroup_matrix_8x8_multiply_accumulate(a.t, b.t, t,
                                                           typename simdgroup_matrix_storage<T>::storage_type());
    }
  };
} // namespace metal
#pragma METAL internals : disable

constant uint M [[function_constant(0)]];
constant uint N [[function_constant(1)]];
constant uint K [[function_constant(2)]];
constant bool A_trans [[function_constant(10)]];
constant bool B_trans [[function_constant(11)]];
constant uint A_leading_dimension = A_trans ? M : K;
constant uint B_leading_dimension = B_trans ? K : N;
constant ushort M_group [[function_constant(20)]];
constant ushort N_group [[function_constant(21)]];
// Tiles that end beyond the matrix go by way of threadgroup memory.
constant bool skip_edge = M % M_group == 0 && N % N_group == 0;

// One simdgroup makes 16 x 16 of C; the edge is padded in threadgroup memory.
kernel void unified_gemm(device float* A [[buffer(0)]], device half* B [[buffer(1)]],
                         device float* C [[buffer(2)]],
                         threadgroup uchar* threadgroup_block [[threadgroup(0)]],
                         uint3 gid [[threadgroup_position_in_grid]],
                         ushort sidx [[simdgroup_index_in_threadgroup]],
                         ushort lane_id [[thread_index_in_simdgroup]]) {
  const ushort2 morton_offset = morton_order(lane_id);
  const ushort2 sid(sidx % (N_group / 16), sidx / (N_group / 16));
  const uint M_offset = gid.y * M_group + sid.y * 16, N_offset = gid.x * N_group + sid.x * 16;
  if (M_offset >= M || N_offset >= N) {
    return;
  }
  simdgroup_matrix_storage<float> C_sram[4];
  #pragma clang loop unroll(full)
  for (ushort i = 0; i < 4; ++i) {
    C_sram[i] = simdgroup_matrix_storage<float>(float2(0));
  }
  threadgroup float* A_block = (threadgroup float*)threadgroup_block + sidx * 384;  // 16 x 8
  threadgroup half* B_block = (threadgroup half*)(A_block + 128);                   // 8 x 16
  for (uint k = 0; k < K; k += 8) {
    simdgroup_matrix_storage<float> A_sram[2];
    simdgroup_matrix_storage<half> B_sram[2];
    if (skip_edge && k + 8 <= K) {
      const auto A_src = simdgroup_matrix_storage<float>::apply_offset(
          A, A_leading_dimension, uint2(k, M_offset), A_trans);
      const auto B_src = simdgroup_matrix_storage<half>::apply_offset(
          B, B_leading_dimension, uint2(N_offset, k), B_trans);
      for (ushort i = 0; i < 2; ++i) {
        A_sram[i].load(A_src, A_leading_dimension, morton_offset + ushort2(0, 8 * i), A_trans);
        B_sram[i].load(B_src, B_leading_dimension, morton_offset + ushort2(8 * i, 0), B_trans);
      }
    } else {
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (ushort i = lane_id; i < 128; i += 32) {
        const uint m = M_offset + i / 8, ka = k + i % 8, n = N_offset + i % 16, kb = k + i / 16;
        A_block[i] = m < M && ka < K ? A[A_trans ? ka * M + m : m * K + ka] : 0;
        B_block[i] = n < N && kb < K ? B[B_trans ? n * K + kb : kb * N + n] : half(0);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (ushort i = 0; i < 2; ++i) {
        A_sram[i].load(A_block, ushort(8), morton_offset + ushort2(0, 8 * i));
        B_sram[i].load(B_block, ushort(16), morton_offset + ushort2(8 * i, 0));
      }
    }
    for (ushort m = 0; m < 2; ++m) {
      for (ushort n = 0; n < 2; ++n) {
        C_sram[m * 2 + n].multiply(A_sram[m], B_sram[n]);
      }
    }
  }
  if (skip_edge) {
    const auto C_dst = simdgroup_matrix_storage<float>::apply_offset(C, N, uint2(N_offset, M_offset));
    for (ushort i = 0; i < 4; ++i) {
      C_sram[i].store(C_dst, N, morton_offset + ushort2(8 * (i % 2), 8 * (i / 2)));
    }
    return;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort i = 0; i < 4; ++i) {
    C_sram[i].store(A_block, ushort(16), morton_offset + ushort2(8 * (i % 2), 8 * (i / 2)));
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort i = lane_id; i < 256; i += 32) {
    const uint m = M_offset + i / 16, n = N_offset + i % 16;
    if (m < M && n < N) {
      C[m * N + n] = A_block[i];
    }
  }
}
