#include "shared.h"

// One threadgroup for each row: the place of the largest; of equal ones the first. NaN is never it.
kernel void argmax(const device T* x [[buffer(0)]], device uint* y [[buffer(1)]],
                   constant uint& columns [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint thread_index [[thread_index_in_threadgroup]],
                   uint threads [[threads_per_threadgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float most_of[32];
    threadgroup uint place_of[32];
    const device T* from = x + ulong(row) * columns;
    float most = -INFINITY;
    uint place = columns;
    for (uint i = thread_index; i < columns; i += threads) {
        const float value = float(from[i]);
        if (value > most || (value == most && i < place)) {
            most = value;
            place = i;
        }
    }
    place = group_argmax(most, place, most_of, place_of, simdgroup, lane, simdgroups);
    if (thread_index == 0) {
        y[row] = place < columns ? place : 0;
    }
}
