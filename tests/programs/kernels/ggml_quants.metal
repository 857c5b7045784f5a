// Matrices of block-quantised weights times vectors, several rows to a simdgroup.
#include <metal_stdlib>
using namespace metal;

#define QK4_0 32
#define QK5_1 32
#define QK8_0 32
#define QK_K 256
#define SIMD_WIDTH 32

#define FOR_UNROLL(x) _Pragma("clang loop unroll(full)") for (x)

typedef struct {
    half d;              // scale
    uint8_t qs[QK4_0 / 2];  // low nibbles: elements 0..15, high nibbles: 16..31
} block_q4_0;

typedef struct {
    half d;
    half m;              // minimum
    uint8_t qh[4];       // fifth bits, one of each element
    uint8_t qs[QK5_1 / 2];
} block_q5_1;

typedef struct {
    half d;
    int8_t qs[QK8_0];
} block_q8_0;

typedef struct {
    half d;              // scale of scales
    half dmin;           // scale of minima
    uint8_t scales[12];  // 8 scales and 8 minima of 6 bits
    uint8_t qs[QK_K / 2];
} block_q4_K;

typedef struct {
    uint8_t ql[QK_K / 2];      // low 4 bits
    uint8_t qh[QK_K / 4];      // high 2 bits
    int8_t scales[QK_K / 16];
    half d;
} block_q6_K;

static_assert(sizeof(block_q4_0) == 18, "q4_0 has no padding");
static_assert(sizeof(block_q5_1) == 24, "q5_1 has no padding");
static_assert(sizeof(block_q4_K) == 144, "q4_K has no padding");
static_assert(sizeof(block_q6_K) == 210, "q6_K has no padding");

typedef struct {
    int32_t ne00, ne01, ne02;     // columns, rows and batches of the weights
    uint64_t nb01, nb02;          // byte strides of a row and a batch of the weights
    int32_t ne10, ne11;           // length and number of the vectors
    uint64_t nb11, nb12;          // byte strides of a vector and a batch of vectors
    int32_t ne0, ne1;             // rows and columns of the result
    int32_t r2;                   // batches of vectors that share one of weights
} mul_mv_args;

constant short FC_nsg [[function_constant(600)]];

// A lane's half of a block of 32: elements at .. at + 7 and at + 16 .. at + 23 of the vector. Those
// whose quants stay in place in a 16-bit word are divided by what the place is worth.
struct half_block {
    float v[4][4];  // [word][place of 4 bits]
    float sum;

    void read(device const float* y) {
        sum = 0.f;
        FOR_UNROLL (short w = 0; w < 4; ++w) {
            const float4 pair = float4(y[2 * w], y[2 * w + 16], y[2 * w + 1], y[2 * w + 17]);
            const float4 placed = pair * float4(1.f, 1.f / 16.f, 1.f / 256.f, 1.f / 4096.f);
            FOR_UNROLL (short p = 0; p < 4; ++p) {
                v[w][p] = placed[p];
            }
            sum += dot(pair, float4(1.f));
        }
    }
};

inline float block_dot(device const block_q4_0* block, thread const half_block& y, short at) {
    device const ushort* words = (device const ushort*)(block->qs + at);
    float4 sums = 0.f;
    FOR_UNROLL (short w = 0; w < 4; ++w) {
        FOR_UNROLL (short p = 0; p < 4; ++p) {
            sums[p] += y.v[w][p] * (words[w] & (0xF << (4 * p)));
        }
    }
    return block->d * (sums.x + sums.y + sums.z + sums.w - 8.f * y.sum);
}

inline float block_dot(device const block_q5_1* block, thread const half_block& y, short at) {
    device const ushort* words = (device const ushort*)(block->qs + at);
    const uint fifth = *(device const uint*)block->qh >> at;
    float4 sums = 0.f;
    FOR_UNROLL (short w = 0; w < 4; ++w) {
        FOR_UNROLL (short p = 0; p < 4; ++p) {
            const short element = 2 * w + p / 2 + 16 * (p % 2);
            const uint quant = (words[w] & (0xF << (4 * p))) | ((fifth >> element & 1) << (4 * p + 4));
            sums[p] += y.v[w][p] * quant;
        }
    }
    return block->d * dot(sums, float4(1.f)) + block->m * y.sum;
}

// Sums of `rows` rows over the lanes; lane 0 writes them.
template <int rows>
inline void write_rows(device float* dst, thread const float (&sums)[rows], int first, int count,
                       ushort lane) {
    for (int row = 0; row < rows; ++row) {
        const float total = simd_sum(sums[row]);
        if (lane == 0 && first + row < count) {
            dst[first + row] = total;
        }
    }
}

