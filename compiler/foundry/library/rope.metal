// Rotary positions: a thread for each pair of a head; pairs are halves apart ("neox"), or
// neighbours.
// assay: assume(params.head_size >= 2 and params.head_size % 2 == 0)
kernel void rope(const device T* x [[buffer(0)]], const device int* positions [[buffer(1)]],
                 device T* y [[buffer(2)]], constant RopeParams* params [[buffer(3)]],
                 uint thread_index [[thread_position_in_grid]]) {
    const uint half_size = params->head_size / 2;
    const uint pair = thread_index % half_size;
    const uint head = thread_index / half_size;
    if (head >= params->heads * params->tokens) {
        return;
    }
    const uint token = head / params->heads;
    const float power = 2.0f * float(pair) / float(params->head_size);
    const float angle = float(positions[token]) * pow(params->base, -power);
    const uint distance = params->is_neox ? half_size : 1;
    const ulong at = ulong(head) * params->head_size + (params->is_neox ? pair : 2 * pair);
    const float first = float(x[at]);
    const float second = float(x[at + distance]);
    y[at] = T(first * cos(angle) - second * sin(angle));
    y[at + distance] = T(first * sin(angle) + second * cos(angle));
}
