// Device memory: streams, gathers, chains of pointers, atomics.
#include <metal_stdlib>
using namespace metal;

#ifndef SPAN
#define SPAN 1  // vectors of four floats that one thread adds, one after the other
#endif
#ifndef STRIDE
#define STRIDE 33
#endif

kernel void copy(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                 uint at [[thread_position_in_grid]]) {
    to[at] = from[at];
}

kernel void add_span(device const float4* a [[buffer(0)]], device const float4* b [[buffer(1)]],
                     device float4* to [[buffer(2)]], uint at [[thread_position_in_grid]]) {
#pragma unroll
    for (uint i = 0; i < SPAN; ++i) {
        to[at * SPAN + i] = a[at * SPAN + i] + b[at * SPAN + i];
    }
}

kernel void add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                device float* to [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    to[at] = a[at] + b[at];
}

kernel void triad(device const float4* a [[buffer(0)]], device const float4* b [[buffer(1)]],
                  device float4* to [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    to[at] = a[at] + 3.0f * b[at];
}

kernel void write(device float4* to [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    to[at] = float4(at);
}

// A thread reads four vectors, each a whole grid apart; what it writes hardly counts.
kernel void read(device const float4* from [[buffer(0)]], device float* to [[buffer(1)]],
                 constant uint& rounds [[buffer(2)]], uint at [[thread_position_in_grid]],
                 uint grid [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) {
    float4 sum = 0;
    for (uint round = 0; round < rounds; ++round) {
        sum += from[at + round * grid];
    }
    const float total = simd_sum(sum.x + sum.y + sum.z + sum.w);
    if (lane == 0) {
        to[at / 32] = total;
    }
}

kernel void gather_stride(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                          constant uint& count [[buffer(2)]],
                          uint at [[thread_position_in_grid]]) {
    to[at] = from[at * STRIDE % count];
}

// A random one of `count` words (a power of two) per step.
kernel void gather(device const uint* from [[buffer(0)]], device uint* to [[buffer(1)]],
                   constant uint& count [[buffer(2)]], constant uint& rounds [[buffer(3)]],
                   uint at [[thread_position_in_grid]]) {
    uint sum = 0, position = at * 2654435761u;
    for (uint round = 0; round < rounds; ++round) {
        position = position * 1664525u + 1013904223u;
        sum += from[(position >> 5) & (count - 1)];
    }
    to[at] = sum;
}

// Every element holds the position of the next.
kernel void chase(device const uint* next [[buffer(0)]], device uint* to [[buffer(1)]],
                  constant uint& steps [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    uint position = 0;
    for (uint step = 0; step < steps; step += 8) {
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
    }
    to[at] = position;
}

// ADDRESSES counters, SPACING words apart; 0 for one per thread.
#ifndef ADDRESSES
#define ADDRESSES 1
#define SPACING 1
#endif

kernel void atomics(device atomic_uint* counters [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                    uint at [[thread_position_in_grid]]) {
    const uint which = ADDRESSES == 0 ? at : at % max(ADDRESSES, 1) * SPACING;
    for (uint round = 0; round < rounds; ++round) {
        atomic_fetch_add_explicit(&counters[which], round + 1, memory_order_relaxed);
    }
}

kernel void atomic_chain(device atomic_uint* counters [[buffer(0)]], device uint* to [[buffer(1)]],
                         constant uint& rounds [[buffer(2)]]) {
    uint sum = 1;
    for (uint round = 0; round < rounds; ++round) {
        sum = atomic_fetch_add_explicit(&counters[0], sum, memory_order_relaxed);
    }
    to[0] = sum;
}

kernel void nothing(device uint* to [[buffer(0)]]) {}
