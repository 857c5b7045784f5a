// A transformer's step on block-quantised weights. Put before this text: WEIGHTS, 16, 8 or 4 for
// F16, Q8_0 or Q4_0.
#include <metal_stdlib>
using namespace metal;

struct block_f16 {
    half quants[32];
};
struct block_q8 {
    half scale;
    char quants[32];
};
struct block_q4 {
    half scale;
    uchar quants[16];  // low nibbles: elements 0 to 15, high nibbles: 16 to 31
};
static_assert(sizeof(block_q8) == 34 && sizeof(block_q4) == 18, "blocks have no padding");

#if WEIGHTS == 16
typedef block_f16 block;
#elif WEIGHTS == 8
typedef block_q8 block;
#else
typedef block_q4 block;
#endif

struct Shape {
    uint rows;     // of the weights
    uint columns;  // of the weights, which is the length of a vector
    uint vectors;
    uint row_blocks;  // from one row of weights to the next, in blocks
};

// ---- Weights times one vector ----

// F16: a simdgroup per row.
kernel void matvec_f16(device const half* weights [[buffer(0)]],
                       device const float* vector [[buffer(1)]],
                       device float* to [[buffer(2)]], constant Shape& shape [[buffer(3)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    weights += (group.z * shape.rows + group.x) * shape.columns;
    vector += group.z * shape.columns;
    device const half4* row = (device const half4*)weights;
    device const float4* other = (device const float4*)vector;
    float sum = 0;
    for (uint i = lane; i < shape.columns / 4; i += 32) {
        const float4 a = float4(row[i]), b = other[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        to[group.z * shape.rows + group.x] = sum;
    }
}

constant constexpr uint ROWS = 4;  // of a simdgroup
constant constexpr uint SIMDGROUPS = 2;

inline void write_rows(device float* to, thread const float (&sums)[ROWS], uint first, uint rows,
                       uint lane) {
#pragma unroll
    for (uint row = 0; row < ROWS; ++row) {
        const float total = simd_sum(sums[row]);
        if (lane == 0 && first + row < rows) {
            to[first + row] = total;
        }
    }
}

// Q8_0: four lanes share a block.
kernel void matvec_q8(device const block_q8* weights [[buffer(0)]],
                      device const float* vector [[buffer(1)]], device float* to [[buffer(2)]],
                      constant Shape& shape [[buffer(3)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    const uint blocks = shape.columns / 32;
    const uint first = (group * SIMDGROUPS + simdgroup) * ROWS;
    weights += first * blocks;
    const uint part = lane % 4 * 8;
    float sums[ROWS] = {0, 0, 0, 0};
    for (uint b = lane / 4; b < blocks; b += 8) {
        float y[8];
#pragma unroll
        for (uint i = 0; i < 8; ++i) {
            y[i] = vector[b * 32 + part + i];
        }
#pragma unroll
        for (uint row = 0; row < ROWS; ++row) {
            device const block_q8& x = weights[row * blocks + b];
            device const char* quants = x.quants + part;
            float sum = 0;
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                sum += quants[i] * y[i];
            }
            sums[row] += sum * x.scale;
        }
    }
    write_rows(to, sums, first, shape.rows, lane);
}

// Q4_0: two lanes share a block; nibbles stay where they are in a word of 16 bits, and the elements
// of the vector are divided by what the place is worth.
kernel void matvec_q4(device const block_q4* weights [[buffer(0)]],
                      device const float* vector [[buffer(1)]], device float* to [[buffer(2)]],
                      constant Shape& shape [[buffer(3)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    const uint blocks = shape.columns / 32;
    const uint first = (group * SIMDGROUPS + simdgroup) * ROWS;
    weights += first * blocks;
    const uint part = lane % 2 * 8;
    float sums[ROWS] = {0, 0, 0, 0};
    for (uint b = lane / 2; b < blocks; b += 16) {
        device const float* from = vector + b * 32 + part;
        float y[16], total = 0;
#pragma unroll
        for (uint i = 0; i < 8; i += 2) {
            total += from[i] + from[i + 1] + from[i + 16] + from[i + 17];
            y[2 * i] = from[i];
            y[2 * i + 1] = from[i + 1] / 256;
            y[2 * i + 2] = from[i + 16] / 16;
            y[2 * i + 3] = from[i + 17] / 4096;
        }
#pragma unroll
        for (uint row = 0; row < ROWS; ++row) {
            device const block_q4& x = weights[row * blocks + b];
            device const ushort* words = (device const ushort*)(x.quants + part);
            float2 sum = 0;
#pragma unroll
            for (uint i = 0; i < 4; ++i) {
                sum.x += y[4 * i] * (words[i] & 0x000F) + y[4 * i + 1] * (words[i] & 0x0F00);
                sum.y += y[4 * i + 2] * (words[i] & 0x00F0) + y[4 * i + 3] * (words[i] & 0xF000);
            }
            sums[row] += x.scale * (sum.x + sum.y - 8 * total);
        }
    }
    write_rows(to, sums, first, shape.rows, lane);
}

// ---- Weights times many vectors ----

// Sixteen weights, the first or second half of a block.
inline void dequantise(device const block_f16* x, uint second, thread half4x4& to) {
    to = *(device const half4x4*)(x->quants + 16 * second);
}
inline void dequantise(device const block_q8* x, uint second, thread half4x4& to) {
    device const char* quants = x->quants + 16 * second;
    const float scale = x->scale;
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
        to[i / 4][i % 4] = half(quants[i] * scale);
    }
}
inline void dequantise(device const block_q4* x, uint second, thread half4x4& to) {
    device const ushort* words = (device const ushort*)x->quants;
    const float low = second ? x->scale / 16.0f : float(x->scale), high = low / 256.0f;
    const float offset = -8.0f * x->scale;
    const ushort low_mask = second ? 0x00F0 : 0x000F, high_mask = low_mask << 8;
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
        to[i / 2][2 * (i % 2)] = half((words[i] & low_mask) * low + offset);
        to[i / 2][2 * (i % 2) + 1] = half((words[i] & high_mask) * high + offset);
    }
}

constant constexpr uint BLOCK_ROWS = 64, BLOCK_VECTORS = 32, DEPTH = 32;

// Tiles of 8 x 8 one after the other in threadgroup memory; 4 simdgroups, each 32 rows x 16 vectors.
kernel void matmul(device const block* weights [[buffer(0)]],
                   device const float* vectors [[buffer(1)]], device float* to [[buffer(2)]],
                   constant Shape& shape [[buffer(3)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint in_group [[thread_index_in_threadgroup]]) {
    threadgroup half sa[BLOCK_ROWS * DEPTH];
    threadgroup float sb[BLOCK_VECTORS * DEPTH];
    weights += group.z * shape.rows * shape.row_blocks;
    vectors += group.z * shape.vectors * shape.columns;
    to += group.z * shape.rows * shape.vectors;
    const uint first_row = group.y * BLOCK_ROWS, first_vector = group.x * BLOCK_VECTORS;
    const uint my_row = in_group / 2, second = in_group % 2;
    const uint my_vector = in_group / 4, my_part = in_group % 4;
    device const block* x = weights + min(first_row + my_row, shape.rows - 1) * shape.row_blocks;
    device const float* y =
        vectors + min(first_vector + my_vector, shape.vectors - 1) * shape.columns + 8 * my_part;
    simdgroup_float8x8 sums[8];
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
        sums[i] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    }
    for (uint k = 0; k < shape.columns; k += DEPTH) {
        half4x4 sixteen;
        dequantise(x, second, sixteen);
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint i = 0; i < 16; ++i) {
            // Tile of rows my_row / 8 and depth 2 * second + i / 8, transposed.
            const uint tile = (2 * second + i / 8) * (BLOCK_ROWS / 8) + my_row / 8;
            sa[tile * 64 + i % 8 * 8 + my_row % 8] = sixteen[i / 4][i % 4];
        }
        threadgroup float4* into =
            (threadgroup float4*)(sb + (my_part * (BLOCK_VECTORS / 8) + my_vector / 8) * 64 +
                                  my_vector % 8 * 8);
        into[0] = *(device const float4*)y;
        into[1] = *(device const float4*)(y + 4);
        x += 1;
        y += DEPTH;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup const half* from_a = sa + simdgroup % 2 * 4 * 64;
        threadgroup const float* from_b = sb + simdgroup / 2 * 2 * 64;
#pragma unroll
        for (uint d = 0; d < DEPTH / 8; ++d) {
            simdgroup_half8x8 a[4];
            simdgroup_float8x8 b[2];
#pragma unroll
            for (uint i = 0; i < 4; ++i) {
                simdgroup_load(a[i], from_a + i * 64);
            }
            simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
            for (uint i = 0; i < 2; ++i) {
                simdgroup_load(b[i], from_b + i * 64);
            }
            from_a += BLOCK_ROWS / 8 * 64;
            from_b += BLOCK_VECTORS / 8 * 64;
            simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                simdgroup_multiply_accumulate(sums[i], b[i / 4], a[i % 4], sums[i]);
            }
        }
    }
    device float* c = to + first_row + simdgroup % 2 * 32 +
                      (first_vector + simdgroup / 2 * 16) * shape.rows;
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
        simdgroup_store(sums[i], c + i % 4 * 8 + i / 4 * 8 * shape.rows, shape.rows);
    }
}

// ---- The rest ----

inline float all_of(float value, bool largest, threadgroup float* scratch, uint in_group,
                    uint size) {
    value = largest ? simd_max(value) : simd_sum(value);
    if (size <= 32) {
        return value;
    }
    if (in_group % 32 == 0) {
        scratch[in_group / 32] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint lane = in_group % 32;
    value = lane < size / 32 ? scratch[lane] : (largest ? -INFINITY : 0.0f);
    value = largest ? simd_max(value) : simd_sum(value);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

kernel void rms_norm(device const float4* from [[buffer(0)]], device float4* to [[buffer(1)]],
                     constant uint& width [[buffer(2)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint in_group [[thread_index_in_threadgroup]],
                     uint size [[threads_per_threadgroup]]) {
    threadgroup float scratch[32];
    from += row * width / 4;
    to += row * width / 4;
    float sum = 0;
    for (uint i = in_group; i < width / 4; i += size) {
        const float4 x = from[i];
        sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    sum = all_of(sum, false, scratch, in_group, size);
    const float scale = fast::rsqrt(sum / width + 1e-5f);
    for (uint i = in_group; i < width / 4; i += size) {
        to[i] = from[i] * scale;
    }
}

kernel void scale_rows(device const float4* from [[buffer(0)]],
                       device const float4* weights [[buffer(1)]],
                       device float4* to [[buffer(2)]], constant uint& width [[buffer(3)]],
                       uint at [[thread_position_in_grid]]) {
    to[at] = from[at] * weights[at % (width / 4)];
}

kernel void add(device const float4* a [[buffer(0)]], device const float4* b [[buffer(1)]],
                device float4* to [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    to[at] = a[at] + b[at];
}

kernel void multiply(device const float4* a [[buffer(0)]], device const float4* b [[buffer(1)]],
                     device float4* to [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    to[at] = a[at] * b[at];
}

kernel void silu(device const float4* from [[buffer(0)]], device float4* to [[buffer(1)]],
                 uint at [[thread_position_in_grid]]) {
    const float4 x = from[at];
    to[at] = x / (1.0f + fast::exp(-x));
}

// A threadgroup per head and token; thetas of pairs of neighbours.
kernel void rope(device const float2* from [[buffer(0)]], device float2* to [[buffer(1)]],
                 constant uint& width [[buffer(2)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 heads [[threadgroups_per_grid]],
                 uint2 in_group [[thread_position_in_threadgroup]]) {
    const uint first = (group.y * heads.x + group.x) * width / 2;
    for (uint i = in_group.x; i < width / 2; i += 32) {
        const float theta = group.y * fast::pow(10000.0f, -2.0f * i / width);
        const float c = fast::cos(theta), s = fast::sin(theta);
        const float2 x = from[first + i];
        to[first + i] = float2(x.x * c - x.y * s, x.x * s + x.y * c);
    }
}

kernel void to_half(device const float4* from [[buffer(0)]], device half4* to [[buffer(1)]],
                    uint at [[thread_position_in_grid]]) {
    to[at] = half4(from[at]);
}

kernel void copy(device const float4* from [[buffer(0)]], device float4* to [[buffer(1)]],
                 uint at [[thread_position_in_grid]]) {
    to[at] = from[at];
}

kernel void softmax(device const float4* from [[buffer(0)]], device float4* to [[buffer(1)]],
                    constant uint& width [[buffer(2)]], constant float& scale [[buffer(3)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint in_group [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float scratch[32];
    from += row * width / 4;
    to += row * width / 4;
    float largest = -INFINITY;
    for (uint i = in_group; i < width / 4; i += size) {
        const float4 x = from[i] * scale;
        largest = max(largest, max(max(x.x, x.y), max(x.z, x.w)));
    }
    largest = all_of(largest, true, scratch, in_group, size);
    float sum = 0;
    for (uint i = in_group; i < width / 4; i += size) {
        const float4 x = fast::exp(from[i] * scale - largest);
        sum += x.x + x.y + x.z + x.w;
        to[i] = x;
    }
    sum = all_of(sum, false, scratch, in_group, size);
    for (uint i = in_group; i < width / 4; i += size) {
        to[i] = to[i] / sum;
    }
}
