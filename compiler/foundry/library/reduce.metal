#include "shared.h"

// One threadgroup for each row: the sum of its numbers.
kernel void row_sum(const device T* x [[buffer(0)]], device T* y [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    float sum = 0;
    for (uint i = thread_index; i < columns; i += threads) {
        sum += float(x[ulong(row) * columns + i]);
    }
    sum = group_sum(sum, partial, simdgroup, lane, simdgroups);
    if (thread_index == 0) {
        y[row] = T(sum);
    }
}

// The largest of its numbers, none of which is NaN.
kernel void row_max(const device T* x [[buffer(0)]], device T* y [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    float most = -INFINITY;
    for (uint i = thread_index; i < columns; i += threads) {
        most = max(most, float(x[ulong(row) * columns + i]));
    }
    most = group_max(most, partial, simdgroup, lane, simdgroups);
    if (thread_index == 0) {
        y[row] = T(most);
    }
}
