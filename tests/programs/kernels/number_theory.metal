// A transform over the field of 15 * 2^27 + 1 elements in threadgroup memory, and MD5 with the
// macros of code that is shared with another language.
#include <metal_stdlib>
using namespace metal;

template <uint P>
struct MontyField {
    static constexpr uint negative_inverse() {
        uint inverse = 1;
        for (int i = 0; i < 5; ++i) {
            inverse *= 2u - P * inverse;
        }
        return 0u - inverse;
    }
    uint value;

    MontyField() = default;
    constexpr explicit MontyField(uint v) : value(v) {}

    constexpr MontyField operator+(const MontyField rhs) const {
        const uint sum = value + rhs.value;
        return MontyField(sum >= P ? sum - P : sum);
    }
    constexpr MontyField operator-(const MontyField rhs) const {
        return MontyField(value >= rhs.value ? value - rhs.value : value + P - rhs.value);
    }
    MontyField operator*(const MontyField rhs) const {
        const ulong x = ulong(value) * rhs.value;
        const uint q = uint(x) * negative_inverse();
        const uint result = (x + ulong(q) * P) >> 32;
        return MontyField(result >= P ? result - P : result);
    }
    MontyField pow(uint exponent, const MontyField one) const {
        MontyField result = one, base = *this;
        for (; exponent != 0; exponent >>= 1) {
            if (exponent & 1) {
                result = result * base;
            }
            base = base * base;
        }
        return result;
    }
};
using Fp = MontyField<2013265921>;

// Numbers and roots are in Montgomery form. Input in order, output in order: bits are reversed first.
[[host_name("ntt")]] [[kernel]] void ntt(device Fp* data [[buffer(0)]], constant Fp& root [[buffer(1)]],
                                         constant Fp& one [[buffer(2)]], constant Fp& scale [[buffer(3)]],
                                         constant uint& log_n [[buffer(4)]],
                                         threadgroup Fp* shared [[threadgroup(0)]],
                                         uint tid [[thread_index_in_threadgroup]],
                                         uint threads [[threads_per_threadgroup]],
                                         uint batch [[threadgroup_position_in_grid]]) {
    const uint n = 1u << log_n;
    device Fp* mine = data + batch * n;
    for (uint i = tid; i < n; i += threads) {
        shared[reverse_bits(i) >> (32 - log_n)] = mine[i];
    }
    for (uint stage = 0; stage < log_n; ++stage) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint half_size = 1u << stage;
        for (uint i = tid; i < n / 2; i += threads) {
            const uint at = ((i >> stage) << (stage + 1)) + (i & (half_size - 1));
            const Fp w = root.pow((i & (half_size - 1)) << (log_n - 1 - stage), one);
            const Fp a = shared[at], b = shared[at + half_size] * w;
            shared[at] = a + b;
            shared[at + half_size] = a - b;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < n; i += threads) {
        mine[i] = shared[i] * scale;
    }
}

#define KERNEL_FQ kernel
#define GLOBAL_AS device
#define CONSTANT_VK constant
#define PRIVATE_AS thread
#define DECLSPEC inline
typedef uint u32;
typedef uchar u8;
#define hc_rotl32_S(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define MD5_F_S(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define MD5_G_S(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define MD5_H_S(x, y, z) ((x) ^ (y) ^ (z))
#define MD5_I_S(x, y, z) ((y) ^ ((x) | ~(z)))
#define MD5_STEP_S(f, a, b, c, d, x, K, s) \
  {                                        \
    a += K;                                \
    a += x;                                \
    a += f(b, c, d);                       \
    a = hc_rotl32_S(a, s);                 \
    a += b;                                \
  }

typedef struct md5_ctx {
    u32 h[4];
    u32 w[16];
    int len;
} md5_ctx_t;

CONSTANT_VK u32 sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
CONSTANT_VK u8 turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

DECLSPEC void md5_transform(PRIVATE_AS md5_ctx_t *ctx) {
    u32 v[4] = {ctx->h[0], ctx->h[1], ctx->h[2], ctx->h[3]};
    for (u32 i = 0; i < 64; i++) {
        PRIVATE_AS u32 &a = v[(64 - i) & 3];
        const u32 b = v[(65 - i) & 3], c = v[(66 - i) & 3], d = v[(67 - i) & 3];
        const u32 turn = turns[i / 16][i & 3];
        switch (i / 16) {
            case 0: MD5_STEP_S(MD5_F_S, a, b, c, d, ctx->w[i], sines[i], turn); break;
            case 1: MD5_STEP_S(MD5_G_S, a, b, c, d, ctx->w[(5 * i + 1) & 15], sines[i], turn); break;
            case 2: MD5_STEP_S(MD5_H_S, a, b, c, d, ctx->w[(3 * i + 5) & 15], sines[i], turn); break;
            default: MD5_STEP_S(MD5_I_S, a, b, c, d, ctx->w[(7 * i) & 15], sines[i], turn); break;
        }
    }
    for (u32 i = 0; i < 4; i++) ctx->h[i] += v[i];
}

// Words of up to 55 bytes: the index of the first that has the digest.
KERNEL_FQ void m00000_a0(GLOBAL_AS const u8 *words [[buffer(0)]], GLOBAL_AS const u32 *lengths [[buffer(1)]],
                         CONSTANT_VK uint4 &digest [[buffer(2)]], GLOBAL_AS atomic_uint *found [[buffer(3)]],
                         CONSTANT_VK u32 &count [[buffer(4)]], u32 gid [[thread_position_in_grid]]) {
    if (gid >= count) return;
    md5_ctx_t ctx = {{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, {0}, 0};
    const u32 length = lengths[gid];
    for (u32 i = 0; i < length; i++) {
        ctx.w[i / 4] |= (u32)words[gid * 64 + i] << (8 * (i & 3));
    }
    ctx.w[length / 4] |= 0x80u << (8 * (length & 3));
    ctx.w[14] = length * 8;
    md5_transform(&ctx);
    if (all(uint4(ctx.h[0], ctx.h[1], ctx.h[2], ctx.h[3]) == digest)) {
        atomic_fetch_min_explicit(found, gid, memory_order_relaxed);
    }
}
