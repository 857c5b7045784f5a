// Maps and selections by macros: unary, binary and ternary operations, gathers, one-dimensional
// convolutions.
#include <metal_stdlib>
using namespace metal;

#define MAX(x, y) ((x) > (y) ? (x) : (y))

METAL_FUNC uint get_strided_index(uint idx, constant size_t& num_dims, constant size_t* dims,
                                  constant size_t* strides) {
    uint strided_i = 0;
    for (uint d = 0; d < num_dims; d++) {
        uint dim_idx = num_dims - 1 - d;
        strided_i += (idx % dims[dim_idx]) * strides[dim_idx];
        idx /= dims[dim_idx];
    }
    return strided_i;
}

template <typename T> METAL_FUNC T sqr(T in) { return in * in; }
template <typename T> METAL_FUNC T recip(T in) { return T(1.0 / in); }
template <typename T> METAL_FUNC T erf(T in) {
    // Abramowitz and Stegun 7.1.26
    float x = (float)in;
    const float s = sign(x);
    x = fabs(x);
    const float t = 1.0 / (1.0 + 0.3275911f * x);
    const float poly = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t
                        + 0.254829592f) * t;
    return T(s * (1.0 - poly * exp(-x * x)));
}
template <typename T> METAL_FUNC T gelu_erf(T x) { return T(x * (1 + erf(x * M_SQRT1_2_F)) / 2); }
template <typename T> METAL_FUNC T gelu(T x) {
    if (x > 5) {
        return x;
    }
    T x_sq = x * x;
    T x_cube = x_sq * x;
    T alpha = x + static_cast<T>(0.044715) * x_cube;
    T beta = (static_cast<T>(M_2_SQRTPI_F * M_SQRT1_2_F) * alpha);
    return static_cast<T>(0.5) * x * (static_cast<T>(1.0) + T(precise::tanh(beta)));
}
template <typename T> METAL_FUNC T relu(T in) { return in < 0 ? T(0) : in; }
template <typename T> METAL_FUNC T silu(T in) { return in / (static_cast<T>(1) + exp(-in)); }

