#include "shared.h"

// A row's logits as integers, so that sums have one value in any order, on any machine.
struct Logits {
    const device T* x;
    uint columns;
    float most;    // the largest
    float factor;  // log2(e) / temperature
    uint least;    // weight that is kept
    uint cut;      // key of the last that is kept; of those with this key, places up to `last`
    uint last;

    // Numbers alone: what is none, or beyond all of them, is the largest or least of them.
    float value(uint i) const {
        const float found = float(x[i]);
        return found >= -FLT_MAX ? min(found, FLT_MAX) : -FLT_MAX;
    }

    // In the order of values.
    uint key(uint i) const {
        const uint bits = as_type<uint>(value(i));
        return bits == 0x80000000u ? bits : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }

    // 2^28 * 2^-((most - value) * factor): the series of 2^-t, 0 <= t < 1, in 32 bits.
    uint weight(uint i) const {
        const float z = (most - value(i)) * factor;
        if (!(z < 28.0f)) {
            return 0;
        }
        const uint fixed = uint(z * 16777216.0f);
        const uint t = fixed << 8;
        uint sum = 0x0000ffe6u;
        sum = 0x000a1849u - mulhi(t, sum);
        sum = 0x00576200u - mulhi(t, sum);
        sum = 0x0276556eu - mulhi(t, sum);
        sum = 0x0e35846cu - mulhi(t, sum);
        sum = 0x3d7f7bffu - mulhi(t, sum);
        sum = 0xb17217f8u - mulhi(t, sum);
        return (0x80000000u - (mulhi(t, sum) >> 1)) >> (3 + (fixed >> 24));
    }

    bool is_kept(uint i) const {
        const uint own = key(i);
        return own > cut || (own == cut && i <= last);
    }

    uint kept_weight(uint i) const {
        const uint found = is_kept(i) ? weight(i) : 0;
        return found >= least ? found : 0;
    }
};

// What is looked for, and in which order: the first places of all have the largest keys.
enum Search { BY_COUNT, TIES_BY_COUNT, BY_WEIGHT, TIES_BY_WEIGHT, BY_PLACE };

template <Search SEARCH>
inline uint key_of(Logits logits, uint i) {
    return SEARCH == BY_COUNT || SEARCH == BY_WEIGHT ? logits.key(i) : ~i;
}

// `among` is the key of those that are tied.
template <Search SEARCH>
inline uint mass_of(Logits logits, uint i, uint among) {
    if (SEARCH == BY_COUNT) {
        return 1;
    }
    if (SEARCH == TIES_BY_COUNT) {
        return logits.key(i) == among;
    }
    if (SEARCH == TIES_BY_WEIGHT && logits.key(i) != among) {
        return 0;
    }
    return logits.kept_weight(i);
}

struct Found {
    uint key;
    ulong above;  // mass of larger keys
};

