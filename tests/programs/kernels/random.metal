// Counter-based random numbers: Philox 4x32 with 10 rounds, Threefry 2x32 with 20.
#include <metal_stdlib>
using namespace metal;

namespace philox {
constant constexpr uint2 multipliers = uint2(0xD2511F53, 0xCD9E8D57);
constant constexpr uint2 weyl = uint2(0x9E3779B9, 0xBB67AE85);

inline uint4 round_once(uint4 counter, uint2 key) {
  const uint2 product_low = uint2(counter.x, counter.z) * multipliers;
  const uint2 product_high = mulhi(uint2(counter.x, counter.z), multipliers);
  return uint4(product_high.y ^ counter.y ^ key.x, product_low.y,
               product_high.x ^ counter.w ^ key.y, product_low.x);
}
inline uint4 generate(long seed, ulong index, ulong subsequence) {
  uint2 key = as_type<uint2>(seed);
  uint4 counter = uint4(as_type<uint2>(index), as_type<uint2>(subsequence));
  for (int i = 0; i < 9; ++i) {
    counter = round_once(counter, key);
    key += weyl;
  }
  return round_once(counter, key);
}
// In [0, 1): 24 bits.
inline float4 uniform_floats(uint4 bits) { return float4(bits >> 8) * 0x1p-24f; }
inline float4 normal_floats(uint4 bits) {
  const float4 u = uniform_floats(bits);
  const float2 radius = sqrt(-2.0 * precise::log(1.0 - u.xz));
  const float2 angle = 2.0 * M_PI_F * u.yw;
  return float4(radius * precise::cos(angle), radius * precise::sin(angle)).xzyw;
}
}  // namespace philox

kernel void philox_bits(device uint4* out [[buffer(0)]], constant long2& seed_and_base [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = philox::generate(seed_and_base.x, i, seed_and_base.y);
}

kernel void dropout(device const float4* in [[buffer(0)]], device float4* out [[buffer(1)]],
                    constant long2& seed_and_base [[buffer(2)]], constant float& keep [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
  const float4 u = philox::uniform_floats(philox::generate(seed_and_base.x, i, seed_and_base.y));
  out[i] = select(float4(0), in[i] / keep, u < keep);
}

kernel void normals(device float4* out [[buffer(0)]], constant long2& seed_and_base [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  out[i] = philox::normal_floats(philox::generate(seed_and_base.x, i, seed_and_base.y));
}

static constexpr constant uint32_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

union rbits {
  uint2 val;
  uchar4 bytes[2];
};

rbits threefry2x32_hash(const thread uint2& key, uint2 count) {
  const uint ks[] = {key.x, key.y, key.x ^ key.y ^ 0x1BD11BDA};
  rbits v;
  v.val.x = count.x + ks[0];
  v.val.y = count.y + ks[1];
  for (int i = 0; i < 5; i++) {
    for (auto r : rotations[i % 2]) {
      v.val.x += v.val.y;
      v.val.y = (v.val.y << r) | (v.val.y >> (32 - r));
      v.val.y ^= v.val.x;
    }
    v.val.x += ks[(i + 1) % 3];
    v.val.y += ks[(i + 2) % 3] + i + 1;
  }
  return v;
}

// A key per column; each thread writes one word of the first half and one of the second.
[[kernel]] void rbitsc(device const uint32_t* keys, device char* out,
                       constant const bool& odd, constant const uint& bytes_per_key,
                       uint2 grid_dim [[threads_per_grid]], uint2 index [[thread_position_in_grid]]) {
  const uint2 key = uint2(keys[2 * index.x], keys[2 * index.x + 1]);
  const uint half_size = grid_dim.y - odd;
  out += index.x * bytes_per_key;
  const bool drop_last = odd && index.y == half_size;
  const rbits bits = threefry2x32_hash(key, uint2(index.y, drop_last ? 0 : index.y + grid_dim.y));
  const size_t at = size_t(index.y) << 2;
  for (int i = 0; i < 4; i++) {
    out[at + i] = bits.bytes[0][i];
  }
  if (!drop_last) {
    const size_t second = size_t(index.y + grid_dim.y) << 2;
    for (int i = 0; i < 4 && second + i < bytes_per_key; i++) {
      out[second + i] = bits.bytes[1][i];
    }
  }
}
