// The rows of a table, by number: a thread for eight columns of a row. A number beyond the table
// gives zeros.
template <typename Policy>
void embedding(const device uchar* matrix, const device uint* tokens, device T* y,
               constant GemvParams* params, const device uchar* scales, uint3 gid, uint3 lid) {
    const uint k = (gid.x * 32 + lid.x) * 8;
    if (k >= params->columns) {
        return;
    }
    float w[8] = {};
    const uint token = tokens[gid.y];
    if (token < params->rows) {
        Policy::load8(matrix, scales, params->rows, params->columns, token, k, w);
    }
    const uint count = min(8u, params->columns - k);
    for (uint i = 0; i < count; ++i) {
        y[ulong(gid.y) * params->columns + k + i] = T(w[i]);
    }
}
