#pragma once
// Where keys and values of tokens lie in a cache [sequences, capacity, kv_heads, HEAD], or, of a
// paged one, [blocks, capacity, kv_heads, HEAD], whose blocks a table [sequences, columns] names.

inline uint cache_row(constant CacheParams& cache, const device uint* blocks, uint sequence,
                      uint position, uint head) {
#if IS_PAGED
    const uint block = blocks[sequence * cache.columns + position / cache.capacity];
    const uint slot = block * cache.capacity + position % cache.capacity;
#else
    const uint slot = sequence * cache.capacity + position;
#endif
    return slot * cache.kv_heads + head;
}
