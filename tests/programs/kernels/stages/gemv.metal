// The main stage: rows of a matrix times a vector that a hook may normalise first. The host
// defines GemvParams.
struct NoHook {
    ALWAYS_INLINE NoHook(const device half*, uint, threadgroup float*, uint, uint, uint) {}
    ALWAYS_INLINE float operator()(float x, uint, const device half*) const { return x; }
};

struct RmsNormHook {
    float inverse;
    ALWAYS_INLINE RmsNormHook(const device half* x, uint n, threadgroup float* shared_mem, uint lid,
                              uint lane, uint simdgroups) {
        float sum = 0.0f;
        for (uint i = lid; i < n; i += 32 * simdgroups) {
            sum += float(x[i]) * float(x[i]);
        }
        sum = simd_sum(sum);
        if (lane == 0) {
            shared_mem[lid / 32] = sum;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0.0f;
        for (uint s = 0; s < simdgroups; ++s) {
            sum += shared_mem[s];
        }
        inverse = rsqrt(sum / n + 1e-5f);
    }
    ALWAYS_INLINE float operator()(float x, uint i, const device half* gamma) const {
        return x * inverse * float(gamma[i]);
    }
};

template <typename Policy, typename Hook, typename Epilogue>
ALWAYS_INLINE void run_gemv(const device uchar* matrix, const device uchar* scales,
                            const device half* x, device half* output,
                            constant GemvParams* params, const device half* gamma, uint3 gid,
                            uint3 lid, uint3 tptg, threadgroup float* shared_mem) {
    const uint simdgroups = tptg.x / 32, lane = lid.x % 32;
    const uint row = gid.x * simdgroups + lid.x / 32;
    const Hook hook(x, params->K, shared_mem, lid.x, lane, simdgroups);
    float sum = 0.0f;
    if (row < params->N) {
        for (uint block = lane; block < params->K / Policy::BLOCK; block += 32) {
            float values[Policy::BLOCK];
            for (uint i = 0; i < Policy::BLOCK; ++i) {
                values[i] = hook(x[block * Policy::BLOCK + i], block * Policy::BLOCK + i, gamma);
            }
            const float scale = Policy::scale_of(scales, ulong(row) * (params->K / Policy::BLOCK), block);
            sum += Policy::template dot<Policy::BLOCK>(
                matrix, ulong(row) * params->K + block * Policy::BLOCK, values, scale);
        }
    }
    sum = simd_sum(sum);
    if (lane == 0 && row < params->N) {
        Epilogue::apply(output, row, sum, params->alpha);
    }
}
