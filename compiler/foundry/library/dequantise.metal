// A thread for eight weights of a row.
template <typename Policy>
void dequantise(const device uchar* matrix, device T* y, constant GemvParams* params,
                const device uchar* scales, uint3 gid, uint3 lid) {
    const uint k = (gid.x * 32 + lid.x) * 8;
    if (k >= params->columns) {
        return;
    }
    float w[8];
    Policy::load8(matrix, scales, params->rows, params->columns, gid.y, k, w);
    const uint count = min(8u, params->columns - k);
    for (uint i = 0; i < count; ++i) {
        y[ulong(gid.y) * params->columns + k + i] = T(w[i]);
    }
}
