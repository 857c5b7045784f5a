// A simdgroup for each row: its lanes take eight columns at a time.
template <typename Policy, typename Epilogue>
void gemv(const device uchar* matrix, const device T* x, device T* y,
          constant GemvParams* params, const device uchar* scales, uint3 gid, uint3 lid,
          Epilogue epilogue) {
    const uint row = gid.x * 8 + lid.x / 32;
    if (row >= params->rows) {
        return;
    }
    const device T* vector = x + ulong(gid.y) * params->columns;
    float sum = 0;
    for (uint k = lid.x % 32 * 8; k < params->columns; k += 256) {
        float w[8];
        Policy::load8(matrix, scales, params->rows, params->columns, row, k, w);
        const uint count = min(8u, params->columns - k);
        for (uint i = 0; i < 8; ++i) {
            sum += i < count ? w[i] * float(vector[k + i]) : 0.0f;
        }
    }
    sum = simd_sum(sum);
    if (lid.x % 32 == 0) {
        const uint at = gid.y * params->rows + row;
        y[at] = T(epilogue(sum, at, row));
    }
}