// The largest key so that its mass and that of larger ones reach `target`: eight bits at a time, by
// a histogram. Masses are below 2^29 and counted in two halves, of which 2^18 fit in 32 bits.
template <Search SEARCH>
inline Found find(Logits logits, ulong target, uint among, threadgroup atomic_uint* low,
                  threadgroup atomic_uint* high, threadgroup ulong* groups, uint thread_index) {
    Found found = {0, 0};
    for (uint shift = 32; shift > 0;) {
        shift -= 8;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint bin = thread_index; bin < 256; bin += THREADS) {
            atomic_store_explicit(&low[bin], 0, memory_order_relaxed);
            atomic_store_explicit(&high[bin], 0, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < logits.columns; i += THREADS) {
            const uint key = key_of<SEARCH>(logits, i);
            if (shift < 24 && (key ^ found.key) >> (shift + 8) != 0) {
                continue;
            }
            const uint mass = mass_of<SEARCH>(logits, i, among);
            if (mass != 0) {
                const uint bin = key >> shift & 255u;
                atomic_fetch_add_explicit(&low[bin], mass & 0x3fffu, memory_order_relaxed);
                atomic_fetch_add_explicit(&high[bin], mass >> 14, memory_order_relaxed);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (thread_index < 16) {
            ulong sum = 0;
            for (uint bin = thread_index * 16; bin < thread_index * 16 + 16; ++bin) {
                sum += atomic_load_explicit(&low[bin], memory_order_relaxed);
                sum += ulong(atomic_load_explicit(&high[bin], memory_order_relaxed)) << 14;
            }
            groups[thread_index] = sum;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint group = 15;
        while (group > 0 && found.above + groups[group] < target) {
            found.above += groups[group];
            --group;
        }
        uint bin = group * 16 + 15;
        for (; bin > group * 16; --bin) {
            const ulong upper = atomic_load_explicit(&high[bin], memory_order_relaxed);
            const ulong lower = atomic_load_explicit(&low[bin], memory_order_relaxed);
            const ulong mass = lower + (upper << 14);
            if (found.above + mass >= target) {
                break;
            }
            found.above += mass;
        }
        found.key |= bin << shift;
    }
    return found;
}

// The mass of all that is kept, in every thread.
inline ulong total_weight(Logits logits, threadgroup ulong* groups, uint thread_index,
                          uint simdgroup, uint lane) {
    ulong sum = 0;
    for (uint i = thread_index; i < logits.columns; i += THREADS) {
        sum += logits.kept_weight(i);
    }
    // Below 2^46: in three parts, whose sums over a simdgroup fit in 32 bits.
    const ulong whole = ulong(simd_sum(uint(sum) & 0xffffu)) +
                        (ulong(simd_sum(uint(sum >> 16) & 0xffffu)) << 16) +
                        (ulong(simd_sum(uint(sum >> 32))) << 32);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        groups[simdgroup] = whole;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    ulong total = 0;
    for (uint i = 0; i < THREADS / 32; ++i) {
        total += groups[i];
    }
    return total;
}

// A number of 64 bits for each counter of a seed (splitmix64).
inline ulong random_bits(ulong seed, ulong counter) {
    ulong z = seed + 0x9e3779b97f4a7c15ul * (counter + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
    return z ^ (z >> 31);
}

// One threadgroup chooses a place of a row of logits: by temperature, of the `top_k` largest, those
// of at least `least` of the largest's weight, and of these the fewest that have `top_p` of it all.
kernel void sample(const device T* x [[buffer(0)]], device uint* y [[buffer(1)]],
                   constant SampleParams* params [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint thread_index [[thread_index_in_threadgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
    threadgroup atomic_uint low[256];
    threadgroup atomic_uint high[256];
    threadgroup ulong groups[32];
    threadgroup float partial[32];
    Logits logits = {x + ulong(row) * params->columns, params->columns, 0, params->factor,
                     params->least, 0, 0xffffffffu};
    float most = -FLT_MAX;
    for (uint i = thread_index; i < params->columns; i += THREADS) {
        most = max(most, logits.value(i));
    }
    logits.most = group_max(most, partial, simdgroup, lane, THREADS / 32);

    if (params->top_k < params->columns) {
        Found found =
            find<BY_COUNT>(logits, params->top_k, 0, low, high, groups, thread_index);
        const ulong ties = params->top_k - found.above;
        const Found last =
            find<TIES_BY_COUNT>(logits, ties, found.key, low, high, groups, thread_index);
        logits.cut = found.key;
        logits.last = ~last.key;
    }
    ulong total = total_weight(logits, groups, thread_index, simdgroup, lane);
    if (params->top_p < 65536) {
        const ulong target = max((total * params->top_p + 65535) >> 16, 1ul);
        Found found = find<BY_WEIGHT>(logits, target, 0, low, high, groups, thread_index);
        const Found last = find<TIES_BY_WEIGHT>(logits, target - found.above, found.key, low, high,
                                                groups, thread_index);
        logits.cut = found.key;
        logits.last = ~last.key;
        total = total_weight(logits, groups, thread_index, simdgroup, lane);
    }
    // A place below the total; 32 random bits times the total, without what is below 2^32.
    const ulong counter = (ulong(params->step) << 32) + row;
    const ulong random = random_bits(params->seed, counter) >> 32;
    const ulong place = (random * (total >> 24) + (random * (total & 0xffffff) >> 24)) >> 8;
    const Found chosen = find<BY_PLACE>(logits, place + 1, 0, low, high, groups, thread_index);
    if (thread_index == 0) {
        y[row] = ~chosen.key;
    }
}
