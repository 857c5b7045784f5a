#pragma once
// What kernels of the library share. Rows are reduced by a whole threadgroup.

// The sum of `value` over a threadgroup of whole simdgroups, in every thread; all of them call it.
// `partial` has a float for each simdgroup, 32 at most.
inline float group_sum(float value, threadgroup float* partial, uint simdgroup, uint lane,
                       uint simdgroups) {
    const float sum = simd_sum(value);
    threadgroup_barrier(mem_flags::mem_threadgroup);  // partial may still be read from before
    if (lane == 0) {
        partial[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(lane < simdgroups ? partial[lane] : 0.0f);
}

// The same for the largest; `value` is no NaN.
inline float group_max(float value, threadgroup float* partial, uint simdgroup, uint lane,
                       uint simdgroups) {
    const float most = simd_max(value);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        partial[simdgroup] = most;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_max(lane < simdgroups ? partial[lane] : -INFINITY);
}

// The place of the largest of `value`s at `place`s, in every thread; of equal ones the first place.
// `partial` and `places` have a number for each simdgroup.
inline uint group_argmax(float value, uint place, threadgroup float* partial,
                         threadgroup uint* places, uint simdgroup, uint lane, uint simdgroups) {
    const float most = simd_max(value);
    const uint first = simd_min(value == most ? place : 0xffffffffu);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        partial[simdgroup] = most;
        places[simdgroup] = first;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float other = lane < simdgroups ? partial[lane] : -INFINITY;
    const uint there = lane < simdgroups ? places[lane] : 0xffffffffu;
    return simd_min(other == simd_max(other) ? there : 0xffffffffu);
}
