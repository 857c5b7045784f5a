#include <metal_stdlib>
using namespace metal;

#include <metal_logging>
constant metal::os_log custom("com.x", "cat");
kernel void k(device float* f, uint i [[thread_position_in_grid]]) {
  os_log_default.log("x %d %f", i, f[0]);
  custom.log_debug("hi %u", i);
  os_log_default.log_error("e");
  f[0] = 1;
}
