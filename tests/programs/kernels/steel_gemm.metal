// A matrix product from class templates: a loader of tiles, a multiplier of tiles, an epilogue.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define TILE_CONST static constant constexpr const
#define UNROLL _Pragma("clang loop unroll(full)")

constant bool use_out_source [[function_constant(100)]];
constant bool do_axpby [[function_constant(110)]];
constant bool align_M [[function_constant(200)]];
constant bool align_N [[function_constant(201)]];
constant bool align_K [[function_constant(202)]];

struct GEMMParams {
  const int M, N, K;
  const int lda, ldb, ldd;
  const int tiles_n, tiles_m;
  const int64_t batch_stride_a, batch_stride_b, batch_stride_d;
  const int whole_k_steps;
};

struct GEMMAddMMParams {
  const int ldc, fdc;
  const float alpha, beta;
};

template <typename OutT, typename InT>
struct TransformNone {
  static METAL_FUNC OutT apply(InT x) { return static_cast<OutT>(x); }
  static METAL_FUNC OutT apply(InT x, OutT) { return static_cast<OutT>(x); }
};

template <typename OutT, typename InT>
struct TransformAxpby {
  const float alpha, beta;
  TransformAxpby(const float alpha_, const float beta_) : alpha(alpha_), beta(beta_) {}
  static METAL_FUNC OutT apply(InT x) { return static_cast<OutT>(x); }
  METAL_FUNC OutT apply(InT x, OutT c) const {
    return static_cast<OutT>(x * alpha + beta * static_cast<InT>(c));
  }
};

// Copies a tile of BROWS x BCOLS to threadgroup memory, `vec_size` elements of a row per thread.
template <typename T, short BROWS, short BCOLS, short dst_ld, short reduction_dim, short threads>
struct BlockLoader {
  TILE_CONST short vec_size = (BCOLS * BROWS) / threads;
  TILE_CONST short TCOLS = BCOLS / vec_size;
  TILE_CONST short TROWS = threads / TCOLS;

  const int src_ld;
  const int step;
  const short row, column;
  threadgroup T* dst;
  const device T* src;

  struct alignas(sizeof(T)) Chunk {
    T v[vec_size];
  };

  METAL_FUNC BlockLoader(const device T* src_, const int src_ld_, threadgroup T* dst_,
                         ushort simd_group_id, ushort simd_lane_id)
      : src_ld(src_ld_),
        step(reduction_dim ? BCOLS : BROWS * src_ld_),
        row((simd_group_id * 32 + simd_lane_id) / TCOLS),
        column(vec_size * ((simd_group_id * 32 + simd_lane_id) % TCOLS)),
        dst(dst_ + row * dst_ld + column),
        src(src_ + row * src_ld_ + column) {}

  METAL_FUNC void load_unsafe() const {
    UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      *((threadgroup Chunk*)(&dst[i * dst_ld])) =
          *((const device Chunk*)(&src[i * src_ld]));
    }
  }

  METAL_FUNC void load_safe(short2 there) const {
    there = there - short2(column, row);
    UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      UNROLL
      for (short j = 0; j < vec_size; j++) {
        const bool valid = i < there.y && j < there.x;
        const T read = src[valid ? i * src_ld + j : 0 - row * src_ld - column];
        dst[i * dst_ld + j] = valid ? read : T(0);
      }
    }
  }

  METAL_FUNC void next() { src += step; }
};

// A simdgroup's part of the product: TM x TN matrices of 8 x 8.
template <typename T, typename U, short BM, short BN, short BK, short WM, short WN,
          bool transpose_a, bool transpose_b, short lda_tgp, short ldb_tgp,
          typename AccumType = float, typename Epilogue = TransformNone<U, AccumType>>
struct BlockMMA {
  TILE_CONST short FRAGMENT = 8;
  TILE_CONST short TM_stride = FRAGMENT * WM;
  TILE_CONST short TN_stride = FRAGMENT * WN;
  TILE_CONST short TM = BM / TM_stride;
  TILE_CONST short TN = BN / TN_stride;

  simdgroup_matrix<AccumType, 8, 8> Ctile[TM * TN];
  const short tm, tn;
  short sm, sn;

  METAL_FUNC BlockMMA(ushort simd_group_id, ushort simd_lane_id)
      : tm(FRAGMENT * (simd_group_id / WN)), tn(FRAGMENT * (simd_group_id % WN)) {
    // The row and first column of the two elements of a fragment that this lane owns.
    const short qid = simd_lane_id / 4;
    sm = tm + (qid & 4) + ((simd_lane_id / 2) % 4);
    sn = tn + (qid & 2) * 2 + (simd_lane_id % 2) * 2;
    UNROLL
    for (short i = 0; i < TM * TN; i++) {
      Ctile[i] = simdgroup_matrix<AccumType, 8, 8>(0);
    }
  }

