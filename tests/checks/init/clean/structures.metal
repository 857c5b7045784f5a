// Structures with bytes between their fields, which nothing sets, and which copies carry along.
#include <metal_stdlib>
using namespace metal;

struct Entry {
  ushort key;
  uchar tag;
  uint place;
};

//! [kernel.sorted_entries]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void sorted_entries(device const uint* x, device uint* y,
                           uint i [[thread_position_in_grid]]) {
  Entry entries[6];
  for (uint k = 0; k < 6; ++k) {
    entries[k].key = x[(i * 7 + k * 5) & 31];
    entries[k].tag = k;
    entries[k].place = i;
  }
  for (int k = 1; k < 6; ++k) {
    Entry moved = entries[k];
    int to = k - 1;
    while (to >= 0 && entries[to].key > moved.key) {
      entries[to + 1] = entries[to];
      --to;
    }
    entries[to + 1] = moved;
  }
  y[i] = entries[x[i] % 6].tag + entries[i % 6].key + entries[2].place;
}

//! [kernel.swapped_entries]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void swapped_entries(device const uint* x, device uint* y,
                            uint i [[thread_position_in_grid]]) {
  Entry entries[6];
  for (uint k = 0; k < 6; ++k) {
    entries[k].key = k;
    entries[k].tag = k;
    entries[k].place = i;
  }
  uint k = x[i] % 6;
  Entry kept = entries[5 - k];
  entries[5 - k] = entries[k];
  entries[k] = kept;
  uint sum = 0;
  for (uint j = 0; j < 6; ++j) {
    sum = sum * 31 + entries[j].key + entries[j].tag + entries[j].place;
  }
  y[i] = sum;
}

//! [kernel.entries_for_others]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void entries_for_others(device const uint* x, device Entry* y,
                               uint i [[thread_position_in_grid]]) {
  threadgroup Entry shared_entries[32];
  Entry entries[4];
  for (uint k = 0; k < 4; ++k) {
    entries[k].key = k;
    entries[k].tag = i;
    entries[k].place = x[i];
  }
  shared_entries[i].key = i;
  shared_entries[i].tag = x[i];
  shared_entries[i].place = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = x[i] % 3 ? entries[x[i] % 4] : shared_entries[31 - i];
}
