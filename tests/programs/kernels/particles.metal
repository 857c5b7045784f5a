// Molecules: forces between pairs of tiles with atoms that go round by shuffles, 64-bit sums out of
// 32-bit atomics, constraints, and a random bath. Names in the manner of ported OpenCL.
#include <metal_stdlib>
using namespace metal;

#define KERNEL kernel
#define DEVICE device
#define GLOBAL_ID thread_position_in_grid
#define TILE_SIZE 32
#define SIMD_SHUFFLE(x) simd_shuffle(x, (lane + 1) & 31)
typedef float real;
typedef float3 real3;
typedef float4 real4;
#define make_real3(x, y, z) real3(x, y, z)
#define FIXED_POINT_SCALE 1048576.0f

// An atomic sum of 64 bits as two of 32; a carry goes to the upper half.
inline void atomic_add_64(DEVICE atomic_uint* low, DEVICE atomic_uint* high, long value) {
    const uint lower = uint(ulong(value)), upper = uint(ulong(value) >> 32);
    const uint before = atomic_fetch_add_explicit(low, lower, memory_order_relaxed);
    const uint carry = before + lower < before ? 1 : 0;
    atomic_fetch_add_explicit(high, upper + carry, memory_order_relaxed);
}

inline void add_force(DEVICE atomic_uint* forces, uint padded, uint atom, real3 f) {
    for (uint axis = 0; axis < 3; ++axis) {
        DEVICE atomic_uint* place = forces + 2 * (axis * padded + atom);
        atomic_add_64(place, place + 1, long(f[axis] * FIXED_POINT_SCALE));
    }
}

inline real3 minimum_image(real3 d, real3 box) { return d - box * floor(d / box + 0.5f); }

// Lennard-Jones and Coulomb. Lanes keep an atom of tile x; atoms of tile y go round.
KERNEL void nonbonded(const DEVICE real4* posq [[buffer(0)]], const DEVICE float2* sigma_epsilon [[buffer(1)]],
                      DEVICE atomic_uint* forces [[buffer(2)]], DEVICE float* energies [[buffer(3)]],
                      const DEVICE ushort2* tiles [[buffer(4)]], constant uint& atoms [[buffer(5)]],
                      constant real4& box_and_cutoff [[buffer(6)]], constant uint& padded [[buffer(7)]],
                      uint tile [[threadgroup_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]]) {
    const ushort2 xy = tiles[tile];
    const uint atom1 = xy.x * TILE_SIZE + lane;
    uint atom2 = xy.y * TILE_SIZE + lane;
    const real4 posq1 = posq[min(atom1, atoms - 1)];
    real4 posq2 = posq[min(atom2, atoms - 1)];
    const float2 params1 = sigma_epsilon[min(atom1, atoms - 1)];
    float2 params2 = sigma_epsilon[min(atom2, atoms - 1)];
    real3 force1 = make_real3(0, 0, 0), force2 = make_real3(0, 0, 0);
    real energy = 0;
    const bool diagonal = xy.x == xy.y;
    for (ushort j = 0; j < TILE_SIZE; ++j) {
        const bool included = atom1 < atoms && atom2 < atoms && (!diagonal || atom1 < atom2);
        const real3 delta = minimum_image(posq2.xyz - posq1.xyz, box_and_cutoff.xyz);
        const real r2 = dot(delta, delta);
        if (included && r2 < box_and_cutoff.w * box_and_cutoff.w) {
            const real inv_r = rsqrt(r2);
            const real sigma = 0.5f * (params1.x + params2.x) * inv_r;
            const real s2 = sigma * sigma, s6 = s2 * s2 * s2;
            const real epsilon = 4 * sqrt(params1.y * params2.y);
            const real coulomb = posq1.w * posq2.w * inv_r;
            energy += epsilon * s6 * (s6 - 1) + coulomb;
            const real3 f = delta * (inv_r * inv_r * (epsilon * s6 * (12 * s6 - 6) + coulomb));
            force1 -= f;
            force2 += f;
        }
        atom2 = SIMD_SHUFFLE(atom2);
        posq2 = SIMD_SHUFFLE(posq2);
        params2 = SIMD_SHUFFLE(params2);
        force2 = SIMD_SHUFFLE(force2);
    }
    if (atom1 < atoms) add_force(forces, padded, atom1, force1);
    if (atom2 < atoms) add_force(forces, padded, atom2, force2);
    energy = simd_sum(energy);
    if (lane == 0) energies[tile] = energy;
}

// Two lengths of a three-atom molecule are restored by iteration, in a step of their own threads.
KERNEL void shake(DEVICE float4* positions [[buffer(0)]], const DEVICE float4* before [[buffer(1)]],
                  const DEVICE int3* molecules [[buffer(2)]], constant float3& parameters [[buffer(3)]],
                  uint i [[GLOBAL_ID]]) {
    const int3 m = molecules[i];
    const float length2 = parameters.x * parameters.x;
    const float2 inverse_mass = parameters.yz;  // of the middle atom and of its neighbours
    float3 p[3] = {positions[m.x].xyz, positions[m.y].xyz, positions[m.z].xyz};
    for (int iteration = 0; iteration < 50; ++iteration) {
        bool converged = true;
        for (int k = 1; k < 3; ++k) {
            const float3 old = before[m[0]].xyz - before[m[k]].xyz, d = p[0] - p[k];
            const float error = length2 - length_squared(d);
            if (fabs(error) > 1e-6f * length2) {
                converged = false;
                const float g = error / (2 * (inverse_mass.x + inverse_mass.y) * dot(old, d));
                p[0] += g * inverse_mass.x * old;
                p[k] -= g * inverse_mass.y * old;
            }
        }
        if (converged) break;
    }
    for (int k = 0; k < 3; ++k) positions[m[k]] = float4(p[k], positions[m[k]].w);
}
