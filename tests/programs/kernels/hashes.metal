// SHA-256, Keccak-256 and a Poseidon permutation over a 64-bit prime field.
#include <metal_stdlib>
using namespace metal;

constant uint round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTR(x, n) rotate((x), 32u - (n))

static void sha256_block(thread uint state[8], thread uint w[16]) {
    uint a = state[0], b = state[1], c = state[2], d = state[3];
    uint e = state[4], f = state[5], g = state[6], h = state[7];
    #pragma unroll 16
    for (uint i = 0; i < 64; ++i) {
        if (i >= 16) {
            const uint w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
            w[i & 15] += (ROTR(w15, 7) ^ ROTR(w15, 18) ^ (w15 >> 3)) + w[(i + 9) & 15] +
                         (ROTR(w2, 17) ^ ROTR(w2, 19) ^ (w2 >> 10));
        }
        const uint t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) +
                        round_constants[i] + w[i & 15];
        const uint t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1;
        d = c; c = b; b = a; a = t1 + t2;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
    state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

// One message per thread, of `length` bytes.
kernel void sha256(device const uchar* messages [[buffer(0)]], device uint* digests [[buffer(1)]],
                   constant uint& length [[buffer(2)]], uint tid [[thread_position_in_grid]]) {
    device const uchar* message = messages + tid * length;
    uint state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint blocks = (length + 9 + 63) / 64;
    for (uint block = 0; block < blocks; ++block) {
        uint w[16];
        for (uint i = 0; i < 16; ++i) {
            uint word = 0;
            for (uint b = 0; b < 4; ++b) {
                const uint at = 64 * block + 4 * i + b;
                word = (word << 8) | (at < length ? message[at] : at == length ? 0x80u : 0u);
            }
            w[i] = word;
        }
        if (block == blocks - 1) {
            w[15] = length * 8;
        }
        sha256_block(state, w);
    }
    for (uint i = 0; i < 8; ++i) {
        digests[8 * tid + i] = as_type<uint>(as_type<uchar4>(state[i]).wzyx);
    }
}

constant ulong keccak_constants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
constant uchar rho[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14,
                          27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
constant uchar pi_lane[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4,
                              15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

static inline ulong rotl64(ulong x, uint n) { return (x << n) | (x >> (64 - n)); }

static void keccak_f(thread ulong (&s)[25]) {
    for (uint round = 0; round < 24; ++round) {
        ulong c[5];
        for (uint x = 0; x < 5; ++x) {
            c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
        }
        for (uint x = 0; x < 5; ++x) {
            const ulong d = c[(x + 4) % 5] ^ rotl64(c[(x + 1) % 5], 1);
            for (uint y = 0; y < 25; y += 5) {
                s[y + x] ^= d;
            }
        }
        ulong moved = s[1];
        for (uint i = 0; i < 24; ++i) {
            const ulong next = s[pi_lane[i]];
            s[pi_lane[i]] = rotl64(moved, rho[i]);
            moved = next;
        }
        for (uint y = 0; y < 25; y += 5) {
            const ulong row[5] = {s[y], s[y + 1], s[y + 2], s[y + 3], s[y + 4]};
            for (uint x = 0; x < 5; ++x) {
                s[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
            }
        }
        s[0] ^= keccak_constants[round];
    }
}

// Messages of up to 135 bytes: one block. The padding's first byte tells Keccak from SHA-3.
kernel void keccak256(device const uchar* messages [[buffer(0)]], device ulong* digests [[buffer(1)]],
                      constant uint2& length_and_padding [[buffer(2)]],
                      uint tid [[thread_position_in_grid]]) {
    ulong state[25] = {0};
    const uint length = length_and_padding.x;
    for (uint i = 0; i < length; ++i) {
        state[i / 8] ^= (ulong)messages[tid * length + i] << (8 * (i % 8));
    }
    state[length / 8] ^= (ulong)length_and_padding.y << (8 * (length % 8));
    state[16] ^= 0x8000000000000000;
    keccak_f(state);
    for (uint i = 0; i < 4; ++i) {
        digests[4 * tid + i] = state[i];
    }
}

// Numbers modulo 2^64 - 2^32 + 1.
namespace goldilocks {
constant constexpr ulong prime = 0xFFFFFFFF00000001;
constant constexpr ulong epsilon = 0xFFFFFFFF;

struct Fp {
    ulong value;
    Fp() = default;
    constexpr Fp(ulong v) : value(v) {}
    Fp operator+(const Fp other) const {
        const ulong sum = value + other.value;
        const bool over = sum < value || sum >= prime;
        return Fp(over ? sum - prime : sum);
    }
    Fp operator*(const Fp other) const {
        const ulong low = value * other.value, high = mulhi(value, other.value);
        const ulong high_high = high >> 32, high_low = high & epsilon;
        ulong t = low - high_high;
        if (low < high_high) t -= epsilon;
        const ulong u = high_low * epsilon;
        ulong result = t + u;
        if (result < t) result += epsilon;
        return Fp(result >= prime ? result - prime : result);
    }
    Fp seventh() const {
        const Fp square = *this * *this, fourth = square * square;
        return fourth * square * *this;
    }
};
}  // namespace goldilocks

// The state is of eight; in the inner rounds only its first number goes through the power.
kernel void poseidon(device ulong* states [[buffer(0)]], constant ulong* constants [[buffer(1)]],
                     constant uint2& rounds [[buffer(2)]], uint tid [[thread_position_in_grid]]) {
    using goldilocks::Fp;
    Fp s[8];
    for (uint i = 0; i < 8; ++i) {
        s[i] = Fp(states[8 * tid + i]);
    }
    const uint outer = rounds.x, inner = rounds.y;
    for (uint r = 0; r < outer + inner; ++r) {
        const bool is_outer = r < outer / 2 || r >= outer / 2 + inner;
        for (uint i = 0; i < 8; ++i) {
            s[i] = s[i] + Fp(constants[8 * r + i]);
            if (is_outer || i == 0) {
                s[i] = s[i].seventh();
            }
        }
        // A circulant matrix of small numbers.
        constexpr ulong row[8] = {7, 1, 3, 8, 8, 3, 4, 9};
        Fp mixed[8];
        for (uint i = 0; i < 8; ++i) {
            Fp sum = Fp(0);
            for (uint j = 0; j < 8; ++j) {
                sum = sum + s[j] * Fp(row[(j + 8 - i) % 8]);
            }
            mixed[i] = sum;
        }
        for (uint i = 0; i < 8; ++i) {
            s[i] = mixed[i];
        }
    }
    for (uint i = 0; i < 8; ++i) {
        states[8 * tid + i] = s[i].value;
    }
}
