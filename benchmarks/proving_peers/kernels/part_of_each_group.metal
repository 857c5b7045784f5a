// Each threadgroup has a part of its own, whose length threads do not divide.
#include <metal_stdlib>
using namespace metal;

//! [kernel.part_of_each_group]
//! threadgroup = 256
kernel void part_of_each_group(device int* out, uint t [[thread_index_in_threadgroup]],
                               uint group [[threadgroup_position_in_grid]]) {
    for (uint i = t; i < 2064; i += 256) out[group * 2064 + i] = i;
}
