// Source: written from memory of the class: two 4-bit weights in one byte
// Rows of even and odd number share bytes, and each stores its half by load and store.
#include <metal_stdlib>
using namespace metal;

//! [kernel.nibbles]
//! threads = [16, 4]
//! threadgroup = [16, 1]
//! arguments.w = { shape = [4, 16], dtype = "float32", fill = "random" }
//! arguments.q = { shape = [2, 16], dtype = "uint8", fill = "zeros" }
uchar quantise(float v) { return uchar(clamp(rint(v * 7) + 8, 0.0f, 15.0f)); }

kernel void nibbles(device const float* w, device uchar* q, uint2 p [[thread_position_in_grid]]) {
    device uchar& byte = q[p.y / 2 * 16 + p.x];
#ifdef FIXED
    if (p.y % 2 == 0) {
        byte = quantise(w[p.y * 16 + p.x]) | quantise(w[(p.y + 1) * 16 + p.x]) << 4;
    }
#else
    byte |= quantise(w[p.y * 16 + p.x]) << (p.y % 2 * 4);  // BUG race-read-write|race-write-write
#endif
}
