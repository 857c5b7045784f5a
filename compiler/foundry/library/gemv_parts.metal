// Eight numbers of each vector from column k on; zeros behind the last. There are `vectors`. With
// IS_WHOLE columns come in eights.
template <uint VECTORS>
inline void load_vectors(const device T* x, uint columns, uint vectors, uint first, uint k,
                         thread float (&values)[VECTORS][8]) {
#pragma unroll
    for (uint v = 0; v < VECTORS; ++v) {
        const device T* from = x + ulong(min(first + v, vectors - 1)) * columns + k;
        if (IS_WHOLE || columns % 8 == 0) {
            const device vec<T, 4>* fours = reinterpret_cast<const device vec<T, 4>*>(from);
            const float4 low = float4(fours[0]), high = float4(fours[1]);
#pragma unroll
            for (uint i = 0; i < 4; ++i) {
                values[v][i] = low[i];
                values[v][i + 4] = high[i];
            }
        } else {
            const uint last = columns - 1 - k;
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                const float value = float(from[min(i, last)]);
                values[v][i] = i <= last ? value : 0.0f;
            }
        }
    }
}

// RMSNorm on the way: numbers are multiplied by gamma, their squares are summed.
template <uint VECTORS>
inline void scale_vectors(const device T* gamma, uint columns, uint k,
                          thread float (&values)[VECTORS][8], thread float (&squares)[VECTORS]) {
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
        const float weight = float(gamma[min(k + i, columns - 1)]);
#pragma unroll
        for (uint v = 0; v < VECTORS; ++v) {
            squares[v] += values[v][i] * values[v][i];
            values[v][i] *= weight;
        }
    }
}

// Adds the products of ROWS rows, from `first` on, with eight numbers of each vector. Rows beyond
// the last are read as the last.
template <typename Policy, uint ROWS, uint VECTORS>
inline void add_products(const device uchar* matrix, const device uchar* scales, uint rows,
                         uint columns, uint first, uint k, thread const float (&values)[VECTORS][8],
                         thread float (&sums)[ROWS][VECTORS]) {
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        float w[8];
        Policy::load8(matrix, scales, rows, columns, min(first + r, rows - 1), k, w);
#pragma unroll
        for (uint v = 0; v < VECTORS; ++v) {
            float sum = 0;
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                sum += w[i] * values[v][i];
            }
            sums[r][v] += sum;
        }
    }
}

// The same for formats that have codes: scales once for eight weights, offsets by sums of numbers.
template <typename Policy, uint ROWS, uint VECTORS>
inline void add_code_products(const device uchar* matrix, const device uchar* scales, uint rows,
                              uint columns, uint first, uint k,
                              thread const float (&values)[VECTORS][8],
                              thread float (&sums)[ROWS][VECTORS]) {
    float totals[VECTORS];
#pragma unroll
    for (uint v = 0; v < VECTORS; ++v) {
        totals[v] = 0;
#pragma unroll
        for (uint i = 0; i < 8; ++i) {
            totals[v] += values[v][i];
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        float w[8];
        const float2 scale = Policy::codes8(matrix, scales, rows, columns,
                                            min(first + r, rows - 1), k, w);
#pragma unroll
        for (uint v = 0; v < VECTORS; ++v) {
            float sum = 0;
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                sum += w[i] * values[v][i];
            }
            sums[r][v] += scale.x * sum + scale.y * totals[v];
        }
    }
}

// The same for sixteen columns, eight from k on and eight from k + 16 on, whose codes are the two
// halves of the same bytes.
template <typename Policy, uint ROWS, uint VECTORS>
inline void add_both_products(const device uchar* matrix, const device uchar* scales, uint rows,
                              uint columns, uint first, uint k,
                              thread const float (&values)[VECTORS][8],
                              thread const float (&others)[VECTORS][8],
                              thread float (&sums)[ROWS][VECTORS]) {
    float totals[VECTORS];
#pragma unroll
    for (uint v = 0; v < VECTORS; ++v) {
        totals[v] = 0;
#pragma unroll
        for (uint i = 0; i < 8; ++i) {
            totals[v] += values[v][i] + others[v][i];
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        float w[8], u[8];
        const float2 scale = Policy::codes16(matrix, scales, rows, columns,
                                             min(first + r, rows - 1), k, w, u);
#pragma unroll
        for (uint v = 0; v < VECTORS; ++v) {
            float sum = 0;
#pragma unroll
            for (uint i = 0; i < 8; ++i) {
                sum += w[i] * values[v][i] + u[i] * others[v][i];
            }
            sums[r][v] += scale.x * sum + scale.y * totals[v];
        }
    }
}
