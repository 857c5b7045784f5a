// How weights are read: a policy per format, each with the same two functions.
#pragma once
#ifndef ALWAYS_INLINE
#define ALWAYS_INLINE inline __attribute__((always_inline))
#endif

struct PolicyF16 {
    static constexpr constant uint BLOCK = 32;
    static ALWAYS_INLINE half scale_of(const device uchar*, ulong, uint) { return 1.0h; }
    template <uint N>
    static ALWAYS_INLINE float dot(const device uchar* matrix, ulong at, thread const float* x, float) {
        const device half* w = (const device half*)matrix + at;
        float sum = 0.0f;
        #pragma unroll
        for (uint i = 0; i < N; ++i) {
            sum += float(w[i]) * x[i];
        }
        return sum;
    }
};

struct PolicyQ8 {
    static constexpr constant uint BLOCK = 32;
    static ALWAYS_INLINE half scale_of(const device uchar* scales, ulong row, uint block) {
        const ulong at = 2 * (row + block);
        return as_type<half>(ushort(scales[at] | (ushort(scales[at + 1]) << 8)));
    }
    template <uint N>
    static ALWAYS_INLINE float dot(const device uchar* matrix, ulong at, thread const float* x, float s) {
        const device char4* w = (const device char4*)(matrix + at);
        float4 sum = 0.0f;
        #pragma unroll
        for (uint i = 0; i < N / 4; ++i) {
            sum += float4(w[i]) * float4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
        }
        return s * (sum.x + sum.y + sum.z + sum.w);
    }
};
