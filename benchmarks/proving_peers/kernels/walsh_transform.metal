// A Walsh transform with steps of four.
#include <metal_stdlib>
using namespace metal;

//! [kernel.walsh_transform]
//! threadgroup = 128
kernel void walsh_transform(device float* out, device const float* in, constant uint& steps,
                            uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float data[512];
    for (uint at = t; at < 512; at += 128) data[at] = in[group * 512 + at];
    for (uint stride = 128; stride > 0; stride >>= 2) {
        uint low = t & (stride - 1);
        uint first = ((t - low) << 2) + low;
        uint second = first + stride, third = second + stride, fourth = third + stride;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float a = data[first], b = data[second], c = data[third], d = data[fourth];
        float e = a + c, f = a - c, g = b + d, h = b - d;
        data[first] = e + g;
        data[second] = e - g;
        data[third] = f + h;
        data[fourth] = f - h;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint at = t; at < 512; at += 128) out[group * 512 + at] = data[at];
}