  METAL_FUNC void mma(const threadgroup T* As, const threadgroup T* Bs) {
    UNROLL
    for (short kk = 0; kk < BK; kk += FRAGMENT) {
      simdgroup_matrix<AccumType, 8, 8> a[TM];
      simdgroup_matrix<AccumType, 8, 8> b[TN];
      simdgroup_barrier(mem_flags::mem_none);
      UNROLL
      for (short i = 0; i < TM; i++) {
        UNROLL
        for (short e = 0; e < 2; e++) {
          const short row = sm + i * TM_stride, col = kk + sn - tn + e;
          a[i].thread_elements()[e] = static_cast<AccumType>(
              transpose_a ? As[col * lda_tgp + row] : As[row * lda_tgp + col]);
        }
      }
      simdgroup_barrier(mem_flags::mem_none);
      UNROLL
      for (short j = 0; j < TN; j++) {
        UNROLL
        for (short e = 0; e < 2; e++) {
          const short row = kk + sm - tm, col = sn + j * TN_stride + e;
          b[j].thread_elements()[e] = static_cast<AccumType>(
              transpose_b ? Bs[col * ldb_tgp + row] : Bs[row * ldb_tgp + col]);
        }
      }
      simdgroup_barrier(mem_flags::mem_none);
      UNROLL
      for (short i = 0; i < TM; i++) {
        UNROLL
        for (short j = 0; j < TN; j++) {
          const short serpent = i % 2 ? TN - 1 - j : j;
          simdgroup_multiply_accumulate(Ctile[i * TN + serpent], a[i], b[serpent],
                                        Ctile[i * TN + serpent]);
        }
      }
    }
  }

  template <typename Op>
  METAL_FUNC void apply_epilogue(const device U* C, const int ldc, const int fdc, short2 dims,
                                 thread const Op& op) {
    C += sm * ldc + sn * fdc;
    dims -= short2(sn, sm);
    UNROLL
    for (short i = 0; i < TM; i++) {
      UNROLL
      for (short j = 0; j < TN; j++) {
        thread auto& accum = Ctile[i * TN + j].thread_elements();
        UNROLL
        for (short e = 0; e < 2; e++) {
          if (i * TM_stride < dims.y && j * TN_stride + e < dims.x) {
            const U c = C[i * TM_stride * ldc + (j * TN_stride + e) * fdc];
            accum[e] = op.apply(accum[e], c);
          }
        }
      }
    }
  }

  METAL_FUNC void store_result(device U* D, const int ldd, short2 dims) const {
    D += sm * ldd + sn;
    dims -= short2(sn, sm);
    UNROLL
    for (short i = 0; i < TM; i++) {
      UNROLL
      for (short j = 0; j < TN; j++) {
        thread const auto& accum = Ctile[i * TN + j].thread_elements();
        UNROLL
        for (short e = 0; e < 2; e++) {
          if (i * TM_stride < dims.y && j * TN_stride + e < dims.x) {
            D[i * TM_stride * ldd + j * TN_stride + e] = Epilogue::apply(accum[e]);
          }
        }
      }
    }
  }
};

template <typename T, int BM, int BN, int BK, int WM, int WN, bool transpose_a, bool transpose_b>
struct GEMMKernel {
  TILE_CONST short tgp_padding = 16 / sizeof(T);
  TILE_CONST short lda_tgp = (transpose_a ? BM : BK) + tgp_padding;
  TILE_CONST short ldb_tgp = (transpose_b ? BK : BN) + tgp_padding;
  TILE_CONST short tgp_mem_size_a = (transpose_a ? BK : BM) * lda_tgp;
  TILE_CONST short tgp_mem_size_b = (transpose_b ? BN : BK) * ldb_tgp;
  TILE_CONST short threads = WM * WN * 32;

  using loader_a_t = BlockLoader<T, transpose_a ? BK : BM, transpose_a ? BM : BK, lda_tgp,
                                 !transpose_a, threads>;
  using loader_b_t = BlockLoader<T, transpose_b ? BN : BK, transpose_b ? BK : BN, ldb_tgp,
                                 transpose_b, threads>;
  using mma_t = BlockMMA<T, T, BM, BN, BK, WM, WN, transpose_a, transpose_b, lda_tgp, ldb_tgp>;

  template <bool M_aligned, bool N_aligned>
  static METAL_FUNC void gemm_loop(threadgroup T* As, threadgroup T* Bs, const int iterations,
                                   thread loader_a_t& loader_a, thread loader_b_t& loader_b,
                                   thread mma_t& mma_op, thread const short& tgp_bm,
                                   thread const short& tgp_bn, const short leftover_k) {
    short2 tile_a = transpose_a ? short2(tgp_bm, BK) : short2(BK, tgp_bm);
    short2 tile_b = transpose_b ? short2(BK, tgp_bn) : short2(tgp_bn, BK);
    for (int k = 0; k < iterations; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (M_aligned) {
        loader_a.load_unsafe();
      } else {
        loader_a.load_safe(tile_a);
      }
      if constexpr (N_aligned) {
        loader_b.load_unsafe();
      } else {
        loader_b.load_safe(tile_b);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      mma_op.mma(As, Bs);
      loader_a.next();
      loader_b.next();
    }
    if (leftover_k > 0) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      loader_a.load_safe(transpose_a ? short2(tgp_bm, leftover_k) : short2(leftover_k, tgp_bm));
      loader_b.load_safe(transpose_b ? short2(leftover_k, tgp_bn) : short2(tgp_bn, leftover_k));
      threadgroup_barrier(mem_flags::mem_threadgroup);
      mma_op.mma(As, Bs);
    }
  }
};

