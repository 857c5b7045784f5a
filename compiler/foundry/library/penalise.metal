// Logits of tokens that stand in `recent` [rows, count] become less likely: positive ones are
// divided by `repetition`, others multiplied; then `presence`, and `frequency` for each time, are
// taken off. Numbers beyond the vocabulary stand for nothing.
// Of no recent tokens there is nothing to launch.
// assay: assume(params.count >= 1)
kernel void penalise(device T* x [[buffer(0)]], const device uint* recent [[buffer(1)]],
                     constant PenaltyParams* params [[buffer(2)]],
                     uint at [[thread_position_in_grid]]) {
    const uint row = at / params->count, own = at % params->count;
    if (row >= params->rows) {
        return;
    }
    recent += row * params->count;
    const uint token = recent[own];
    uint times = 0, before = 0;
    for (uint i = 0; i < params->count; ++i) {
        times += recent[i] == token;
        before += recent[i] == token && i < own;
    }
    if (token < params->columns && before == 0) {
        device T* logit = x + ulong(row) * params->columns + token;
        float value = float(*logit);
        value = value > 0 ? value / params->repetition : value * params->repetition;
        *logit = T(value - params->presence - params->frequency * float(times));
    }
}
