// A small language model's training: forward and backward maps, losses, an optimiser.
#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

#define GELU_SCALING_FACTOR sqrt(2.0f / M_PI_F)

kernel void gelu_backward(device float* dinp [[buffer(0)]], const device float* inp [[buffer(1)]],
                          const device float* dout [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const float x = inp[i];
    const float cube = 0.044715f * x * x * x;
    const float t = precise::tanh(GELU_SCALING_FACTOR * (x + cube));
    const float sech2 = 1.0f - t * t;
    const float local = 0.5f * (1.0f + t) +
        x * 0.5f * sech2 * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x);
    dinp[i] += local * dout[i];
}

// Loss and gradient of softmax and cross entropy at once: a simdgroup per row.
kernel void fused_classifier(device float* logits [[buffer(0)]], device float* losses [[buffer(1)]],
                             const device int* targets [[buffer(2)]], constant int& V [[buffer(3)]],
                             constant float& dloss [[buffer(4)]],
                             uint row [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
    device float* line = logits + row * V;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < V; i += 32) {
        const float x = line[i];
        if (x > most) {
            sum *= exp(most - x);
            most = x;
        }
        sum += exp(x - most);
    }
    const float all_most = simd_max(most);
    sum = simd_sum(most == -INFINITY ? 0 : sum * exp(most - all_most));
    const int target = targets[row];
    if (lane == 0) {
        losses[row] = -(line[target] - all_most - log(sum));
    }
    simdgroup_barrier(mem_flags::mem_device);
    for (int i = lane; i < V; i += 32) {
        line[i] = (exp(line[i] - all_most) / sum - (i == target ? 1.0f : 0.0f)) * dloss;
    }
}

// Gradients of many rows meet in the weight's gradient by atomic sums.
kernel void layernorm_backward(device float* dinp [[buffer(0)]], device atomic_float* dweight [[buffer(1)]],
                               device atomic<float>* dbias [[buffer(2)]], const device float* dout [[buffer(3)]],
                               const device float* inp [[buffer(4)]], const device float* weight [[buffer(5)]],
                               const device float2* mean_rstd [[buffer(6)]], constant uint& C [[buffer(7)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
    const float2 stats = mean_rstd[row];
    inp += row * C; dout += row * C; dinp += row * C;
    float2 means = 0;
    for (uint i = lane; i < C; i += 32) {
        const float norm = (inp[i] - stats.x) * stats.y, dnorm = weight[i] * dout[i];
        means += float2(dnorm, dnorm * norm);
    }
    means = simd_sum(means) / C;
    for (uint i = lane; i < C; i += 32) {
        const float norm = (inp[i] - stats.x) * stats.y;
        atomic_fetch_add_explicit(&dweight[i], norm * dout[i], memory_order_relaxed);
        atomic_fetch_add_explicit(&dbias[i], dout[i], memory_order_relaxed);
        dinp[i] += (weight[i] * dout[i] - means.x - norm * means.y) * stats.y;
    }
}

// Tokens' gradients are added to the embedding's rows with a compare-and-swap on halves' words.
kernel void embedding_backward(device atomic_uint* table [[buffer(0)]], const device int* tokens [[buffer(1)]],
                               const device half2* dout [[buffer(2)]], constant uint& width [[buffer(3)]],
                               uint2 gid [[thread_position_in_grid]]) {
    device atomic_uint* place = table + tokens[gid.y] * width + gid.x;
    uint expected = atomic_load_explicit(place, memory_order_relaxed);
    uint desired;
    do {
        desired = as_type<uint>(as_type<half2>(expected) + dout[gid.y * width + gid.x]);
    } while (!atomic_compare_exchange_weak_explicit(place, &expected, desired, memory_order_relaxed,
                                                    memory_order_relaxed));
}

struct AdamW {
    float learning_rate, beta1, beta2, beta1_correction, beta2_correction, eps, weight_decay;
};

kernel void adamw(device float* params [[buffer(0)]], device bfloat* low_params [[buffer(1)]],
                  const device float* grads [[buffer(2)]], device float2* moments [[buffer(3)]],
                  constant AdamW& o [[buffer(4)]], constant uint& seed [[buffer(5)]],
                  uint i [[thread_position_in_grid]]) {
    const float g = grads[i];
    float2 m = moments[i];
    m = mix(float2(g, g * g), m, float2(o.beta1, o.beta2));
    moments[i] = m;
    const float step = m.x / o.beta1_correction / (sqrt(m.y / o.beta2_correction) + o.eps);
    const float updated = params[i] - o.learning_rate * (step + o.weight_decay * params[i]);
    params[i] = updated;
    // Rounded up or down by chance: 16 random bits below the mantissa that stays.
    uint noise = i * 0x9E3779B9u + seed;
    noise ^= noise >> 16;
    noise *= 0x85EBCA6Bu;
    noise ^= noise >> 13;
    const uint rounded = as_type<uint>(updated) + (noise & 0xFFFF);
    low_params[i] = as_type<bfloat>(ushort(rounded >> 16));
}
