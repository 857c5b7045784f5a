// Numbers of 256 bits: Montgomery products with 32-bit limbs and with 64-bit ones, powers, and the
// buckets of a multi-scalar product.
#include <metal_stdlib>
using namespace metal;

#define LIMBS 8

struct alignas(8) u256 {
    array<uint, LIMBS> limbs;
};

// Of the base field of BN254.
constant u256 modulus = {{0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91,
                          0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72}};
constant uint n0 = 0xe4866389;  // -1 / modulus, modulo 2^32
constant ulong n0_wide = 0x87d20782e4866389;  // modulo 2^64

static bool is_below(u256 a, u256 b) {
    for (int i = LIMBS - 1; i >= 0; --i) {
        if (a.limbs[i] != b.limbs[i]) {
            return a.limbs[i] < b.limbs[i];
        }
    }
    return false;
}

static u256 subtract(u256 a, u256 b) {
    u256 result;
    uint borrow = 0;
    for (uint i = 0; i < LIMBS; ++i) {
        const ulong difference = (ulong)a.limbs[i] - b.limbs[i] - borrow;
        result.limbs[i] = (uint)difference;
        borrow = (difference >> 32) & 1;
    }
    return result;
}

static u256 reduced(u256 a) { return is_below(a, modulus) ? a : subtract(a, modulus); }

static u256 add(u256 a, u256 b) {
    u256 sum;
    ulong carry = 0;
    for (uint i = 0; i < LIMBS; ++i) {
        carry += (ulong)a.limbs[i] + b.limbs[i];
        sum.limbs[i] = (uint)carry;
        carry >>= 32;
    }
    return reduced(sum);  // the modulus has 254 bits: no carry is left
}

// Coarsely integrated operand scanning.
static u256 montgomery(u256 a, u256 b) {
    uint t[LIMBS + 2] = {0};
    for (uint i = 0; i < LIMBS; ++i) {
        ulong carry = 0;
        for (uint j = 0; j < LIMBS; ++j) {
            const ulong cs = (ulong)t[j] + (ulong)a.limbs[j] * b.limbs[i] + carry;
            t[j] = (uint)cs;
            carry = cs >> 32;
        }
        ulong cs = (ulong)t[LIMBS] + carry;
        t[LIMBS] = (uint)cs;
        t[LIMBS + 1] = (uint)(cs >> 32);
        const uint m = t[0] * n0;
        carry = ((ulong)t[0] + (ulong)m * modulus.limbs[0]) >> 32;
        for (uint j = 1; j < LIMBS; ++j) {
            const ulong part = (ulong)t[j] + (ulong)m * modulus.limbs[j] + carry;
            t[j - 1] = (uint)part;
            carry = part >> 32;
        }
        cs = (ulong)t[LIMBS] + carry;
        t[LIMBS - 1] = (uint)cs;
        t[LIMBS] = t[LIMBS + 1] + (uint)(cs >> 32);
    }
    u256 result;
    for (uint i = 0; i < LIMBS; ++i) {
        result.limbs[i] = t[i];
    }
    return reduced(result);
}

kernel void montgomery_products(device const u256* a [[buffer(0)]], device const u256* b [[buffer(1)]],
                                device u256* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = montgomery(a[i], b[i]);
}

// The same by limbs of 64 bits, carries by comparison.
static inline ulong add_carry(ulong a, ulong b, thread ulong& carry) {
    const ulong first = a + b;
    const ulong sum = first + carry;
    carry = ulong(first < a) + ulong(sum < first);
    return sum;
}
static inline ulong multiply_add(ulong a, ulong b, ulong c, thread ulong& carry) {
    ulong low = a * b, high = mulhi(a, b);
    low += c;
    high += low < c;
    low += carry;
    high += low < carry;
    carry = high;
    return low;
}

kernel void montgomery_products_wide(device const ulong4* a [[buffer(0)]],
                                     device const ulong4* b [[buffer(1)]],
                                     device ulong4* out [[buffer(2)]],
                                     uint i [[thread_position_in_grid]]) {
    constant ulong* p = (constant ulong*)&modulus;
    ulong t[6] = {0};
    const ulong4 x = a[i], y = b[i];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        ulong carry = 0;
        for (int j = 0; j < 4; ++j) {
            t[j] = multiply_add(x[j], y[k], t[j], carry);
        }
        ulong top = 0;
        t[4] = add_carry(t[4], carry, top);
        t[5] = top;
        const ulong m = t[0] * n0_wide;
        carry = 0;
        multiply_add(m, p[0], t[0], carry);
        for (int j = 1; j < 4; ++j) {
            t[j - 1] = multiply_add(m, p[j], t[j], carry);
        }
        top = 0;
        t[3] = add_carry(t[4], carry, top);
        t[4] = t[5] + top;
    }
    ulong4 difference;
    ulong borrow = 0;
    for (int j = 0; j < 4; ++j) {
        const ulong d = t[j] - p[j];
        const ulong next = ulong(t[j] < p[j]) | ulong(d < borrow);
        difference[j] = d - borrow;
        borrow = next;
    }
    out[i] = borrow != 0 && t[4] == 0 ? ulong4(t[0], t[1], t[2], t[3]) : difference;
}

// Inverses as powers, by Fermat.
kernel void inverses(device u256* values [[buffer(0)]], constant u256& one [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    u256 exponent = modulus;
    exponent.limbs[0] -= 2;
    const u256 base = values[i];
    u256 result = one;
    for (int bit = 253; bit >= 0; --bit) {
        result = montgomery(result, result);
        if ((exponent.limbs[bit / 32] >> (bit % 32)) & 1) {
            result = montgomery(result, base);
        }
    }
    values[i] = result;
}

// Sums of field elements by the digit of their scalars: a thread owns a bucket of a window.
kernel void accumulate_buckets(device const u256* points [[buffer(0)]],
                               device const uint* scalars [[buffer(1)]],
                               device u256* buckets [[buffer(2)]], constant uint3& shape [[buffer(3)]],
                               uint2 gid [[thread_position_in_grid]]) {
    const uint count = shape.x, bits = shape.y, digits = (1u << bits) - 1;
    const uint digit = gid.x + 1, window = gid.y;
    u256 sum = {{0, 0, 0, 0, 0, 0, 0, 0}};
    for (uint i = 0; i < count; ++i) {
        if (((scalars[i] >> (window * bits)) & digits) == digit) {
            sum = add(sum, points[i]);
        }
    }
    buckets[window * digits + gid.x] = sum;
}

// A window's total: digit d weighs d, by sums of running sums; then the windows, doubled in between.
kernel void combine_buckets(device const u256* buckets [[buffer(0)]], device u256* result [[buffer(1)]],
                            constant uint3& shape [[buffer(2)]],
                            threadgroup u256* totals [[threadgroup(0)]],
                            uint window [[thread_index_in_threadgroup]]) {
    const uint bits = shape.y, windows = shape.z, digits = (1u << bits) - 1;
    const u256 zero = {{0, 0, 0, 0, 0, 0, 0, 0}};
    if (window < windows) {
        u256 running = zero, total = zero;
        for (int d = digits - 1; d >= 0; --d) {
            running = add(running, buckets[window * digits + d]);
            total = add(total, running);
        }
        totals[window] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (window == 0) {
        u256 sum = zero;
        for (int w = windows - 1; w >= 0; --w) {
            for (uint b = 0; b < bits; ++b) {
                sum = add(sum, sum);
            }
            sum = add(sum, totals[w]);
        }
        *result = sum;
    }
}