template <typename block_t, int rows>
kernel void mul_mv_legacy(constant mul_mv_args& args [[buffer(0)]],
                          device const char* src0 [[buffer(1)]],
                          device const char* src1 [[buffer(2)]],
                          device char* dst [[buffer(3)]],
                          uint3 tgpig [[threadgroup_position_in_grid]],
                          ushort tiisg [[thread_index_in_simdgroup]],
                          ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    const int nb = args.ne00 / 32;
    const int first = (tgpig.x * FC_nsg + sgitg) * rows;
    const int im = tgpig.z;
    device const float* y =
        (device const float*)(src1 + tgpig.y * args.nb11 + im * args.nb12);
    device const block_t* ax[rows];
    FOR_UNROLL (int row = 0; row < rows; ++row) {
        const int r = min(first + row, args.ne01 - 1);  // a row that is there
        ax[row] = (device const block_t*)(src0 + r * args.nb01 + (im / args.r2) * args.nb02);
    }
    half_block yl;
    float sumf[rows] = {0.f};
    const short at = (tiisg % 2) * 8;
    for (int ib = tiisg / 2; ib < nb; ib += SIMD_WIDTH / 2) {
        yl.read(y + ib * 32 + at);
        FOR_UNROLL (short row = 0; row < rows; row++) {
            sumf[row] += block_dot(ax[row] + ib, yl, at);
        }
    }
    device float* out = (device float*)dst + (uint64_t)im * args.ne0 * args.ne1 +
                        (uint64_t)tgpig.y * args.ne0;
    write_rows(out, sumf, first, args.ne01, tiisg);
}

typedef decltype(mul_mv_legacy<block_q4_0, 4>) mul_mv_legacy_t;
template [[host_name("mul_mv_q4_0")]] kernel mul_mv_legacy_t mul_mv_legacy<block_q4_0, 4>;
template [[host_name("mul_mv_q5_1")]] kernel mul_mv_legacy_t mul_mv_legacy<block_q5_1, 3>;

