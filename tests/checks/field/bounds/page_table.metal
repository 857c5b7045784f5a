// Source: written from memory of the class: paged attention with a free entry in the table
// A page that is not there is marked with -1, and its keys are fetched all the same.
#include <metal_stdlib>
using namespace metal;

//! [kernel.page_table]
//! threads = 12
//! threadgroup = 12
//! arguments.pages = { shape = [4, 4], fill = "random" }
//! arguments.table = { shape = 3, dtype = "int32", fill = [2, 0, -1] }
//! arguments.y = { shape = 12, fill = "zeros" }
//! arguments.length = 7
kernel void page_table(device const float* pages, constant int* table, device float* y,
                       constant uint& length, uint i [[thread_position_in_grid]]) {
    const int page = table[i / 4];
#ifdef FIXED
    if (i >= length) return;
#endif
    const float key = pages[page * 4 + int(i % 4)];  // BUG out-of-bounds-read
    y[i] = i < length ? key : 0;
}
