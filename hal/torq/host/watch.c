/* Called by the emulated processor for each run of instructions, and each access to memory. */

#include "watch.h"

/* A run of instructions begins; the processor stops when it has burnt its fuel. */
void count_block(void *processor, u64 address, u32 size, struct fuel *fuel) {
    (void)address;
    fuel->used += size / INSTRUCTION_BYTES;
    if (fuel->used > fuel->most) {
        ((int (*)(void *))fuel->stop)(processor);
    }
}

/* Marks bytes of regions: read before they were written, or written. */
void mark_access(void *processor, i32 kind, u64 address, i32 size, i64 value,
                 struct marked *marked) {
    (void)processor;
    (void)value;
    for (u64 number = 0; number < marked->count; number++) {
        const struct region *region = &((const struct region *)marked->regions)[number];
        u64 first = address - region->start;
        if (first >= region->size) {
            continue;
        }
        for (u64 byte = first; byte < first + (u64)size && byte < region->size; byte++) {
            u8 *mark = (u8 *)region->marks + byte;
            if (kind == WRITE) {
                *mark |= WRITTEN;
            } else if (!(*mark & WRITTEN)) {
                *mark |= READ;
            }
        }
        return;
    }
}