// Simdgroups of a threadgroup share a row: they split the columns and meet in threadgroup memory.
kernel void mul_mv_q8_0(constant mul_mv_args& args [[buffer(0)]],
                        device const char* src0 [[buffer(1)]],
                        device const char* src1 [[buffer(2)]],
                        device char* dst [[buffer(3)]],
                        threadgroup float* shmem [[threadgroup(0)]],
                        uint3 tgpig [[threadgroup_position_in_grid]],
                        ushort tiisg [[thread_index_in_simdgroup]],
                        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short rows = 2;
    constexpr short quants = 8;  // of one lane and step
    const int first = tgpig.x * rows;
    const int im = tgpig.z;
    device const float* y = (device const float*)(src1 + tgpig.y * args.nb11 + im * args.nb12);
    float sumf[rows] = {0.f, 0.f};
    const short ix = tiisg / (32 / quants);
    const short il = tiisg % (32 / quants);
    for (int ib = sgitg * quants + ix; ib < args.ne00 / 32; ib += FC_nsg * quants) {
        for (short row = 0; row < rows; ++row) {
            if (first + row >= args.ne01) {
                break;
            }
            device const block_q8_0* block =
                (device const block_q8_0*)(src0 + (first + row) * args.nb01 +
                                           (im / args.r2) * args.nb02) + ib;
            float sumq = 0.f;
            for (short i = 0; i < quants; ++i) {
                sumq += block->qs[il * quants + i] * y[ib * 32 + il * quants + i];
            }
            sumf[row] += sumq * block->d;
        }
    }
    threadgroup float* shared_row[rows];
    for (short row = 0; row < rows; ++row) {
        shared_row[row] = shmem + SIMD_WIDTH * row;
        if (sgitg == 0) {
            shared_row[row][tiisg] = 0.f;
        }
        sumf[row] = simd_sum(sumf[row]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short row = 0; row < rows; ++row) {
        if (tiisg == 0) {
            shared_row[row][sgitg] = sumf[row];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device float* out = (device float*)dst + (uint64_t)im * args.ne0 * args.ne1 +
                        (uint64_t)tgpig.y * args.ne0;
    for (short row = 0; row < rows && first + row < args.ne01; ++row) {
        const float total = simd_sum(shared_row[row][tiisg]);
        if (tiisg == 0 && sgitg == 0) {
            out[first + row] = total;
        }
    }
}

// Two bytes hold the scale and minimum of the sub-block `j` and the sub-block `j + 1`.
static inline uchar2 scale_min(int j, device const uint8_t* q) {
    return j < 4 ? uchar2{uchar(q[j] & 63), uchar(q[j + 4] & 63)}
                 : uchar2{uchar((q[j + 4] & 0xF) | ((q[j - 4] & 0xc0) >> 2)),
                          uchar((q[j + 4] >> 4) | ((q[j] & 0xc0) >> 2))};
}

kernel void mul_mv_q4_K(constant mul_mv_args& args [[buffer(0)]],
                        device const char* src0 [[buffer(1)]],
                        device const char* src1 [[buffer(2)]],
                        device char* dst [[buffer(3)]],
                        uint3 tgpig [[threadgroup_position_in_grid]],
                        ushort tiisg [[thread_index_in_simdgroup]],
                        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    const int row = tgpig.x * FC_nsg + sgitg;
    if (row >= args.ne01) {
        return;
    }
    device const block_q4_K* x =
        (device const block_q4_K*)(src0 + row * args.nb01 + (tgpig.z / args.r2) * args.nb02);
    device const float* y =
        (device const float*)(src1 + tgpig.y * args.nb11 + tgpig.z * args.nb12);
    const short sub = tiisg / 4;     // of 32 elements
    const short part = tiisg % 4;    // of 8
    float sum = 0.f;
    for (int ib = 0; ib < args.ne00 / QK_K; ++ib) {
        const uchar2 sm = scale_min(sub, x[ib].scales);
        device const uint8_t* q = x[ib].qs + (sub / 2) * 32 + part * 8;
        device const float4* y4 = (device const float4*)(y + ib * QK_K + sub * 32 + part * 8);
        float dotted = 0.f, total = 0.f;
        for (short i = 0; i < 8; ++i) {
            const uint8_t nibble = sub & 1 ? q[i] >> 4 : q[i] & 0xF;
            dotted += y4[i / 4][i % 4] * nibble;
            total += y4[i / 4][i % 4];
        }
        sum += (float)x[ib].d * sm.x * dotted - (float)x[ib].dmin * sm.y * total;
    }
    sum = simd_sum(sum);
    if (tiisg == 0) {
        ((device float*)dst)[(uint64_t)(tgpig.z * args.ne1 + tgpig.y) * args.ne0 + row] = sum;
    }
}

kernel void mul_mv_q6_K(constant mul_mv_args& args [[buffer(0)]],
                        device const char* src0 [[buffer(1)]],
                        device const char* src1 [[buffer(2)]],
                        device char* dst [[buffer(3)]],
                        uint3 tgpig [[threadgroup_position_in_grid]],
                        ushort tiisg [[thread_index_in_simdgroup]],
                        ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    const int row = tgpig.x * FC_nsg + sgitg;
    if (row >= args.ne01) {
        return;
    }
    device const block_q6_K* x =
        (device const block_q6_K*)(src0 + row * args.nb01 + (tgpig.z / args.r2) * args.nb02);
    device const float* y =
        (device const float*)(src1 + tgpig.y * args.nb11 + tgpig.z * args.nb12);
    const short half_of = tiisg / 16, column = 2 * (tiisg % 16);
    float sumf = 0.f;
    for (int ib = 0; ib < args.ne00 / QK_K; ++ib, y += QK_K) {
        const ushort high = *(device const ushort*)(x[ib].qh + 32 * half_of + column);
        device const ushort* low = (device const ushort*)(x[ib].ql + 64 * half_of + column);
        float sums = 0.f;
        FOR_UNROLL (short k = 0; k < 4; ++k) {  // rows of 32 in this half
            const ushort four = low[16 * (k % 2)] >> (4 * (k / 2)) & 0x0F0F;
            const uchar2 quants = as_type<uchar2>(ushort(four | ((high >> (2 * k) & 0x0303) << 4)));
            device const float* part = y + 128 * half_of + 32 * k + column;
            const int8_t scale = x[ib].scales[8 * half_of + 2 * k + column / 16];
            sums += scale * dot(float2(char2(quants) - char(32)), float2(part[0], part[1]));
        }
        sumf += (float)x[ib].d * sums;
    }
    const float total = simd_sum(sumf);
    if (tiisg == 0) {
        ((device float*)dst)[(uint64_t)(tgpig.z * args.ne1 + tgpig.y) * args.ne0 + row] = total;
    }
}
