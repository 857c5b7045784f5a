constant constexpr float NOTHING = -FLT_MAX;  // as in attention.metal

// Puts the parts of `attention` or `prefill` together: a thread for each number of the result.
kernel void attention_merge(const device float* parts [[buffer(0)]], device T* y [[buffer(1)]],
                            constant MergeParams* params [[buffer(2)]],
                            uint at [[thread_position_in_grid]]) {
    if (at >= params->rows * HEAD) {
        return;
    }
    const device float* from = parts + ulong(at / HEAD) * params->splits * (HEAD + 2);
    float top = NOTHING;
    for (uint s = 0; s < params->splits; ++s) {
        top = max(top, from[s * (HEAD + 2) + HEAD]);
    }
    float value = 0, all = 0;
    for (uint s = 0; s < params->splits; ++s) {
        const device float* part = from + s * (HEAD + 2);
        const float factor = exp2(part[HEAD] - top);
        value += part[at % HEAD] * factor;
        all += part[HEAD + 1] * factor;
    }
    y[at] = T(all == 0 ? 0.0f : value / all);
}
