// A thread's share of a part of a matrix [rows, columns] in device memory, as it lies there: ROWS x
// COLUMNS of it from (row, column) on, by COUNT threads. What lies beyond the matrix is 0.
template <uint ROWS, uint COLUMNS, uint COUNT>
ALWAYS_INLINE void copy_tile(const device T* from, threadgroup T* tile, uint rows, uint columns,
                             uint row, uint column, uint thread_index) {
    const device T* corner = from + ulong(row) * columns + column;
    if (row + ROWS <= rows && column + COLUMNS <= columns) {
        for (uint at = thread_index; at < ROWS * COLUMNS; at += COUNT) {
            tile[at] = corner[at / COLUMNS * columns + at % COLUMNS];
        }
        return;
    }
    for (uint at = thread_index; at < ROWS * COLUMNS; at += COUNT) {
        const uint down = at / COLUMNS;
        const uint along = at % COLUMNS;
        const bool is_inside = row + down < rows && column + along < columns;
        // The corner is always there: no lane takes another way.
        const T value = corner[is_inside ? down * columns + along : 0];
        tile[at] = is_inside ? value : T(0);
    }
}
