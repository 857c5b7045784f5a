// Weights that are indices into tables: a non-linear 4-bit code, and codebooks of eight with signs.
#include <metal_stdlib>
using namespace metal;

#define GGML_TABLE_BEGIN(type, name, size) static const constant type name[size] = {
#define GGML_TABLE_END() };

// A 4-bit code with its levels denser around zero.
GGML_TABLE_BEGIN(int8_t, levels, 16)
    -121, -95, -74, -57, -42, -29, -18, -8, 1, 11, 23, 37, 53, 71, 92, 117
GGML_TABLE_END()

constant float levels_f[16] = {
    -121.f, -95.f, -74.f, -57.f, -42.f, -29.f, -18.f, -8.f,
    1.f, 11.f, 23.f, 37.f, 53.f, 71.f, 92.f, 117.f
};

// Eight magnitudes in eight bytes.
GGML_TABLE_BEGIN(uint64_t, grid, 16)
    0x0808080808080808, 0x080808081908192b, 0x0808192b082b0819, 0x08192b0819080808,
    0x082b082b19191919, 0x1908081908190819, 0x19082b0808080819, 0x1919082b2b080808,
    0x19191919082b082b, 0x192b080808190808, 0x2b08081919082b08, 0x2b08192b08080819,
    0x2b190819082b1908, 0x2b192b2b08191908, 0x2b2b08082b2b0808, 0x2b2b2b2b19081919
GGML_TABLE_END()

GGML_TABLE_BEGIN(uint8_t, lane_bits, 8) 1, 2, 4, 8, 16, 32, 64, 128 GGML_TABLE_END()

typedef struct { half d; uint8_t qs[16]; } block_nl;
typedef struct { half d; uint16_t qs[4]; uint8_t signs[4]; } block_grid;  // 32 weights

struct lookup_args {
    int32_t ne00, ne01;
    uint64_t nb01;
};

kernel void mul_mv_nl(constant lookup_args& args [[buffer(0)]],
                      device const char* src0 [[buffer(1)]],
                      device const float* y [[buffer(2)]],
                      device float* dst [[buffer(3)]],
                      threadgroup float* shmem [[threadgroup(0)]],
                      uint group [[threadgroup_position_in_grid]],
                      ushort tiisg [[thread_index_in_simdgroup]],
                      ushort sgitg [[simdgroup_index_in_threadgroup]],
                      ushort nsg [[simdgroups_per_threadgroup]]) {
    if (sgitg == 0) {
        shmem[tiisg] = levels_f[tiisg % 16];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int row = group * nsg + sgitg;
    if (row >= args.ne01) return;
    device const block_nl* x = (device const block_nl*)(src0 + args.nb01 * row);
    const short ix = tiisg / 2, it = tiisg % 2;
    float sumf = 0.f;
    uint32_t aux32[2];
    thread const uint8_t* q8 = (thread const uint8_t*)aux32;
    for (int ib = ix; ib < args.ne00 / 32; ib += 16) {
        device const uint16_t* q2 = (device const uint16_t*)(x[ib].qs) + 4 * it;
        float4 acc = {0.f};
        for (short l = 0; l < 2; ++l) {
            const uint32_t word = q2[2 * l] | (uint32_t(q2[2 * l + 1]) << 16);
            aux32[0] = word & 0x0f0f0f0f;
            aux32[1] = (word >> 4) & 0x0f0f0f0f;
            device const float* part = y + ib * 32 + 8 * it + 4 * l;
            for (short i = 0; i < 4; ++i) {
                acc[0] += part[i] * shmem[q8[i]];
                acc[1] += part[16 + i] * shmem[q8[4 + i]];
            }
        }
        sumf += (float)x[ib].d * (acc[0] + acc[1]);
    }
    const float total = simd_sum(sumf);
    if (tiisg == 0) {
        dst[row] = total;
    }
}

// Rows chosen by index, decoded by the table in constant memory.
kernel void get_rows_nl(constant lookup_args& args [[buffer(0)]],
                        device const char* src0 [[buffer(1)]],
                        device const int32_t* rows [[buffer(2)]],
                        device half* dst [[buffer(3)]],
                        uint2 gid [[thread_position_in_grid]]) {
    const int row = rows[gid.y];
    device const block_nl* x = (device const block_nl*)(src0 + args.nb01 * row) + gid.x / 32;
    const uint at = gid.x % 32;
    const uint8_t code = at < 16 ? x->qs[at] & 0xF : x->qs[at - 16] >> 4;
    dst[gid.y * args.ne00 + gid.x] = (half)((float)x->d * levels[code]);
}

// A block's quants: 12 bits of each are two grid indices of 4 bits and a scale of 4.
kernel void mul_mv_grid(constant lookup_args& args [[buffer(0)]],
                        device const char* src0 [[buffer(1)]],
                        device const float* y [[buffer(2)]],
                        device float* dst [[buffer(3)]],
                        threadgroup uint64_t* sgrid [[threadgroup(0)]],
                        uint row [[threadgroup_position_in_grid]],
                        ushort tiisg [[thread_index_in_simdgroup]]) {
    if (tiisg < 16) {
        sgrid[tiisg] = grid[tiisg];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device const block_grid* x = (device const block_grid*)(src0 + args.nb01 * row);
    float sumf = 0.f;
    for (int chunk = tiisg; chunk < args.ne00 / 8; chunk += 32) {  // of 8 weights
        device const block_grid* b = x + chunk / 4;
        const uint16_t q = b->qs[chunk % 4];
        const uint8_t signs = b->signs[chunk % 4];
        threadgroup const uint8_t* magnitude = (threadgroup const uint8_t*)(sgrid + (q & 15));
        float sum = 0.f;
        for (short j = 0; j < 8; ++j) {
            sum += y[8 * chunk + j] * magnitude[j] * select(1, -1, signs & lane_bits[j]);
        }
        sumf += (float)b->d * (0.5f + (q >> 12)) * sum * 0.25f;
    }
    sumf = simd_sum(sumf);
    if (simd_is_first()) {
        dst[row] = sumf;
    }
}
