// silu(gate) * up, element by element.
kernel void swiglu(const device T* gate [[buffer(0)]], const device T* up [[buffer(1)]],
                   device T* y [[buffer(2)]], constant uint& count [[buffer(3)]],
                   uint at [[thread_position_in_grid]]) {
    if (at < count) {
        const float value = float(gate[at]);
        y[at] = T(value / (1.0f + exp(-value)) * float(up[at]));
    }
}
