#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wunused-variable"

#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

// What a translator from SPIR-V writes: resources in argument buffers, arrays as values,
// specialisation constants, everything unnamed.
template<typename T, size_t Num>
struct spvUnsafeArray
{
    T elements[Num ? Num : 1];

    thread T& operator [] (size_t pos) thread
    {
        return elements[pos];
    }
    constexpr const thread T& operator [] (size_t pos) const thread
    {
        return elements[pos];
    }

    device T& operator [] (size_t pos) device
    {
        return elements[pos];
    }
    constexpr const device T& operator [] (size_t pos) const device
    {
        return elements[pos];
    }

    constexpr const constant T& operator [] (size_t pos) const constant
    {
        return elements[pos];
    }

    threadgroup T& operator [] (size_t pos) threadgroup
    {
        return elements[pos];
    }
    constexpr const threadgroup T& operator [] (size_t pos) const threadgroup
    {
        return elements[pos];
    }
};

struct _14
{
    float _m0[1];
};

struct _17
{
    packed_float3 _m0;
    float _m1;
    float4 _m2[2];
};

struct _19
{
    uint _m0;
    uint _m1;
    _17 _m2[1];
};

struct PushConsts
{
    uint4 _m0;
    spvUnsafeArray<uint, 4> _m1;
};

struct spvDescriptorSetBuffer0
{
    const device _14* _20 [[id(0)]];
    const device _14* _21 [[id(1)]];
    device _14* _22 [[id(2)]];
};

struct spvDescriptorSetBuffer1
{
    array<device _19*, 3> _23 [[id(0)]];
    constant PushConsts* _24 [[id(3)]];
    uint _25 [[id(4)]];
};

constant uint _30_tmp [[function_constant(0)]];
constant uint _30 = is_function_constant_defined(_30_tmp) ? _30_tmp : 8u;
constant uint _31 = (_30 * 4u);

constant spvUnsafeArray<float, 4> _40 = spvUnsafeArray<float, 4>({ 0.5, 1.0, 2.0, 4.0 });

template<typename T>
inline T spvSubgroupBroadcast(T value, ushort lane)
{
    return simd_broadcast(value, lane);
}

template<>
inline bool spvSubgroupBroadcast(bool value, ushort lane)
{
    return !!simd_broadcast((ushort)value, lane);
}

inline uint4 spvSubgroupBallot(bool value)
{
    simd_vote vote = simd_ballot(value);
    return uint4(as_type<uint2>((simd_vote::vote_t)vote), 0, 0);
}

inline uint spvSubgroupBallotBitCount(uint4 ballot, uint gl_SubgroupSize)
{
    uint4 counts = popcount(ballot & uint4(extract_bits(0xFFFFFFFF, 0, min(gl_SubgroupSize, 32u)), uint3(0)));
    return counts.x + counts.y + counts.z + counts.w;
}

// Rows of a matrix times a vector: a workgroup takes a row, its lanes stride over columns.
kernel void matvec(constant spvDescriptorSetBuffer0& spvDescriptorSet0 [[buffer(0)]], constant uint4& _50 [[buffer(3)]], uint3 gl_WorkGroupID [[threadgroup_position_in_grid]], uint3 gl_LocalInvocationID [[thread_position_in_threadgroup]], uint gl_SubgroupSize [[threads_per_simdgroup]], uint gl_SubgroupInvocationID [[thread_index_in_simdgroup]])
{
    threadgroup spvUnsafeArray<float, 32> _51;
    float _52;
    _52 = 0.0;
    float _60;
    for (uint _53 = gl_LocalInvocationID.x; _53 < _50.x; _52 = _60, _53 += _31)
    {
        uint _54 = (gl_WorkGroupID.x * _50.x) + _53;
        _60 = fma((*spvDescriptorSet0._20)._m0[_54], (*spvDescriptorSet0._21)._m0[_53], _52);
    }
    float _61 = simd_sum(_52);
    if (gl_SubgroupInvocationID == 0u)
    {
        _51[gl_LocalInvocationID.x / gl_SubgroupSize] = _61;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gl_LocalInvocationID.x == 0u)
    {
        float _62 = 0.0;
        for (int _63 = 0; _63 < int((_31 + 31u) / 32u); _63++)
        {
            _62 += _51[_63];
        }
        (*spvDescriptorSet0._22)._m0[gl_WorkGroupID.x] = (_62 * _40[_50.y & 3u]);
    }
}

kernel void records(constant spvDescriptorSetBuffer1& spvDescriptorSet1 [[buffer(1)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    uint _70 = gl_GlobalInvocationID.x;
    uint _71 = (*spvDescriptorSet1._24)._m1[gl_GlobalInvocationID.y];
    device _19& _72 = *spvDescriptorSet1._23[_71];
    bool _73 = _70 < _72._m0;
    uint4 _74 = spvSubgroupBallot(_73);
    uint _75 = spvSubgroupBallotBitCount(_74, 32u);
    if (!_73)
    {
        return;
    }
    float3 _76 = float3(_72._m2[_70]._m0);
    _72._m2[_70]._m0 = (_76.zxy * float((*spvDescriptorSet1._24)._m0[gl_GlobalInvocationID.y])) + float3(spvDescriptorSet1._25);
    _72._m2[_70]._m1 = float(_75);
    _72._m2[_70]._m2[1] = select(_72._m2[_70]._m2[0], float4(-1.0), bool4(uint4(_70) == uint4(0u, 1u, 2u, 3u)));
    if (_70 == 0u)
    {
        _72._m1 = _71;
    }
}
