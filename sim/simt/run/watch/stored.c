// What stores write, before they do.

#pragma once
#include "records.c"

static u8 *host_of(struct context *context, u64 address) {
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK;
  if (handle == THREADGROUP_HANDLE) {
    return offset < context->arena_size ? context->arena + offset : 0;
  }
  struct table_entry *entry = context->table + handle;
  return offset < entry->size ? entry->host + offset : 0;
}

// The byte of a value that a lane stores, as the generated code left it in the scratch memory:
// component by component, each a vector of lanes.
static inline u8 stored_byte(u8 *scratch, u32 lane, u32 n, u32 size) {
  return scratch[SCRATCH_VALUES + (n / size * LANES + lane) * size + n % size];
}

static int changes_value(struct context *context, u64 address, u32 lane, u32 from, u32 to,
                         u32 size) {
  u8 *scratch = context->scratch;
  for (u32 n = from; n < to; n++) {
    u8 *host = host_of(context, address + n);
    if (!host || *host != stored_byte(scratch, lane, n, size)) return 1;
  }
  return 0;
}
