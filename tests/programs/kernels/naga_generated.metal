// language: metal3.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

// What translators of WGSL write: names qualified, every access checked against sizes given by the
// host, divisions and shifts defined for all numbers, loops bounded.
struct _mslBufferSizes {
    uint size0;
    uint size1;
};

struct Particle {
    metal::float2 pos;
    metal::float2 vel;
};
struct SimParams {
    float deltaT;
    float radius;
    float scale;
    int modulus;
};
typedef Particle type_2[1];
struct Particles {
    uint count;
    char _pad1[12];
    type_2 particles;
};
struct type_5 {
    float inner[64];
};

int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}

int naga_mod(int lhs, int rhs) {
    int divisor = metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
    return lhs - (lhs / divisor) * divisor;
}

int naga_f2i32(float value) {
    return static_cast<int>(metal::clamp(value, -2147483600.0, 2147483500.0));
}

struct DefaultConstructible {
    template<typename T>
    operator T() && {
        return T {};
    }
};

kernel void step_particles(
  metal::uint3 global_invocation_id [[thread_position_in_grid]]
, metal::uint3 __local_invocation_id [[thread_position_in_threadgroup]]
, device Particles const& source [[buffer(0)]]
, device Particles& target_ [[buffer(1)]]
, constant SimParams& params [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
, threadgroup type_5& tile
) {
    if (metal::all(__local_invocation_id == metal::uint3(0u))) {
        tile = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    Particle me = {};
    uint i = 0u;
    float near_ = {};
    uint index = global_invocation_id.x;
    uint length_ = 1 + (_buffer_sizes.size0 - 16 - 16) / 16;
    me = uint(index) < 1 + (_buffer_sizes.size0 - 16 - 16) / 16 ? source.particles[index] : DefaultConstructible();
    tile.inner[metal::min(unsigned(__local_invocation_id.x), 63u)] = metal::length(me.vel);
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float fastest = tile.inner[0];
    metal::uint2 loop_bound = metal::uint2(4294967295u);
    bool loop_init = true;
    while(true) {
        if (metal::all(loop_bound == metal::uint2(0u))) { break; }
        loop_bound -= metal::uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e30 = i;
            i = _e30 + 1u;
        }
        loop_init = false;
        uint _e31 = i;
        if (_e31 < length_) {
        } else {
            break;
        }
        {
            uint _e33 = i;
            if (_e33 == index) {
                continue;
            }
            metal::float2 other = uint(_e33) < 1 + (_buffer_sizes.size0 - 16 - 16) / 16 ? source.particles[_e33].pos : DefaultConstructible();
            if (metal::distance(other, me.pos) < params.radius) {
                near_ += 1.0;
            }
            fastest = metal::max(fastest, tile.inner[metal::min(unsigned(_e33), 63u)]);
        }
    }
    int cell = naga_f2i32(me.pos.x * params.scale);
    switch(naga_mod(cell, params.modulus)) {
        case 0: {
            me.vel = -(me.vel);
            break;
        }
        case 1:
        case 2: {
            me.vel = me.vel * (1.0 + static_cast<float>(naga_div(cell, params.modulus)));
            break;
        }
        default: {
            me.vel = metal::float2(near_, fastest);
            break;
        }
    }
    metal::float2 _e60 = me.pos;
    me.pos = metal::fract(_e60 + (me.vel * params.deltaT));
    if (index < 1 + (_buffer_sizes.size1 - 16 - 16) / 16) {
        target_.particles[index] = me;
    }
    if (index == 0u) {
        target_.count = length_;
    }
    return;
}
