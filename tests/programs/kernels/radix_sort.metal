// A radix sort in three kernels a pass: histograms, scan of them, stable scatter.
#include <metal_stdlib>
using namespace metal;

#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)
#define THREADS 128
#define ITEMS 4
#define TILE (THREADS * ITEMS)

struct PassInfo {
    uint count;
    uint shift;
    uint tiles;
};

// Floats as unsigned integers of the same order.
static inline uint key_of(float value) {
    const uint bits = as_type<uint>(value);
    return bits ^ (bits & 0x80000000 ? 0xffffffffu : 0x80000000u);
}
static inline uint key_of(uint value) { return value; }
static inline uint key_of(int value) { return as_type<uint>(value) ^ 0x80000000u; }

// How many keys of each digit a tile has: digit-major, so that one scan gives all places.
template <typename T>
kernel void radix_histogram(device const T* keys [[buffer(0)]],
                            device uint* histograms [[buffer(1)]],
                            constant PassInfo& info [[buffer(2)]],
                            ushort tid [[thread_index_in_threadgroup]],
                            uint tile [[threadgroup_position_in_grid]]) {
    threadgroup atomic_uint counts[RADIX];
    if (tid < RADIX) {
        atomic_store_explicit(&counts[tid], 0, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tile * TILE + tid; i < min((tile + 1) * TILE, info.count); i += THREADS) {
        const uint digit = extract_bits(key_of(keys[i]), info.shift, RADIX_BITS);
        atomic_fetch_add_explicit(&counts[digit], 1u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < RADIX) {
        histograms[tid * info.tiles + tile] = atomic_load_explicit(&counts[tid], memory_order_relaxed);
    }
}

// One threadgroup turns counts into places: sums of what comes before.
kernel void radix_scan(device uint* values [[buffer(0)]], constant PassInfo& info [[buffer(1)]],
                       threadgroup uint* totals [[threadgroup(0)]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]]) {
    const uint count = RADIX * info.tiles;
    uint carried = 0;
    for (uint first = 0; first < count; first += threads) {
        const uint i = first + tid;
        const uint value = i < count ? values[i] : 0;
        const uint before = simd_prefix_exclusive_sum(value);
        if (lane == 31) {
            totals[simdgroup] = before + value;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simdgroup == 0) {
            const uint total = lane < threads / 32 ? totals[lane] : 0;
            const uint place = simd_prefix_exclusive_sum(total);
            if (lane < threads / 32) {
                totals[lane] = place;
            }
            if (lane == threads / 32 - 1) {
                totals[32] = place + total;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < count) {
            values[i] = carried + totals[simdgroup] + before;
        }
        carried += totals[32];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Lanes with the same digit find each other by ballots, one for each bit.
template <typename T>
kernel void radix_scatter(device const T* keys_in [[buffer(0)]],
                          device const uint* payload_in [[buffer(1)]],
                          device T* keys_out [[buffer(2)]],
                          device uint* payload_out [[buffer(3)]],
                          device const uint* places [[buffer(4)]],
                          constant PassInfo& info [[buffer(5)]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint tile [[threadgroup_position_in_grid]]) {
    constexpr uint simdgroups = THREADS / 32;
    threadgroup uint counts[simdgroups][RADIX];
    threadgroup uint base[RADIX];
    if (tid < RADIX) {
        base[tid] = places[tid * info.tiles + tile];
    }
    for (ushort item = 0; item < ITEMS; ++item) {
        const uint i = tile * TILE + item * THREADS + tid;
        const bool there = i < info.count;
        const T key = there ? keys_in[i] : T(0);
        const uint digit = extract_bits(key_of(key), info.shift, RADIX_BITS);
        ulong peers = (ulong)(simd_vote::vote_t)simd_ballot(there);
        for (ushort bit = 0; bit < RADIX_BITS; ++bit) {
            const bool set = (digit >> bit) & 1;
            const ulong ballot = (ulong)(simd_vote::vote_t)simd_ballot(set);
            peers &= set ? ballot : ~ballot;
        }
        const uint rank = popcount(peers & ((1ul << lane) - 1));
        if (tid < RADIX * simdgroups) {
            counts[tid / RADIX][tid % RADIX] = 0;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (there && rank == 0) {
            counts[simdgroup][digit] = popcount(peers);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (there) {
            uint place = base[digit] + rank;
            for (uint s = 0; s < simdgroup; ++s) {
                place += counts[s][digit];
            }
            keys_out[place] = key;
            payload_out[place] = payload_in[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid < RADIX) {
            for (uint s = 0; s < simdgroups; ++s) {
                base[tid] += counts[s][tid];
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

#define INSTANTIATE(T)                                                                         \
    template [[host_name("radix_histogram_" #T)]] kernel void radix_histogram<T>(              \
        device const T*, device uint*, constant PassInfo&, ushort, uint);                      \
    template [[host_name("radix_scatter_" #T)]] kernel void radix_scatter<T>(                  \
        device const T*, device const uint*, device T*, device uint*, device const uint*,      \
        constant PassInfo&, uint, uint, uint, uint);
INSTANTIATE(uint)
INSTANTIATE(int)
INSTANTIATE(float)

// A prefix sum without looking back: block sums, their scan by recursion, then the blocks again.
kernel void block_sums(device const uint* in [[buffer(0)]], device uint* sums [[buffer(1)]],
                       constant uint& count [[buffer(2)]],
                       uint i [[thread_position_in_grid]],
                       uint block [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup uint partial[32];
    const uint total = simd_sum(i < count ? in[i] : 0);
    if (simd_is_first()) {
        partial[tid / 32] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < 32) {
        const uint all = simd_sum(tid < simdgroups ? partial[tid] : 0);
        if (tid == 0) {
            sums[block] = all;
        }
    }
}
kernel void block_scan(device const uint* in [[buffer(0)]], device const uint* before [[buffer(1)]],
                       device uint* out [[buffer(2)]], constant uint& count [[buffer(3)]],
                       uint i [[thread_position_in_grid]],
                       uint block [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]]) {
    // Blelloch: up to a root, then down again.
    threadgroup uint tree[1024];
    tree[tid] = i < count ? in[i] : 0;
    for (uint step = 1; step < threads; step *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint at = (tid + 1) * step * 2 - 1;
        if (at < threads) {
            tree[at] += tree[at - step];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        tree[threads - 1] = 0;
    }
    for (uint step = threads / 2; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint at = (tid + 1) * step * 2 - 1;
        if (at < threads) {
            const uint left = tree[at - step];
            tree[at - step] = tree[at];
            tree[at] += left;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < count) {
        out[i] = before[block] + tree[tid];
    }
}
