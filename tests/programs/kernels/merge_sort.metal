// Sorting by blocks: every thread sorts a few elements, then pairs of sorted runs are merged.
#include <metal_stdlib>
using namespace metal;

#define SORT_CONST static constant constexpr const

// NaN is greater than everything, so that it comes last.
template <typename T> struct LessThan {
  static constexpr constant T init = metal::numeric_limits<T>::max();
  METAL_FUNC bool operator()(T a, T b) const { return a < b; }
};
template <> struct LessThan<float> {
  static constexpr constant float init = NAN;
  METAL_FUNC bool operator()(float a, float b) const {
    if (metal::isnan(a) | metal::isnan(b)) {
      return (!metal::isnan(a)) & metal::isnan(b);
    }
    return a < b;
  }
};

template <typename T> METAL_FUNC void thread_swap(thread T& a, thread T& b) {
  T w = a;
  a = b;
  b = w;
}

template <typename ValT, typename IdxT, bool ARG_SORT, short N, typename CompareOp>
struct ThreadSort {
  static METAL_FUNC void sort(thread ValT (&vals)[N], thread IdxT (&idxs)[N]) {
    CompareOp op;
    for (short i = 0; i < N; ++i) {  // odd-even transposition
      for (short j = i & 1; j < N - 1; j += 2) {
        if (op(vals[j + 1], vals[j])) {
          thread_swap(vals[j + 1], vals[j]);
          thread_swap(idxs[j + 1], idxs[j]);
        }
      }
    }
  }
};

template <typename ValT, typename IdxT, bool ARG_SORT, short BLOCK_THREADS, short N,
          typename CompareOp>
struct BlockMergeSort {
  // How many of the first `diagonal` elements of the merged run come from A.
  static METAL_FUNC int merge_partition(const threadgroup ValT* As, const threadgroup ValT* Bs,
                                        short A_sz, short B_sz, short diagonal) {
    CompareOp op;
    short low = max(0, diagonal - B_sz), high = min(diagonal, A_sz);
    while (low < high) {
      const short md = low + (high - low) / 2;
      if (op(Bs[diagonal - 1 - md], As[md])) {
        high = md;
      } else {
        low = md + 1;
      }
    }
    return high;
  }

  static METAL_FUNC void merge_step(const threadgroup ValT* As, const threadgroup ValT* Bs,
                                    const threadgroup IdxT* As_idx, const threadgroup IdxT* Bs_idx,
                                    short A_sz, short B_sz, thread ValT (&vals)[N],
                                    thread IdxT (&idxs)[N]) {
    CompareOp op;
    short a = 0, b = 0;
    for (int i = 0; i < N; ++i) {
      const bool pred = (b < B_sz) && (a >= A_sz || op(Bs[b], As[a]));
      vals[i] = pred ? Bs[b] : a < A_sz ? As[a] : ValT(CompareOp::init);
      if (ARG_SORT) {
        idxs[i] = pred ? Bs_idx[b] : a < A_sz ? As_idx[a] : IdxT(0);
      }
      b += short(pred);
      a += short(!pred);
    }
  }

  static METAL_FUNC void sort(threadgroup ValT* tgp_vals, threadgroup IdxT* tgp_idxs,
                              int size_sorted_axis, uint3 lid) {
    const int idx = lid.x * N;
    thread ValT vals[N];
    thread IdxT idxs[N];
    for (short i = 0; i < N; ++i) {
      vals[i] = tgp_vals[idx + i];
      if (ARG_SORT) {
        idxs[i] = tgp_idxs[idx + i];
      }
    }
    if (idx < size_sorted_axis) {
      ThreadSort<ValT, IdxT, ARG_SORT, N, CompareOp>::sort(vals, idxs);
    }
    for (int merge_threads = 2; merge_threads <= BLOCK_THREADS; merge_threads *= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (int i = 0; i < N; ++i) {
        tgp_vals[idx + i] = vals[i];
        if (ARG_SORT) {
          tgp_idxs[idx + i] = idxs[i];
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const int merge_group = lid.x / merge_threads, merge_lane = lid.x % merge_threads;
      const int sort_sz = N * merge_threads, sort_st = N * merge_threads * merge_group;
      const int half_sz = sort_sz / 2;
      const threadgroup ValT* As = tgp_vals + sort_st;
      const threadgroup ValT* Bs = As + half_sz;
      const int diagonal = N * merge_lane;
      const int partition = merge_partition(As, Bs, half_sz, half_sz, diagonal);
      const threadgroup IdxT* As_idx = ARG_SORT ? tgp_idxs + sort_st + partition : nullptr;
      const threadgroup IdxT* Bs_idx =
          ARG_SORT ? tgp_idxs + sort_st + half_sz + diagonal - partition : nullptr;
      merge_step(As + partition, Bs + diagonal - partition, As_idx, Bs_idx, half_sz - partition,
                 half_sz - (diagonal - partition), vals, idxs);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < N; ++i) {
      tgp_vals[idx + i] = vals[i];
      if (ARG_SORT) {
        tgp_idxs[idx + i] = idxs[i];
      }
    }
  }
};

template <typename T, typename U, bool ARG_SORT, short BLOCK_THREADS, short N>
[[kernel, max_total_threads_per_threadgroup(BLOCK_THREADS)]] void block_sort(
    const device T* inp [[buffer(0)]], device U* out [[buffer(1)]],
    const constant int& size_sorted_axis [[buffer(2)]],
    const constant int64_t& stride_sorted_axis [[buffer(3)]],
    const constant int64_t& stride_segment [[buffer(4)]], uint3 tid [[threadgroup_position_in_grid]],
    uint3 lid [[thread_position_in_threadgroup]]) {
  using ValT = T;
  using IdxT = uint;
  using CompareOp = LessThan<T>;
  SORT_CONST short N_PER_BLOCK = BLOCK_THREADS * N;
  threadgroup ValT tgp_vals[N_PER_BLOCK];
  threadgroup IdxT tgp_idxs[ARG_SORT ? N_PER_BLOCK : 1];
  inp += tid.y * stride_segment;
  out += tid.y * stride_segment;
  for (short i = lid.x; i < N_PER_BLOCK; i += BLOCK_THREADS) {
    tgp_vals[i] = i < size_sorted_axis ? inp[i * stride_sorted_axis] : ValT(CompareOp::init);
    if (ARG_SORT) {
      tgp_idxs[i] = i;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  BlockMergeSort<ValT, IdxT, ARG_SORT, BLOCK_THREADS, N, CompareOp>::sort(
      tgp_vals, tgp_idxs, size_sorted_axis, lid);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = lid.x; i < size_sorted_axis; i += BLOCK_THREADS) {
    if constexpr (ARG_SORT) {
      out[i * stride_sorted_axis] = tgp_idxs[i];
    } else {
      out[i * stride_sorted_axis] = tgp_vals[i];
    }
  }
}

#define instantiate_sort(name, ...) \
  template [[host_name(name)]] [[kernel]] decltype(block_sort<__VA_ARGS__>) block_sort<__VA_ARGS__>;
instantiate_sort("sort_float32_bn64_tn4", float, float, false, 64, 4)
instantiate_sort("argsort_float32_bn64_tn4", float, uint, true, 64, 4)
instantiate_sort("sort_uint8_bn32_tn8", uint8_t, uint8_t, false, 32, 8)
instantiate_sort("argsort_int64_bn128_tn2", int64_t, uint, true, 128, 2)
