// Choosing the next token: the k most likely, a nucleus of probability p, or the most likely.
#include <metal_stdlib>
using namespace metal;

#define BLOCK 256

struct SamplingParams {
    uint vocabulary;
    uint k;
    float p;
    float temperature;
    float uniform_number;
};

template <typename T> struct Candidate {
    T value;
    uint index;
    bool before(Candidate<T> other) const thread {
        return value > other.value || (value == other.value && index < other.index);
    }
};

template <typename T> inline Candidate<T> simd_best(Candidate<T> mine) {
    for (ushort step = 16; step > 0; step >>= 1) {
        const Candidate<T> other = {simd_shuffle_xor(mine.value, step), simd_shuffle_xor(mine.index, step)};
        if (other.before(mine)) {
            mine = other;
        }
    }
    return mine;
}

// Every round takes the best that comes after the last one taken.
template <typename T>
kernel void top_k(device const T* logits [[buffer(0)]], device T* values [[buffer(1)]],
                  device uint* indices [[buffer(2)]], constant SamplingParams& params [[buffer(3)]],
                  uint row [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                  uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup Candidate<T> found[32];
    threadgroup Candidate<T> taken;
    logits += row * params.vocabulary;
    const Candidate<T> nothing = {T(-INFINITY), 0xffffffffu};
    Candidate<T> last = {T(INFINITY), 0};
    bool first = true;
    for (uint round = 0; round < params.k; ++round) {
        Candidate<T> best = nothing;
        for (uint i = tid; i < params.vocabulary; i += threads) {
            const Candidate<T> here = {logits[i], i};
            if ((first || last.before(here)) && here.before(best)) {
                best = here;
            }
        }
        best = simd_best(best);
        if (lane == 0) {
            found[sg] = best;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (sg == 0) {
            best = simd_best(lane < (threads + 31) / 32 ? Candidate<T>(found[lane]) : nothing);
            if (lane == 0) {
                taken = best;
                values[row * params.k + round] = best.value;
                indices[row * params.k + round] = best.index;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        last = taken;
        first = false;
    }
}
template [[host_name("top_k_float")]] kernel void top_k<float>(
    device const float*, device float*, device uint*, constant SamplingParams&, uint, uint, uint,
    uint, uint);
template [[host_name("top_k_half")]] kernel void top_k<half>(
    device const half*, device half*, device uint*, constant SamplingParams&, uint, uint, uint,
    uint, uint);

// The least set of tokens with probability p, found by bisection of the threshold; then the token
// at which the running sum of the set passes the random number.
[[max_total_threads_per_threadgroup(BLOCK)]]
kernel void top_p_sample(device const float* logits [[buffer(0)]], device uint* token [[buffer(1)]],
                         constant SamplingParams& params [[buffer(2)]],
                         device uint* kept [[buffer(3)]],
                         uint row [[threadgroup_position_in_grid]],
                         ushort tid [[thread_index_in_threadgroup]],
                         ushort lane [[thread_index_in_simdgroup]],
                         ushort sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float partial[BLOCK / 32];
    threadgroup float result;
    threadgroup atomic_uint count;
    threadgroup uint chosen;
    logits += row * params.vocabulary;
    const auto total_of = [&](float mine) {
        mine = simd_sum(mine);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) partial[sg] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float total = 0;
        for (short i = 0; i < BLOCK / 32; ++i) total += partial[i];
        return total;
    };
    float most = -INFINITY;
    for (uint i = tid; i < params.vocabulary; i += BLOCK) {
        most = max(most, logits[i]);
    }
    most = simd_max(most);
    if (lane == 0) partial[sg] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short i = 0; i < BLOCK / 32; ++i) most = max(most, partial[i]);
    const auto weight = [&](uint i) { return exp((logits[i] - most) / params.temperature); };
    float mine = 0;
    for (uint i = tid; i < params.vocabulary; i += BLOCK) {
        mine += weight(i);
    }
    const float total = total_of(mine);
    float low = 0, high = 1;  // of the weights to keep
    for (short step = 0; step < 24; ++step) {
        const float middle = (low + high) / 2;
        mine = 0;
        for (uint i = tid; i < params.vocabulary; i += BLOCK) {
            const float w = weight(i);
            mine += w >= middle ? w : 0;
        }
        if (total_of(mine) >= params.p * total) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (tid == 0) {
        atomic_store_explicit(&count, 0, memory_order_relaxed);
        chosen = 0;
        result = 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mine = 0;
    uint number = 0;
    for (uint i = tid; i < params.vocabulary; i += BLOCK) {
        const float w = weight(i);
        mine += w >= low ? w : 0;
        number += w >= low;
    }
    atomic_fetch_add_explicit(&count, number, memory_order_relaxed);
    const float target = params.uniform_number * total_of(mine);
    // Blocks of tokens in order; in each a prefix sum over the threadgroup.
    for (uint first = 0; first < params.vocabulary; first += BLOCK) {
        const uint i = first + tid;
        float w = i < params.vocabulary ? weight(i) : 0;
        w = w >= low ? w : 0;
        const float inclusive = simd_prefix_inclusive_sum(w);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 31) partial[sg] = inclusive;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float before = result;
        for (ushort s = 0; s < sg; ++s) before += partial[s];
        const float end = before + inclusive, start = end - w;
        if (w > 0 && start <= target && target < end) {
            chosen = i;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid == BLOCK - 1) result = end;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        token[row] = chosen;
        kept[row] = atomic_load_explicit(&count, memory_order_relaxed);
    }
}

kernel void repetition_penalty(device float* logits [[buffer(0)]], device const int* recent [[buffer(1)]],
                               constant float& penalty [[buffer(2)]],
                               uint i [[thread_position_in_grid]]) {
    const float l = logits[recent[i]];
    logits[recent[i]] = l > 0 ? l / penalty : l * penalty;
}
