// A stage of a transitive closure, of a block on the diagonal.
#include <metal_stdlib>
using namespace metal;

//! [kernel.closure_stage]
//! threadgroup = [8, 8]
// assay: assume(groups.x == 1 and groups.y == 1 and stage < 8)
kernel void closure_stage(device uint* graph, constant uint& stage,
                          uint2 at [[thread_position_in_threadgroup]]) {
    threadgroup uint block[8][8];
    uint y = stage * 8 + at.y, x = stage * 8 + at.x;
    block[at.y][at.x] = graph[y * 64 + x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 8; ++k) {
        if (block[at.y][at.x] == 0) {
            if (block[at.y][k] != 0 && block[k][at.x] != 0) block[at.y][at.x] = stage * 8 + k + 2;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    graph[y * 64 + x] = block[at.y][at.x];
}
