// Copies that a simdgroup begins and waits for later, by the names that Apple's compiler has for
// them.
struct _simdgroup_event_t;
thread _simdgroup_event_t* begin_copy(ulong size, ulong alignment, threadgroup void* to,
                                      ulong to_row, ulong to_element, ulong2 to_tile,
                                      const device void* from, ulong from_row, ulong from_element,
                                      ulong2 from_tile, long2 offset, int clamp)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
void wait_for_copies(int count, thread _simdgroup_event_t** copies)
    __asm("air.wait_simdgroup_events");

// Begins to copy the part of a matrix that `copy_tile` copies; the whole simdgroup comes here.
template <uint ROWS, uint COLUMNS, typename E>
ALWAYS_INLINE thread _simdgroup_event_t* begin_tile(const device E* from, threadgroup E* tile,
                                                    uint rows, uint columns, uint row,
                                                    uint column) {
    const ulong2 there = ulong2(min(COLUMNS, columns - column), min(ROWS, rows - row));
    return begin_copy(sizeof(E), alignof(E), tile, COLUMNS, 1, ulong2(COLUMNS, ROWS),
                      from + ulong(row) * columns + column, columns, 1, there, long2(0), 0);
}
