// Tiles that a simdgroup copies asynchronously, by the labels under which programs reach that.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

struct _simdgroup_event_t;

thread _simdgroup_event_t* __metal_simdgroup_async_copy_2d(
    ulong, ulong, threadgroup void*, ulong, ulong, ulong2, const device void*, ulong, ulong, ulong2,
    long2, int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* __metal_simdgroup_async_copy_2d(
    ulong, ulong, device void*, ulong, ulong, ulong2, const threadgroup void*, ulong, ulong, ulong2,
    long2, int) __asm("air.simdgroup_async_copy_2d.p1i8.p3i8");
void __metal_wait_simdgroup_events(int, thread _simdgroup_event_t**)
    __asm("air.wait_simdgroup_events");

#pragma METAL internals : enable
namespace metal {
enum class simdgroup_async_copy_clamp_mode { clamp_to_zero = 0, clamp_to_edge = 1 };

struct simdgroup_event {
  METAL_FUNC simdgroup_event() thread {}

  template <typename T>
  METAL_FUNC void async_copy(threadgroup T* dst, ushort dst_elements_per_row, ushort2 dst_tile,
                             const device T* src, uint src_elements_per_row, ushort2 src_tile,
                             simdgroup_async_copy_clamp_mode mode =
                                 simdgroup_async_copy_clamp_mode::clamp_to_zero) thread {
    event = __metal_simdgroup_async_copy_2d(
        sizeof(T), alignof(T), reinterpret_cast<threadgroup void*>(dst), ushort(dst_elements_per_row),
        1, ulong2(dst_tile), reinterpret_cast<const device void*>(src), uint(src_elements_per_row), 1,
        ulong2(src_tile), long2(0), static_cast<int>(mode));
  }
  template <typename T>
  METAL_FUNC void async_copy(device T* dst, uint dst_elements_per_row, ushort2 dst_tile,
                             const threadgroup T* src, ushort src_elements_per_row,
                             ushort2 src_tile) thread {
    event = __metal_simdgroup_async_copy_2d(
        sizeof(T), alignof(T), reinterpret_cast<device void*>(dst), uint(dst_elements_per_row), 1,
        ulong2(dst_tile), reinterpret_cast<const threadgroup void*>(src),
        ushort(src_elements_per_row), 1, ulong2(src_tile), long2(0), 0);
  }
  METAL_FUNC static void wait(int count, thread simdgroup_event* events) {
    __metal_wait_simdgroup_events(count, reinterpret_cast<thread _simdgroup_event_t**>(events));
  }

 private:
  thread _simdgroup_event_t* event;
};
}  // namespace metal
#pragma METAL internals : disable

constant uint M [[function_constant(0)]];
constant uint N [[function_constant(1)]];
constant uint K [[function_constant(2)]];
constant ushort M_tile = 32, N_tile = 16, K_tile = 16;

// C = A B. The first simdgroup brings the tiles, zeros beyond the edge; the last one goes back.
template <typename T>
kernel void async_gemm(device T* A [[buffer(0)]], device T* B [[buffer(1)]], device T* C [[buffer(2)]],
                       threadgroup T* block [[threadgroup(0)]],
                       uint3 gid [[threadgroup_position_in_grid]],
                       ushort sidx [[simdgroup_index_in_threadgroup]]) {
  threadgroup T* A_block = block;
  threadgroup T* B_block = block + M_tile * K_tile;
  const uint2 first = uint2(gid.x * N_tile, gid.y * M_tile);
  const ushort2 C_tile = ushort2(min(uint(N_tile), N - first.x), min(uint(M_tile), M - first.y));
  simdgroup_matrix<T, 8, 8> sums[2] = {make_filled_simdgroup_matrix<T, 8>(T(0)),
                                       make_filled_simdgroup_matrix<T, 8>(T(0))};
  for (uint k = 0; k < K; k += K_tile) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sidx == 0) {
      const ushort depth = min(uint(K_tile), K - k);
      simdgroup_event events[2];
      events[0].async_copy(A_block, K_tile, ushort2(K_tile, M_tile), A + first.y * K + k, K,
                           ushort2(depth, C_tile.y));
      events[1].async_copy(B_block, N_tile, ushort2(N_tile, K_tile), B + k * N + first.x, N,
                           ushort2(C_tile.x, depth));
      simdgroup_event::wait(2, events);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (ushort d = 0; d < K_tile; d += 8) {
      simdgroup_matrix<T, 8, 8> a, b;
      simdgroup_load(a, A_block + 8 * sidx * K_tile + d, K_tile);
      for (ushort n = 0; n < 2; ++n) {
        simdgroup_load(b, B_block + d * N_tile + 8 * n, N_tile);
        simdgroup_multiply_accumulate(sums[n], a, b, sums[n]);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort n = 0; n < 2; ++n) {
    simdgroup_store(sums[n], block + 8 * sidx * N_tile + 8 * n, N_tile);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sidx == 0) {
    simdgroup_event event;
    event.async_copy(C + first.y * N + first.x, N, C_tile, block, N_tile, C_tile);
    simdgroup_event::wait(1, &event);
  }
}

template [[host_name("hgemm")]] kernel void async_gemm<half>(
    device half*, device half*, device half*, threadgroup half*, uint3, ushort);
template [[host_name("sgemm")]] kernel void async_gemm<float>(
    device float*, device float*, device float*, threadgroup float*, uint3, ushort);
