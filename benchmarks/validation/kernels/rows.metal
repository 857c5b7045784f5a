// Rows: softmax and sums. T is the type of the elements.
#include <metal_stdlib>
using namespace metal;

#ifndef T
#define T float
#endif

struct Shape {
    uint columns;
};

// Reductions of a threadgroup: by a tree in threadgroup memory, or by simdgroups.
struct Largest {
    static float of(float a, float b) { return max(a, b); }
    static float of_simdgroup(float a) { return simd_max(a); }
    static constant constexpr float none = -INFINITY;
};
struct Total {
    static float of(float a, float b) { return a + b; }
    static float of_simdgroup(float a) { return simd_sum(a); }
    static constant constexpr float none = 0;
};

template <typename Op>
float by_tree(float value, threadgroup float* scratch, uint in_group, uint size) {
    scratch[in_group] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (in_group < half_size) {
            scratch[in_group] = Op::of(scratch[in_group], scratch[in_group + half_size]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    const float result = scratch[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return result;
}

template <typename Op>
float by_simdgroups(float value, threadgroup float* scratch, uint in_group, uint size) {
    value = Op::of_simdgroup(value);
    if (size <= 32) {
        return value;
    }
    if (in_group % 32 == 0) {
        scratch[in_group / 32] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint lane = in_group % 32;
    value = Op::of_simdgroup(lane < size / 32 ? scratch[lane] : Op::none);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

#if defined(TREE)
#define REDUCE by_tree
#else
#define REDUCE by_simdgroups
#endif

// A threadgroup per row, its elements read three times.
kernel void softmax(device const T* from [[buffer(0)]], device T* to [[buffer(1)]],
                    constant Shape& shape [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint in_group [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float scratch[1024];
    const uint columns = shape.columns;
    from += row * columns;
    to += row * columns;
    float largest = -INFINITY;
    for (uint i = in_group * 4; i < columns; i += size * 4) {
        const float4 x = float4(*(device const vec<T, 4>*)(from + i));
        largest = max(largest, max(max(x.x, x.y), max(x.z, x.w)));
    }
    largest = REDUCE<Largest>(largest, scratch, in_group, size);
    float total = 0;
    for (uint i = in_group * 4; i < columns; i += size * 4) {
        const float4 x = fast::exp(float4(*(device const vec<T, 4>*)(from + i)) - largest);
        total += x.x + x.y + x.z + x.w;
    }
    total = REDUCE<Total>(total, scratch, in_group, size);
    const float scale = 1 / total;
    for (uint i = in_group * 4; i < columns; i += size * 4) {
        const float4 x = fast::exp(float4(*(device const vec<T, 4>*)(from + i)) - largest);
        *(device vec<T, 4>*)(to + i) = vec<T, 4>(x * scale);
    }
}

// A threadgroup per row, which it keeps in registers: EACH vectors of four per thread.
#ifndef EACH
#define EACH 1
#endif

kernel void softmax_short(device const T* from [[buffer(0)]], device T* to [[buffer(1)]],
                          constant Shape& shape [[buffer(2)]],
                          uint row [[threadgroup_position_in_grid]],
                          uint in_group [[thread_index_in_threadgroup]],
                          uint size [[threads_per_threadgroup]]) {
    threadgroup float scratch[1024];
    const uint at = row * shape.columns + in_group * 4;
    float4 x[EACH];
    float4 largest = -INFINITY, sum = 0;
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
        x[i] = float4(*(device const vec<T, 4>*)(from + at + i * size * 4));
        largest = max(largest, x[i]);
    }
    const float most = REDUCE<Largest>(max(max(largest.x, largest.y), max(largest.z, largest.w)),
                                       scratch, in_group, size);
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
        x[i] = fast::exp(x[i] - most);
        sum += x[i];
    }
    const float scale =
        1 / REDUCE<Total>(sum.x + sum.y + sum.z + sum.w, scratch, in_group, size);
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
        *(device vec<T, 4>*)(to + at + i * size * 4) = vec<T, 4>(x[i] * scale);
    }
}

// Partial sums of everything: one per threadgroup; a second pass adds those.
kernel void sum_all(device const float4* from [[buffer(0)]], device float* to [[buffer(1)]],
                    constant uint& rounds [[buffer(2)]], uint at [[thread_position_in_grid]],
                    uint grid [[threads_per_grid]], uint group [[threadgroup_position_in_grid]],
                    uint in_group [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float scratch[32];
    float4 sum = 0;
    for (uint round = 0; round < rounds; ++round) {
        sum += from[at + round * grid];
    }
    const float total =
        by_simdgroups<Total>(sum.x + sum.y + sum.z + sum.w, scratch, in_group, size);
    if (in_group == 0) {
        to[group] = total;
    }
}
