// Fields that nobody set, and that travelled with those that somebody did.
#include <metal_stdlib>
using namespace metal;

struct Entry {
  ushort key;
  uchar tag;
  uint place;
};

//! [kernel.field_of_a_copy]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void field_of_a_copy(device const uint* x, device uint* y,
                            uint i [[thread_position_in_grid]]) {
  Entry entries[6];
  for (uint k = 0; k < 6; ++k) {
    entries[k].key = k;
    entries[k].place = i;
  }
  uint k = x[i] % 6;
  entries[k] = entries[5 - k];
  y[i] = entries[x[i] % 5].tag;  // BUG uninitialised-read
}
