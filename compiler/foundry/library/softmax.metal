#include "shared.h"

// One threadgroup for each row: the largest, the sum of exponentials, the quotients.
kernel void softmax(const device T* x [[buffer(0)]], device T* y [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    const device T* from = x + ulong(row) * columns;
    device T* to = y + ulong(row) * columns;
    float most = -INFINITY;
    for (uint i = thread_index; i < columns; i += threads) {
        most = max(most, float(from[i]));
    }
    most = group_max(most, partial, simdgroup, lane, simdgroups);
    float sum = 0;
    for (uint i = thread_index; i < columns; i += threads) {
        sum += exp(float(from[i]) - most);
    }
    sum = group_sum(sum, partial, simdgroup, lane, simdgroups);
    for (uint i = thread_index; i < columns; i += threads) {
        to[i] = T(exp(float(from[i]) - most) / sum);
    }
}