template <typename T, int BM, int BN, int BK, int WM, int WN, bool transpose_a, bool transpose_b>
[[kernel, max_total_threads_per_threadgroup(WM* WN * 32)]] void gemm(
    const device T* A [[buffer(0)]],
    const device T* B [[buffer(1)]],
    const device T* C [[buffer(2), function_constant(use_out_source)]],
    device T* D [[buffer(3)]],
    const constant GEMMParams* params [[buffer(4)]],
    const constant GEMMAddMMParams* addmm_params [[buffer(5), function_constant(use_out_source)]],
    uint simd_lane_id [[thread_index_in_simdgroup]],
    uint simd_group_id [[simdgroup_index_in_threadgroup]],
    uint3 tid [[threadgroup_position_in_grid]]) {
  using gemm_kernel = GEMMKernel<T, BM, BN, BK, WM, WN, transpose_a, transpose_b>;
  using mma_t = typename gemm_kernel::mma_t;

  threadgroup T As[gemm_kernel::tgp_mem_size_a];
  threadgroup T Bs[gemm_kernel::tgp_mem_size_b];

  A += params->batch_stride_a * tid.z;
  B += params->batch_stride_b * tid.z;
  D += params->batch_stride_d * tid.z;
  const int c_row = tid.y * BM, c_col = tid.x * BN;
  const size_t c_row_long = size_t(c_row), c_col_long = size_t(c_col);
  A += transpose_a ? c_row_long : c_row_long * params->lda;
  B += transpose_b ? c_col_long * params->ldb : c_col_long;
  D += c_row_long * params->ldd + c_col_long;

  thread typename gemm_kernel::loader_a_t loader_a(A, params->lda, As, simd_group_id, simd_lane_id);
  thread typename gemm_kernel::loader_b_t loader_b(B, params->ldb, Bs, simd_group_id, simd_lane_id);
  thread mma_t mma_op(simd_group_id, simd_lane_id);

  const short tgp_bm = align_M ? BM : short(min(BM, params->M - c_row));
  const short tgp_bn = align_N ? BN : short(min(BN, params->N - c_col));
  const short leftover_k =
      align_K ? 0 : short(params->K - params->whole_k_steps * BK);
  const int iterations = params->whole_k_steps;
  const bool whole_m = align_M || tgp_bm == BM, whole_n = align_N || tgp_bn == BN;
  if (whole_m && whole_n) {
    gemm_kernel::template gemm_loop<true, true>(As, Bs, iterations, loader_a, loader_b, mma_op,
                                                tgp_bm, tgp_bn, leftover_k);
  } else if (whole_n) {
    gemm_kernel::template gemm_loop<false, true>(As, Bs, iterations, loader_a, loader_b, mma_op,
                                                 tgp_bm, tgp_bn, leftover_k);
  } else {
    gemm_kernel::template gemm_loop<false, false>(As, Bs, iterations, loader_a, loader_b, mma_op,
                                                  tgp_bm, tgp_bn, leftover_k);
  }
  if (use_out_source) {
    C += c_row_long * addmm_params->ldc + c_col_long * addmm_params->fdc;
    const short2 dims = short2(tgp_bn, tgp_bm);
    if (do_axpby) {
      TransformAxpby<T, float> op(addmm_params->alpha, addmm_params->beta);
      mma_op.apply_epilogue(C, addmm_params->ldc, addmm_params->fdc, dims, op);
    } else {
      struct Add {
        static METAL_FUNC T apply(float x, T c) { return static_cast<T>(x + static_cast<float>(c)); }
      };
      mma_op.apply_epilogue(C, addmm_params->ldc, addmm_params->fdc, dims, Add{});
    }
  }
  mma_op.store_result(D, params->ldd, short2(tgp_bn, tgp_bm));
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

#define instantiate_gemm(tname, trans_a, trans_b, itype, iname, bm, bn, bk, wm, wn)             \
  instantiate_kernel("gemm_" #tname "_" #iname "_bm" #bm "_bn" #bn "_bk" #bk "_wm" #wm    \
                     "_wn" #wn, gemm, itype, bm, bn, bk, wm, wn, trans_a, trans_b)

#define instantiate_transposes(iname, itype, bm, bn, bk, wm, wn)   \
  instantiate_gemm(nn, false, false, itype, iname, bm, bn, bk, wm, wn)        \
  instantiate_gemm(nt, false, true, itype, iname, bm, bn, bk, wm, wn)         \
  instantiate_gemm(tn, true, false, itype, iname, bm, bn, bk, wm, wn)         \
  instantiate_gemm(tt, true, true, itype, iname, bm, bn, bk, wm, wn)

// clang-format off
instantiate_transposes(float16, half, 32, 32, 16, 2, 2)
instantiate_transposes(float32, float, 32, 16, 16, 2, 1)
instantiate_gemm(nt, false, true, bfloat, bfloat16, 32, 32, 16, 2, 2) // clang-format on
