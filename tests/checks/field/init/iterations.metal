// Source: https://github.com/gpufit/Gpufit/issues/76
// The number of iterations is raised where a fit goes on, and set nowhere.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fit_step]
//! threads = 40
//! threadgroup = 20
//! arguments.chi = { shape = 40, fill = "ones" }
//! arguments.n_iterations = { shape = 40, dtype = "int32", fill = "uninitialised" }
//! arguments.first = 1
kernel void fit_step(device float* chi, device int* n_iterations, constant bool& first,
                     uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (first) n_iterations[i] = 0;
#endif
    if (n_iterations[i] >= 10) return;  // BUG uninitialised-read
    chi[i] *= 0.5f;
    n_iterations[i] += 1;  // MAYBE uninitialised-read
}
