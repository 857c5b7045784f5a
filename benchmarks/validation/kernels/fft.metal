// Fourier transforms of N complex numbers in threadgroup memory, one per threadgroup, by Stockham's
// passes of radix RADIX (2, 4 or 8; the first pass takes what is left over). Put before this text:
// N and RADIX.
#include <metal_stdlib>
using namespace metal;

inline float2 times(float2 a, float2 b) {
    return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
inline float2 turned(float2 a) { return float2(a.y, -a.x); }  // times -i
inline float2 twiddle(uint k, uint n) {
    const float angle = -2 * M_PI_F * float(k) / float(n);
    return float2(fast::cos(angle), fast::sin(angle));
}

template <uint R> struct Butterfly;
template <> struct Butterfly<1> {
    static void run(thread float2* x) {}
};
template <> struct Butterfly<2> {
    static void run(thread float2* x) {
        const float2 a = x[0], b = x[1];
        x[0] = a + b;
        x[1] = a - b;
    }
};
template <> struct Butterfly<4> {
    static void run(thread float2* x) {
        const float2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
        x[0] = a + c;
        x[1] = b + d;
        x[2] = a - c;
        x[3] = b - d;
    }
};
template <> struct Butterfly<8> {
    static void run(thread float2* x) {
        float2 even[4] = {x[0], x[2], x[4], x[6]};
        float2 odd[4] = {x[1], x[3], x[5], x[7]};
        Butterfly<4>::run(even);
        Butterfly<4>::run(odd);
        constexpr float h = 0.70710678f;
        odd[1] = float2(odd[1].x + odd[1].y, odd[1].y - odd[1].x) * h;
        odd[2] = turned(odd[2]);
        odd[3] = float2(odd[3].y - odd[3].x, -odd[3].x - odd[3].y) * h;
        for (uint i = 0; i < 4; ++i) {
            x[i] = even[i] + odd[i];
            x[i + 4] = even[i] - odd[i];
        }
    }
};

// One pass: `done` is the product of the radices of the passes before.
template <uint R>
void pass(threadgroup float2* data, uint done, uint in_group, uint size) {
    constexpr uint MOST = N / R > 512 ? N / R / 512 : 1;  // butterflies of a thread
    float2 x[MOST][R];
#pragma unroll
    for (uint m = 0; m < MOST; ++m) {
        const uint j = in_group + m * size;
        const uint k = j % done;
#pragma unroll
        for (uint r = 0; r < R; ++r) {
            x[m][r] = data[j + r * (N / R)];
        }
        if (done > 1) {
            const float2 w = twiddle(k, done * R);
            float2 power = w;
#pragma unroll
            for (uint r = 1; r < R; ++r) {
                x[m][r] = times(x[m][r], power);
                power = times(power, w);
            }
        }
        Butterfly<R>::run(x[m]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint m = 0; m < MOST; ++m) {
        const uint j = in_group + m * size;
        const uint k = j % done;
        const uint to = (j - k) * R + k;
#pragma unroll
        for (uint r = 0; r < R; ++r) {
            data[to + r * done] = x[m][r];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

constexpr uint power_left(uint n, uint r) {
    while (n % r == 0) {
        n /= r;
    }
    return n;
}
constant constexpr uint FIRST = power_left(N, RADIX);  // 1, 2 or 4

// N / RADIX threads, at most 512.
kernel void fft(device const float2* from [[buffer(0)]], device float2* to [[buffer(1)]],
                uint group [[threadgroup_position_in_grid]],
                uint in_group [[thread_index_in_threadgroup]],
                uint size [[threads_per_threadgroup]]) {
    threadgroup float2 data[N];
    from += group * N;
    to += group * N;
    for (uint i = in_group; i < N; i += size) {
        data[i] = from[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint done = 1;
    if constexpr (FIRST > 1) {
        // All butterflies of this pass, a thread's share of them in turn.
        constexpr uint EACH = RADIX / FIRST;
        float2 x[EACH][FIRST];
        constexpr uint PER_THREAD = N / RADIX > 512 ? N / RADIX / 512 : 1;
        float2 all[PER_THREAD][EACH][FIRST];
#pragma unroll
        for (uint p = 0; p < PER_THREAD; ++p) {
#pragma unroll
            for (uint e = 0; e < EACH; ++e) {
                const uint j = in_group + (p * EACH + e) * size;
#pragma unroll
                for (uint r = 0; r < FIRST; ++r) {
                    x[e][r] = data[j + r * (N / FIRST)];
                }
                Butterfly<FIRST>::run(x[e]);
#pragma unroll
                for (uint r = 0; r < FIRST; ++r) {
                    all[p][e][r] = x[e][r];
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint p = 0; p < PER_THREAD; ++p) {
#pragma unroll
            for (uint e = 0; e < EACH; ++e) {
                const uint j = in_group + (p * EACH + e) * size;
#pragma unroll
                for (uint r = 0; r < FIRST; ++r) {
                    data[j * FIRST + r] = all[p][e][r];
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        done = FIRST;
    }
#pragma unroll
    for (; done < N; done *= RADIX) {
        pass<RADIX>(data, done, in_group, size);
    }
    for (uint i = in_group; i < N; i += size) {
        to[i] = data[i];
    }
}
