// Chains of instructions. What they are comes from STATE (variables), UNROLLED (steps of a round)
// and RESULT, which ../chains.py puts before this text; steps take the operands pf, ph, pi and ps
// in turn, so that nothing can be computed beforehand.
#include <metal_stdlib>
using namespace metal;

struct Operands {
    float4 f;
    int4 i;
};

kernel void chains(device const Operands* operands [[buffer(0)]],
                   device uint* results [[buffer(1)]],
                   constant uint& rounds [[buffer(2)]],
                   uint at [[thread_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
    const float4 pf = operands[lane].f;
    const int4 pi = operands[lane].i;
    const half4 ph = half4(pf);
    const short4 ps = short4(pi);
    STATE
#pragma clang loop unroll(disable)
    for (uint round = 0; round < rounds; ++round) {
        UNROLLED
    }
    RESULT
}
