// What becomes of a row's sum.
struct Store {
    static ALWAYS_INLINE void apply(device half* out, uint row, float sum, float alpha) {
        out[row] = half(alpha * sum);
    }
};
struct SiluTimes {
    static ALWAYS_INLINE void apply(device half* out, uint row, float sum, float alpha) {
        out[row] = half(float(out[row]) * (alpha * sum) / (1.0f + exp(-alpha * sum)));
    }
};
