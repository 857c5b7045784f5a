// Source: written from memory of the class: a binary search that does not end
// The lower bound stays where it is when only two elements are left.
#include <metal_stdlib>
using namespace metal;

//! [kernel.lower_bound]
//! threads = 32
//! threadgroup = 32
//! arguments.sorted = { shape = 64, fill = "iota" }
//! arguments.y = { shape = 32, dtype = "uint32", fill = "zeros" }
kernel void lower_bound(device const float* sorted, device uint* y,
                        uint i [[thread_position_in_grid]]) {
    const float want = i * 2 + 0.5f;
    uint low = 0, high = 63;
    while (low < high) {  // BUG runaway
        const uint mid = (low + high) / 2;
        if (sorted[mid] < want) {
#ifdef FIXED
            low = mid + 1;
#else
            low = mid;  // MAYBE runaway
#endif
        } else {
            high = mid;
        }
    }
    y[i] = low;
}
