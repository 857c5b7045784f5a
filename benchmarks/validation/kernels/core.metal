// What happens inside one core: threadgroup memory, barriers, divergence, registers, stack.
#include <metal_stdlib>
using namespace metal;

#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef ADDRESSES
#define ADDRESSES 1
#endif
#ifndef LIVE
#define LIVE 64
#endif
#ifndef BYTES
#define BYTES 16
#endif

constant constexpr uint WORDS = 4096;
// The numbers in front of the results; the first two are the factors of chains.
constant constexpr uint FRONT = 32;

// Sixteen words per round, lanes STRIDE words apart.
kernel void strided(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                    uint in_group [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]], uint at [[thread_position_in_grid]]) {
    threadgroup float words[WORDS + 16 * 32];
    for (uint i = in_group; i < WORDS + 16 * 32; i += size) {
        words[i] = i;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sums[4] = {0, 0, 0, 0};
    uint first = in_group * STRIDE;
    for (uint round = 0; round < rounds; ++round) {
        threadgroup const float* from = words + first % WORDS;
#pragma unroll
        for (uint i = 0; i < 16; ++i) {
            sums[i % 4] += from[i * 32];
        }
        first += 1;
    }
    to[at] = sums[0] + sums[1] + sums[2] + sums[3];
}

// Every word holds the position of the next.
kernel void threadgroup_chase(device uint* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                              uint lane [[thread_index_in_threadgroup]]) {
    threadgroup uint next[1024];
    for (uint i = lane; i < 1024; i += 32) {
        next[i] = (i + 37) % 1024;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    uint position = lane;
    for (uint round = 0; round < rounds; ++round) {
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
        position = next[position];
    }
    to[lane] = position;
}

// A store and the load that depends on it, eight times per round.
kernel void store_to_load(device uint* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                          uint lane [[thread_index_in_threadgroup]]) {
    threadgroup uint words[64];
    uint value = lane;
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 8; ++i) {
            words[lane] = value;
            simdgroup_barrier(mem_flags::mem_threadgroup);
            value = words[lane ^ 1];
        }
    }
    to[lane] = value;
}

kernel void barriers(device uint* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                     uint lane [[thread_index_in_threadgroup]]) {
    uint value = lane;
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 16; ++i) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        value += round;
    }
    to[lane] = value;
}

// ADDRESSES counters of a threadgroup.
kernel void threadgroup_atomics(device uint* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                                uint in_group [[thread_index_in_threadgroup]],
                                uint at [[thread_position_in_grid]]) {
    threadgroup atomic_uint counters[1024];
    atomic_store_explicit(&counters[in_group], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 4; ++i) {
            atomic_fetch_add_explicit(&counters[in_group % ADDRESSES], round + i + 1,
                                      memory_order_relaxed);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    to[at] = atomic_load_explicit(&counters[in_group], memory_order_relaxed);
}

kernel void threadgroup_atomic_chain(device uint* to [[buffer(0)]],
                                     constant uint& rounds [[buffer(1)]]) {
    threadgroup atomic_uint counter;
    atomic_store_explicit(&counter, 0, memory_order_relaxed);
    uint sum = 1;
    for (uint round = 0; round < rounds; ++round) {
        sum = atomic_fetch_add_explicit(&counter, sum, memory_order_relaxed);
    }
    to[0] = sum;
}

inline float chain(float x, float a, float b, uint rounds) {
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 32; ++i) {
            x = fma(x, a, b);
        }
    }
    return x;
}

// Lanes below `taken` do one chain, the others another.
kernel void if_else(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                    constant uint& taken [[buffer(2)]], uint at [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    const float a = to[0], b = to[1];
    float x = at;
    if (lane < taken) {
        x = chain(x, a, b, rounds);
    } else {
        x = chain(x, b, a, rounds);
    }
    to[FRONT + at] = x;
}

// Lanes below `taken` do a chain, the others nothing.
kernel void if_only(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                    constant uint& taken [[buffer(2)]], uint at [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    const float a = to[0], b = to[1];
    float x = at;
    for (uint round = 0; round < rounds; ++round) {
        x += a;
        if (lane < taken) {
            x = chain(x, a, b, 1);
        }
    }
    to[FRONT + at] = x;
}

// No branch at all.
kernel void uniform_chain(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                          uint at [[thread_position_in_grid]]) {
    to[FRONT + at] = chain(at, to[0], to[1], rounds);
}

// LIVE values, all of them needed until the end.
kernel void live_registers(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                           uint at [[thread_position_in_grid]]) {
    const float a = to[0], b = to[1];
    float values[LIVE];
#pragma unroll
    for (uint i = 0; i < LIVE; ++i) {
        values[i] = at + i;
    }
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < LIVE; ++i) {
            values[i] = fma(values[i], a, b);
        }
    }
    float sum = 0;
#pragma unroll
    for (uint i = 0; i < LIVE; ++i) {
        sum += values[i];
    }
    to[FRONT + at] = sum;
}

