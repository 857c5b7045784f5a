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

//! [kernel.whole_entry_for_others]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void whole_entry_for_others(device const uint* x, device Entry* y,
                                   uint i [[thread_position_in_grid]]) {
  Entry entries[4];
  for (uint k = 0; k < 3; ++k) {
    entries[k].key = k;
    entries[k].tag = i;
    entries[k].place = x[i];
  }
  y[i] = entries[x[i] % 4];  // BUG uninitialised-read
}
