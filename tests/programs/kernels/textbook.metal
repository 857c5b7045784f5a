// What every course has: scans, borders, searches, as people write them down.
#include <metal_stdlib>
using namespace metal;

#define POSITIONS                                         \
    uint t [[thread_position_in_grid]],                   \
    uint l [[thread_position_in_threadgroup]],            \
    uint size [[threads_per_threadgroup]]
#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)

kernel void scan_by_choice(device const uint* in, device uint* out, POSITIONS) {
    threadgroup uint a[256];
    a[l] = in[t];
    WAIT;
    for (uint d = 1; d < size; d <<= 1) {
        uint v = l >= d ? a[l - d] : 0;
        WAIT;
        a[l] += v;
        WAIT;
    }
    out[t] = a[l];
}

kernel void scan_by_signed_places(device const uint* in, device uint* out, POSITIONS) {
    threadgroup uint a[256];
    int at = l;
    a[at] = in[t];
    WAIT;
    for (int d = 1; d < int(size); d *= 2) {
        uint v = 0;
        if (at - d >= 0) v = a[at - d];
        WAIT;
        a[at] += v;
        WAIT;
    }
    out[t] = a[at];
}

kernel void scan_between_two_arrays(device const uint* in, device uint* out, POSITIONS) {
    threadgroup uint a[256], b[256];
    threadgroup uint* from = a;
    threadgroup uint* to = b;
    from[l] = in[t];
    WAIT;
    for (ushort d = 1; d < size; d <<= 1) {
        to[l] = l >= d ? from[l] + from[ushort(l - d)] : from[l];
        WAIT;
        threadgroup uint* kept = from;
        from = to;
        to = kept;
    }
    out[t] = from[l];
}

kernel void scan_backwards(device const uint* in, device uint* out, POSITIONS) {
    uint sum = 0;
    for (uint i = t + 1; i-- > t - l;) sum += in[i];
    out[t] = sum;
}

// The sum of a threadgroup of any size.
kernel void sum_by_halves(device const uint* in, device uint* out, POSITIONS) {
    threadgroup uint a[256];
    a[l] = in[t];
    for (uint left = size; left > 1;) {
        WAIT;
        uint half_ = (left + 1) / 2;
        if (l + half_ < left) a[l] += a[l + half_];
        left = half_;
    }
    WAIT;
    out[t] = a[0];
}

// Seven neighbours, what is outside being 0.
kernel void window_of_ints(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    uint sum = 0;
    for (int d = -3; d <= 3; d++) {
        int i = int(t) + d;
        if (i < 0) continue;
        if (i >= int(n)) break;
        sum += in[i];
    }
    out[t] = sum;
}

kernel void window_that_wraps(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    uint sum = 0;
    for (int d = -3; d <= 3; d++) {
        if (t + d < n) sum += in[t + d];
    }
    out[t] = sum;
}

kernel void window_by_choice(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    uint sum = in[t];
    for (uint d = 1; d <= min(n, 3u); d++) {
        sum += t >= d ? in[t - d] : 0;
        sum += t + d < n ? in[t + d] : 0;
    }
    out[t] = sum;
}

kernel void window_by_pointer(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    uint sum = 0;
    device const uint* p = in + t - 3;
    for (int i = 0; i < 7; i++, p++) {
        if (p >= in && p < in + n) sum += *p;
    }
    out[t] = sum;
}

// Everything from the end.
kernel void reverse_by_complement(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    out[t] = (in + n)[~int(t)];
}

kernel void reverse_lanes(device const uint* in, device uint* out, constant uint& n,
                          uint lane [[thread_index_in_simdgroup]], POSITIONS) {
    device const uint* end = in + (n - t + lane);
    out[t] = end[~int(lane)];
}

kernel void reverse_from_behind(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    out[n - 1 - t] = *(in + t);
}

// Four neighbours in a row share a place that counts from the 64th thread, in both directions.
kernel void shift_below_zero(device const uint* in, device uint* out, POSITIONS) {
    int i = (int(t) - 64) >> 2;
    out[t] = in[i + 16] + (in + 16)[i];
}

kernel void mask_below_zero(device const uint* in, device uint* out, POSITIONS) {
    int i = (int(t) - 64) & ~3;
    out[t] = (in + 64)[i] * 2;
}

// How a thread's search ended: at the end, at a 7, at something large, or at one that all see.
kernel void search(device const uint* in, device uint* out, constant uint& n, POSITIONS) {
    uint found, i = t;
    uint step = 0;
    do {
        if (in[step] > 990) {
            out[t] = 3;
            found = 10;
            goto stopped;
        }
        if (in[i] > 800) {
            out[t] = 4;
            found = 20;
            goto stopped;
        }
        step++;
        i = i + 1 < n ? i + 1 : 0;
    } while (in[step] != 7);
    out[t] = 5;
    return;
stopped:
    out[t] += found * (in[0] + 1);
}