// The same chain on values in an array: known places, and places known only at run time.
kernel void array_known(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                        uint at [[thread_position_in_grid]]) {
    const float a = to[0], b = to[1];
    float values[32];
#pragma unroll
    for (uint i = 0; i < 32; ++i) {
        values[i] = at + i;
    }
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 32; ++i) {
            values[i] = fma(values[i], a, b);
        }
    }
    float sum = 0;
#pragma unroll
    for (uint i = 0; i < 32; ++i) {
        sum += values[i];
    }
    to[FRONT + at] = sum;
}

kernel void array_indexed(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                          constant uint& step [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    const float a = to[0], b = to[1];
    float values[32];
    for (uint i = 0; i < 32; ++i) {
        values[i] = at + i;
    }
    uint which = at;
    for (uint round = 0; round < 32 * rounds; ++round) {
        values[which % 32] = fma(values[which % 32], a, b);
        which += step;
    }
    float sum = 0;
    for (uint i = 0; i < 32; ++i) {
        sum += values[i];
    }
    to[FRONT + at] = sum;
}

// What simdgroup functions do, by way of threadgroup memory.
kernel void emulated(device uint* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                     uint in_group [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint at [[thread_position_in_grid]]) {
    threadgroup uint words[1024];
    threadgroup uint* mine = words + (in_group - lane);
    uint value = at;
    for (uint round = 0; round < rounds; ++round) {
#if defined(SHUFFLE)
        mine[lane] = value;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        value = mine[(lane + 7) % 32];
#elif defined(PREFIX)
        for (uint step = 1; step < 32; step *= 2) {
            mine[lane] = value;
            simdgroup_barrier(mem_flags::mem_threadgroup);
            value += lane >= step ? mine[lane - step] : 0;
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
#else
        for (uint step = 16; step > 0; step /= 2) {
            mine[lane] = value;
            simdgroup_barrier(mem_flags::mem_threadgroup);
            value = value + mine[lane ^ step];
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
#endif
    }
    to[at] = value;
}

// A threadgroup with BYTES of threadgroup memory that stays for a while.
kernel void resident(device float* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                     threadgroup float* words [[threadgroup(0)]],
                     uint in_group [[thread_index_in_threadgroup]],
                     uint at [[thread_position_in_grid]]) {
    if (in_group < 2) {
        words[in_group] = at;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    to[at] = chain(at, words[0], words[1], rounds);
}

// 8 x 8 matrices: a chain of products per accumulator.
#ifndef MATRIX
#define MATRIX float
#endif
#ifndef CHAINS
#define CHAINS 1
#endif

kernel void matrices(device MATRIX* to [[buffer(0)]], constant uint& rounds [[buffer(1)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint in_group [[simdgroups_per_threadgroup]]) {
    simdgroup_matrix<MATRIX, 8, 8> a, b, sums[CHAINS];
    simdgroup_load(a, to, 8);
    simdgroup_load(b, to + 64, 8);
    for (uint i = 0; i < CHAINS; ++i) {
        sums[i] = make_filled_simdgroup_matrix<MATRIX, 8>(MATRIX(i));
    }
    for (uint round = 0; round < rounds; ++round) {
#pragma unroll
        for (uint i = 0; i < 16; ++i) {
            simdgroup_multiply_accumulate(sums[i % CHAINS], a, b, sums[i % CHAINS]);
        }
    }
    device MATRIX* mine = to + 128 + (group * in_group + simdgroup) * CHAINS * 64;
    for (uint i = 0; i < CHAINS; ++i) {
        simdgroup_store(sums[i], mine + i * 64, 8);
    }
}