#define UNARY(FN, TYPENAME, FN_NAME, FN_NAME_STRIDED)                                   \
kernel void FN_NAME(constant size_t &dim, device const TYPENAME *input,                 \
                    device TYPENAME *output,                                            \
                    uint tid [[thread_position_in_grid]]) {                             \
    if (tid >= dim) {                                                                   \
        return;                                                                         \
    }                                                                                   \
    output[tid] = TYPENAME(FN(input[tid]));                                             \
}                                                                                       \
kernel void FN_NAME_STRIDED(constant size_t &dim, constant size_t &num_dims,            \
                            constant size_t *dims, constant size_t *strides,            \
                            device const TYPENAME *input, device TYPENAME *output,      \
                            uint tid [[thread_position_in_grid]]) {                     \
    if (tid >= dim) {                                                                   \
        return;                                                                         \
    }                                                                                   \
    output[tid] = TYPENAME(FN(input[get_strided_index(tid, num_dims, dims, strides)])); \
}
#define UNARY_OP(NAME)                                              \
    UNARY(NAME, float, NAME##_f32, NAME##_f32_strided)              \
    UNARY(NAME, half, NAME##_f16, NAME##_f16_strided)

UNARY_OP(cos) UNARY_OP(sin) UNARY_OP(exp) UNARY_OP(sqr) UNARY_OP(sqrt) UNARY_OP(log)
UNARY_OP(gelu) UNARY_OP(gelu_erf) UNARY_OP(relu) UNARY_OP(silu) UNARY_OP(recip) UNARY_OP(tanh)
UNARY_OP(floor) UNARY_OP(ceil) UNARY_OP(sign)
#if defined(__HAVE_BFLOAT__)
UNARY(silu, bfloat, silu_bf16, silu_bf16_strided)
#endif

#define BINARY(FN, TYPENAME, OUT, NAME)                                                    \
kernel void NAME(constant size_t &dim, constant size_t &num_dims, constant size_t *dims,   \
                 constant size_t *left_strides, constant size_t *right_strides,            \
                 device const TYPENAME *left, device const TYPENAME *right,                \
                 device OUT *output, uint tid [[thread_position_in_grid]]) {               \
    if (tid >= dim) {                                                                      \
        return;                                                                            \
    }                                                                                      \
    TYPENAME x = left[get_strided_index(tid, num_dims, dims, left_strides)];               \
    TYPENAME y = right[get_strided_index(tid, num_dims, dims, right_strides)];             \
    output[tid] = OUT(FN);                                                                 \
}
BINARY(x / y, float, float, bdiv_f32_strided)
BINARY(MAX(x, y), int64_t, int64_t, bmaximum_i64_strided)
BINARY(x <= y, half, uint8_t, le_f16_strided)
BINARY(x - y, uint8_t, uint8_t, bsub_u8_strided)

template <typename T, typename ID>
METAL_FUNC void where_cond(constant size_t& numel, constant size_t& num_dims,
                           constant size_t* dims, constant size_t* strides,
                           constant size_t* strides_t, constant size_t* strides_f,
                           device const ID* ids, device const T* t, device const T* f,
                           device T* out, uint i [[thread_position_in_grid]]) {
    if (i >= numel) {
        return;
    }
    uint strided_i = get_strided_index(i, num_dims, dims, strides);
    uint strided_i_t = get_strided_index(i, num_dims, dims, strides_t);
    uint strided_i_f = get_strided_index(i, num_dims, dims, strides_f);
    out[i] = select(f[strided_i_f], t[strided_i_t], ids[strided_i] != 0);
}
#define WHERE_OP(T, ID, FN_NAME)                                                                 \
kernel void FN_NAME(constant size_t &numel, constant size_t &num_dims, constant size_t *dims,    \
                    constant size_t *strides, constant size_t *strides_t,                        \
                    constant size_t *strides_f, device const ID *ids, device const T *t,         \
                    device const T *f, device T *out, uint i [[thread_position_in_grid]]) {      \
    where_cond<T, ID>(numel, num_dims, dims, strides, strides_t, strides_f, ids, t, f, out, i);  \
}
WHERE_OP(float, uint32_t, where_u32_f32)
WHERE_OP(int64_t, uint8_t, where_u8_i64)

template <typename TYPENAME, typename INDEX_TYPENAME>
METAL_FUNC void index_select(constant size_t& dst_size, constant size_t& left_size,
                             constant size_t& src_dim_size, constant size_t& right_size,
                             constant size_t& ids_size, const device TYPENAME* input,
                             const device INDEX_TYPENAME* input_ids, device TYPENAME* output,
                             uint tid [[thread_position_in_grid]]) {
    if (tid >= dst_size) {
        return;
    }
    const size_t id_i = (tid / right_size) % ids_size;
    // The greatest index stands for "none".
    if (input_ids[id_i] == numeric_limits<INDEX_TYPENAME>::max()) {
        output[tid] = static_cast<TYPENAME>(0);
        return;
    }
    const INDEX_TYPENAME input_i = min(input_ids[id_i], (INDEX_TYPENAME)(src_dim_size - 1));
    const size_t right_rank_i = tid % right_size;
    const size_t left_rank_i = tid / right_size / ids_size;
    output[tid] = input[left_rank_i * src_dim_size * right_size + input_i * right_size + right_rank_i];
}
#define INDEX_OP(NAME, INDEX_TYPENAME, TYPENAME)                                        \
kernel void NAME(constant size_t &dst_size, constant size_t &left_size,                 \
                 constant size_t &src_dim_size, constant size_t &right_size,            \
                 constant size_t &ids_size, const device TYPENAME *input,               \
                 const device INDEX_TYPENAME *input_ids, device TYPENAME *output,       \
                 uint tid [[thread_position_in_grid]]) {                                \
    index_select<TYPENAME, INDEX_TYPENAME>(dst_size, left_size, src_dim_size,           \
        right_size, ids_size, input, input_ids, output, tid);                           \
}
INDEX_OP(is_u32_f16, uint32_t, half)
INDEX_OP(is_u8_i64, uint8_t, int64_t)

template <typename T, typename I>
kernel void scatter_add(constant size_t& tid_size, constant size_t& src_dim,
                        constant size_t& right, constant size_t& dst_dim,
                        const device T* input, const device I* ids, device T* output,
                        uint tid [[thread_position_in_grid]]) {
    if (tid >= tid_size) {
        return;
    }
    const size_t right_i = tid % right, left_i = tid / right;
    for (unsigned int j = 0; j < src_dim; ++j) {
        const size_t src_i = (left_i * src_dim + j) * right + right_i;
        const size_t dst_i = (left_i * dst_dim + ids[src_i]) * right + right_i;
        output[dst_i] += input[src_i];
    }
}
template [[host_name("sa_u32_f32")]] kernel void scatter_add<float, uint32_t>(
    constant size_t&, constant size_t&, constant size_t&, constant size_t&, const device float*,
    const device uint32_t*, device float*, uint);

// Columns for a convolution that is then a product of matrices.
template <typename T>
METAL_FUNC void im2col1d(constant size_t& dst_numel, constant size_t& l_out, constant size_t& l_k,
                         constant size_t& stride, constant size_t& padding,
                         constant size_t& dilation, constant size_t* src_dims,
                         constant size_t* src_strides, device const T* src, device T* dst,
                         uint tid [[thread_position_in_grid]]) {
    const size_t c_in = src_dims[1], l_in = src_dims[2];
    if (tid >= dst_numel) {
        return;
    }
    const size_t l_k_i = tid % l_k;
    const size_t c_i = tid / l_k % c_in;
    const size_t l_i = tid / (l_k * c_in) % l_out;
    const size_t b_i = tid / (l_k * c_in * l_out);
    const size_t src_l = l_i * stride + l_k_i * dilation;
    if (src_l < padding || src_l >= l_in + padding) {
        dst[tid] = static_cast<T>(0);
    } else {
        dst[tid] = src[b_i * src_strides[0] + c_i * src_strides[1] + (src_l - padding) * src_strides[2]];
    }
}
kernel void im2col1d_f32(constant size_t& dst_numel, constant size_t& l_out, constant size_t& l_k,
                         constant size_t& stride, constant size_t& padding,
                         constant size_t& dilation, constant size_t* src_dims,
                         constant size_t* src_strides, device const float* src, device float* dst,
                         uint tid [[thread_position_in_grid]]) {
    im2col1d<float>(dst_numel, l_out, l_k, stride, padding, dilation, src_dims, src_strides, src,
                    dst, tid);
}
