// Sums of two floats as one number of 48 bits; and solvers of linear systems in one threadgroup.
#include <metal_stdlib>
using namespace metal;

// No product may be fused with a sum here, nor a sum rearranged.
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

struct double_float {
    float high, low;

    static double_float two_sum(float a, float b) {
        const float s = a + b, v = s - a;
        return {s, (a - (s - v)) + (b - v)};
    }
    static double_float two_product(float a, float b) {
        const float p = a * b;
        return {p, fma(a, b, -p)};
    }
    double_float normalised() const thread {
        const float s = high + low;
        return {s, low - (s - high)};
    }
};
inline double_float operator+(double_float a, double_float b) {
    double_float s = double_float::two_sum(a.high, b.high);
    const double_float t = double_float::two_sum(a.low, b.low);
    s.low += t.high;
    s = s.normalised();
    s.low += t.low;
    return s.normalised();
}
inline double_float operator-(double_float a) { return {-a.high, -a.low}; }
inline double_float operator*(double_float a, double_float b) {
    double_float p = double_float::two_product(a.high, b.high);
    p.low += a.high * b.low + a.low * b.high;
    return p.normalised();
}
inline double_float operator/(double_float a, double_float b) {
    const float q = a.high / b.high;
    const double_float rest = a + -(b * double_float{q, 0.0f});
    return double_float{q, rest.high / b.high}.normalised();
}

kernel void double_float_arithmetic(device const double_float* a [[buffer(0)]],
                                    device const double_float* b [[buffer(1)]],
                                    device double_float* out [[buffer(2)]], constant uint& count [[buffer(3)]],
                                    uint i [[thread_position_in_grid]]) {
    out[i] = a[i] + b[i];
    out[count + i] = a[i] * b[i];
    out[2 * count + i] = a[i] / b[i];
}

// Kahan's sum, next to a plain one that may be done in any order.
kernel void compensated_sum(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                            constant uint& count [[buffer(2)]]) {
    float sum = 0, lost = 0;
    for (uint i = 0; i < count; ++i) {
        const float y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    out[0] = sum;
}

// Cholesky, then two triangular systems; a thread owns a row of up to 64.
#define MAX_N 64
kernel void cholesky_solve(device const float* A [[buffer(0)]], device float* b [[buffer(1)]],
                           constant uint& n [[buffer(2)]], uint tid [[thread_index_in_threadgroup]],
                           uint system [[threadgroup_position_in_grid]]) {
    threadgroup float L[MAX_N][MAX_N + 1];
    threadgroup float x[MAX_N];
    A += system * n * n;
    b += system * n;
    if (tid < n) {
        for (uint j = 0; j <= tid; ++j) L[tid][j] = A[tid * n + j];
        x[tid] = b[tid];
    }
    for (uint k = 0; k < n; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const float pivot = precise::sqrt(L[k][k]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid == k) L[k][k] = pivot;
        else if (tid > k && tid < n) L[tid][k] /= pivot;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid > k && tid < n) {
            for (uint j = k + 1; j <= tid; ++j) L[tid][j] -= L[tid][k] * L[j][k];
        }
    }
    for (uint k = 0; k < n; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid == k) x[k] /= L[k][k];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid > k && tid < n) x[tid] -= L[tid][k] * x[k];
    }
    for (int k = n - 1; k >= 0; --k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (int(tid) == k) x[k] /= L[k][k];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (int(tid) < k) x[tid] -= L[k][tid] * x[k];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < n) b[tid] = x[tid];
}

// Conjugate gradients until the residual is small: a loop whose end all threads agree on.
kernel void conjugate_gradient(device const float* A [[buffer(0)]], device const float* b [[buffer(1)]],
                               device float* x [[buffer(2)]], device uint* iterations [[buffer(3)]],
                               constant uint& n [[buffer(4)]], threadgroup float* p [[threadgroup(0)]],
                               uint tid [[thread_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]],
                               uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    const auto dot_product = [&](float mine) {
        mine = simd_sum(mine);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) partial[sg] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return simd_sum(lane < simdgroups ? partial[lane] : 0.0f);
    };
    const bool there = tid < n;
    float my_x = 0, r = there ? b[tid] : 0, my_p = r;
    if (there) p[tid] = my_p;
    float rr = dot_product(r * r);
    const float target = 1e-10f * rr;
    uint k = 0;
    while (rr > target && k < 4 * n) {
        float ap = 0;
        for (uint j = 0; there && j < n; ++j) ap += A[tid * n + j] * p[j];
        const float alpha = rr / dot_product(my_p * ap);
        my_x += alpha * my_p;
        r -= alpha * ap;
        const float next = dot_product(r * r);
        my_p = r + next / rr * my_p;
        if (there) p[tid] = my_p;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        rr = next;
        ++k;
    }
    if (there) x[tid] = my_x;
    if (tid == 0) *iterations = k;
}
