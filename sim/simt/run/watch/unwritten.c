// Reads of what nobody has written: numbers that travel with the values, to where they decide.

#pragma once
#include "records.c"

// Another side of a report: a lane of the threadgroup that runs.
static u64 by(struct watch *w, u32 site, u32 lane, u32 simdgroup) {
  return (u64)site << SITE_SHIFT | (u64)lane << LANE_SHIFT | (u64)simdgroup << SIMDGROUP_SHIFT |
         (w->group & GROUP_MASK) << GROUP_SHIFT;
}

// A threadgroup begins: no value of the one before it is left.
static void forget_reads(struct watch *w) {
  if (!w->read_count) return;
  w->read_count = 0;
  for (u32 i = 0; i < READ_SLOTS; i++) w->read_slots[i] = 0;
}

// The number of a read, the greater the earlier it is; that of its site if there are too many.
static u16 number_of_read(struct watch *w, struct unwritten_read now) {
  u64 key = now.address * 0x9E3779B97F4A7C15ull ^ (u64)now.site << 20 ^ now.lane << 10 ^ now.simdgroup;
  u32 slot = (u32)((key * 0x9E3779B97F4A7C15ull) >> 40) % READ_SLOTS;
  for (; w->read_slots[slot]; slot = (slot + 1) % READ_SLOTS) {
    struct unwritten_read *known = &w->reads[w->read_slots[slot] - 1];
    if (known->address == now.address && known->site == now.site && known->lane == now.lane &&
        known->simdgroup == now.simdgroup)
      return (u16)(ORIGIN_FAR - w->read_slots[slot]);
  }
  if (w->read_count == MAX_READS) return (u16)now.site;
  w->reads[w->read_count] = now;
  w->read_slots[slot] = (u16)++w->read_count;
  return (u16)(ORIGIN_FAR - w->read_count);
}

// The lanes of `mask` have read what was not written, at the addresses in the scratch memory, and
// get the numbers of these reads there; the others get 0. `base` is where the array or buffer
// begins; `together` says that it is one read for all. Returns the number of the first lane's.
u32 assay_watch_unwritten(struct context *context, u32 site, u32 mask, u64 base, u32 together) {
  struct watch *w = context->watch;
  u64 *addresses = (u64 *)context->scratch;
  u16 *numbers = (u16 *)(context->scratch + SCRATCH_VALUES);
  for (u32 lane = 0; lane < LANES; lane++) {
    // Of one read by several lanes whoever decides something is told.
    u32 readers = together ? mask : 1u << lane;
    struct unwritten_read now = {addresses[lane], addresses[lane] - base, site, lane,
                                 context->simdgroup, readers};
    numbers[lane] = mask >> lane & 1 ? number_of_read(w, now) : 0;
  }
  return numbers[__builtin_ctz(mask)];
}

// A value that was not written decides something: `origin` is a read's number or a site's.
static void report_unwritten(struct watch *w, struct context *context, u32 site, u32 lane,
                             u32 origin) {
  u32 number = origin & (ORIGIN_FAR - 1);
  if (number < ORIGIN_READ) {
    u64 other = by(w, number, lane, context->simdgroup);
    report(w, context, REPORT_UNINITIALISED, site, lane, other, 0, (origin & ORIGIN_FAR) != 0, 0);
    return;
  }
  struct unwritten_read *read = &w->reads[ORIGIN_FAR - number - 1];
  u32 mine = read->simdgroup == context->simdgroup && read->readers >> lane & 1;
  u64 other = by(w, read->site, mine ? lane : read->lane, read->simdgroup);
  u64 before = w->report_count;
  report(w, context, REPORT_UNINITIALISED, site, lane, other, read->address, 0, 1);
  if (w->report_count != before) w->reports[before].found = read->offset;
}

// Lanes of `mask` read so many parts of a shadow, at the offsets in the scratch memory: of those
// that have no shadow the others' memory is whole, so they get 0.
void assay_watch_shadow_load(struct context *context, const u8 *shadow, u64 available, u32 mask,
                             u32 size, u32 parts) {
  const u64 *offsets = (const u64 *)context->scratch;
  u8 *values = context->scratch + SCRATCH_VALUES;
  u64 bytes = (u64)size * parts;
  if (!available) {  // all that the host has filled: most buffers
    for (u64 n = 0; n < LANES * bytes; n += 8) *(u64 *)(values + n) = 0;
    return;
  }
  for (u32 lane = 0; lane < LANES; lane++) {
    u64 offset = offsets[lane];
    u32 inside = mask >> lane & 1 && bytes <= available && offset <= available - bytes;
    for (u64 n = 0; n < bytes; n++)
      values[(n / size * LANES + lane) * size + n % size] = inside ? shadow[offset + n] : 0;
  }
}

// The same for writing.
void assay_watch_shadow_store(struct context *context, u8 *shadow, u64 available, u32 mask,
                              u32 size, u32 parts) {
  const u64 *offsets = (const u64 *)context->scratch;
  const u8 *values = context->scratch + SCRATCH_VALUES;
  if (!available) return;
  for (u32 lane = 0; lane < LANES; lane++) {
    u64 bytes = (u64)size * parts, offset = offsets[lane];
    if (!(mask >> lane & 1) || bytes > available || offset > available - bytes) continue;
    for (u64 n = 0; n < bytes; n++)
      shadow[offset + n] = values[(n / size * LANES + lane) * size + n % size];
  }
}
