// Source: written from memory of the class: breadth-first search without compare-and-swap
// Parents of a vertex are stored by all of its neighbours, each a different one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bfs_level]
//! threads = 64
//! threadgroup = 32
//! arguments.frontier = { shape = 64, dtype = "uint32", fill = "iota" }
//! arguments.parent = { shape = 32, dtype = "int32", fill = -1 }
kernel void bfs_level(device const uint* frontier, device int* parent,
                      uint i [[thread_position_in_grid]]) {
    const uint v = frontier[i];
    const uint child = (v * 5) % 32;
#ifdef FIXED
    int none = -1;
    device atomic_int* cell = reinterpret_cast<device atomic_int*>(parent + child);
    while (none == -1 && !atomic_compare_exchange_weak_explicit(
                             cell, &none, int(v), memory_order_relaxed, memory_order_relaxed)) {
    }
#else
    if (parent[child] < 0) {  // MAYBE race-read-write
        parent[child] = v;    // BUG race-write-write|race-read-write
    }
#endif
}
