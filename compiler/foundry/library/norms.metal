#include "shared.h"

// One threadgroup for each row: y = x / sqrt(mean(x * x) + epsilon) * weight.
kernel void rms_norm(const device T* x [[buffer(0)]], const device T* weight [[buffer(1)]],
                     device T* y [[buffer(2)]], constant NormParams* params [[buffer(3)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint thread_index [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    const ulong first = ulong(row) * params->columns;
    float sum = 0;
    for (uint i = thread_index; i < params->columns; i += threads) {
        const float value = float(x[first + i]);
        sum += value * value;
    }
    sum = group_sum(sum, partial, simdgroup, lane, simdgroups);
    const float scale = rsqrt(sum / float(params->columns) + params->epsilon);
    for (uint i = thread_index; i < params->columns; i += threads) {
        y[first + i] = T(float(x[first + i]) * scale * float(weight[i]));
    }
}

// The same about the mean: y = (x - mean) / sqrt(variance + epsilon) * weight + bias. The variance
// is summed around the mean, in a pass of its own, so that nothing cancels.
kernel void layer_norm(const device T* x [[buffer(0)]], const device T* weight [[buffer(1)]],
                       const device T* bias [[buffer(2)]], device T* y [[buffer(3)]],
                       constant NormParams* params [[buffer(4)]],
                       uint row [[threadgroup_position_in_grid]],
                       uint thread_index [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    const ulong first = ulong(row) * params->columns;
    float sum = 0;
    for (uint i = thread_index; i < params->columns; i += threads) {
        sum += float(x[first + i]);
    }
    const float count = float(params->columns);
    const float mean = group_sum(sum, partial, simdgroup, lane, simdgroups) / count;
    float squares = 0;
    for (uint i = thread_index; i < params->columns; i += threads) {
        const float apart = float(x[first + i]) - mean;
        squares += apart * apart;
    }
    squares = group_sum(squares, partial, simdgroup, lane, simdgroups);
    const float scale = rsqrt(squares / count + params->epsilon);
    for (uint i = thread_index; i < params->columns; i += threads) {
        const float value = (float(x[first + i]) - mean) * scale;
        y[first + i] = T(value * float(weight[i]) + float(bias[i]));
    }
}
