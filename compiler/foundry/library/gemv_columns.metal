// Words of eight codes of a row, words of neighbouring rows beside each other: a lane has ROWS of
// them, so that LANES lanes read whole lines. A simdgroup reads TOGETHER groups of a row at a time,
// and simdgroups share them. Rows come in multiples of ROWS; lanes beyond the last read the last
// ones.

constant constexpr uint LANES = 32 / TOGETHER;

struct Words {
    uint of[ROWS];
};

inline Words load_words(const device uint* from) {
    const vec<uint, ROWS> found = *reinterpret_cast<const device vec<uint, ROWS>*>(from);
    Words words;
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        words.of[r] = found[r];
    }
    return words;
}

// Four pairs of E2M1 as halves, of which 2^14 times the values: codes i and i + 4 of a word.
inline float2 decoded(uint word, uint i) {
    const uint codes = word >> (4 * i);
    const half2 both = as_type<half2>((codes & 0x00070007u) << 9 | (codes & 0x00080008u) << 12);
    return float2(both);
}

template <typename Policy, typename Epilogue>
void gemv_columns(const device uchar* matrix, const device T* x, device T* y,
                  constant GemvParams* params, const device uchar* scales, uint3 gid, uint3 lid,
                  threadgroup float* partial, Epilogue epilogue) {
    const uint simdgroup = lid.x / 32, lane = lid.x % LANES;
    const uint rows = params->rows, columns = params->columns;
    const uint first = (gid.x * LANES + lane) * ROWS;
    const uint own = min(first, rows - ROWS);
    const device uint* words = reinterpret_cast<const device uint*>(matrix) + own;
    const device half* factors = reinterpret_cast<const device half*>(scales) + own;
    const device T* vector = x + ulong(gid.y) * columns;
    float sums[ROWS] = {};
    for (uint group = lid.x / LANES; group < columns / GROUP; group += SIMDGROUPS * TOGETHER) {
        float part[ROWS] = {};
#pragma unroll(UNROLL)
        for (uint word = 0; word < GROUP / 8; ++word) {
            const uint k = group * GROUP + word * 8;
            const Words codes = load_words(words + ulong(k / 8) * rows);
            const device vec<T, 4>* from = reinterpret_cast<const device vec<T, 4>*>(vector + k);
            const float4 low = float4(from[0]), high = float4(from[1]);
#pragma unroll
            for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
                for (uint i = 0; i < 4; ++i) {
                    const float2 w = decoded(codes.of[r], i);
                    part[r] += w.x * low[i] + w.y * high[i];
                }
            }
        }
#pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
            sums[r] += part[r] * (float(factors[ulong(group) * rows + r]) * 16384.0f);
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
        for (uint apart = LANES; apart < 32; apart *= 2) {
            sums[r] += simd_shuffle_xor(sums[r], ushort(apart));
        }
        if (lid.x % 32 < LANES) {
            partial[(simdgroup * ROWS + r) * LANES + lane] = sums[r];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint which = lid.x; which < ROWS * LANES; which += 32 * SIMDGROUPS) {
        float sum = 0;
        for (uint s = 0; s < SIMDGROUPS; ++s) {
            sum += partial[s * ROWS * LANES + which];
        }
        const uint row = first + which / LANES;  // lane is which % LANES
        if (row < rows) {
            const uint at = gid.y * rows + row;
            y[at] = T(epilogue(sum, at, row));
        }
    }
}
