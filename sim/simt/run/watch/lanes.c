// Accesses lane by lane: what a run did not settle, and lanes among each other.

#pragma once
#include "runs.c"
#include "unsettled.c"

// The record of an access of `bytes` from `offset` on, for the part of it that is in a granule:
// bytes `from` to `to` of the access.
static inline u64 touching(const struct shadow *s, u64 now, u64 granule, u64 offset, u32 bytes,
                           u32 *from, u32 *to) {
  u64 start = granule << s->shift, end = start + (1ull << s->shift);
  *from = start > offset ? (u32)(start - offset) : 0;
  *to = end < offset + bytes ? (u32)(end - offset) : bytes;
  if (s->shift != 2) return now;
  u64 touched = (1u << (offset + *to - start)) - (1u << (offset + *from - start));
  return (now & ~FULL_MASK) | touched << MASK_SHIFT;
}

static void race(struct watch *w, struct context *context, const struct shadow *s, u32 kind,
                 u32 how, u32 lane, u64 old, u64 now, u64 address) {
  u32 same_group = !((old ^ now) >> GROUP_SHIFT);
  u32 passed = epoch_of(now) - epoch_of(old);
  report(w, context, same_group && passed ? REPORT_WEAK : kind, how >> HOW_SITE & 1023, lane, old,
         address, same_group ? w->barriers - passed : epoch_of(old), kind);
}

// Whether one of two atomic writes stores a value that loses the other's update, or is lost itself.
// Who was the last to update may store: then all others are known to be done.
static int loses_update(const struct shadow *s, u64 old, u64 now) {
  if (!both_atomic(old, now) || !unordered(s, old, now) || !overlap(old, now)) return 0;
  u64 x = old ^ now;
  int earlier = old & FLAG_STORED && old & FLAG_UPDATED;  // the store lies behind that update
  if (!(x >> GROUP_SHIFT) && (epoch_of(x) || earlier)) return 0;
  return (old & FLAG_STORED && now & FLAG_UPDATED) || (old & FLAG_UPDATED && now & FLAG_STORED);
}

static void watch_write(struct watch *w, struct context *context, struct shadow *s, u64 granule,
                        u32 how, u32 lane, u64 now, u64 address, int changes) {
  part_writes(s, granule);
  part_reads(s, granule);
  u64 old = s->written[granule], reader = s->read[granule];
  u64 flags = how & HOW_STORE ? FLAG_STORED : how & HOW_UPDATE ? FLAG_UPDATED : 0;
  if (loses_update(s, old, now | flags)) {
    race(w, context, s, REPORT_STORE_UPDATE, how, lane, old, now, address);
  } else if (write_clash(s, old, now)) {
    if (changes)
      race(w, context, s, REPORT_WRITE_WRITE, how, lane, old, now, address);
    else
      flags = FLAG_SHARED | (plain_flags(old) & FLAG_SECOND);
  } else if (!changes && s->device) {
    flags = FLAG_SECOND;
  }
  if (changes && reader_clash(s, reader, now)) {
    u64 by = reader;
    if (!unordered(s, reader, now) && s->before) by = s->before[granule];
    race(w, context, s, REPORT_WRITE_READ, how, lane, by, now, address);
  }
  s->written[granule] = joined_write(s, old, now | flags);
}

static void watch_read(struct watch *w, struct context *context, struct shadow *s, u64 granule,
                       u32 how, u32 lane, u64 now, u64 address) {
  part_reads(s, granule);
  u64 old = written_at(s, granule), reader = s->read[granule];
  u64 quiet = s->device && (old ^ now) >> GROUP_SHIFT ? FLAG_SECOND | FLAG_SHARED : FLAG_SECOND;
  if (write_clash(s, old, now) && !(plain_flags(old) & quiet))
    race(w, context, s, REPORT_READ_WRITE, how, lane, old, now, address);
  if (s->before && reader >> EPOCH_SHIFT == now >> EPOCH_SHIFT &&
      (reader ^ now) >> SIMDGROUP_SHIFT)
    s->before[granule] = reader;
  s->read[granule] = joined_read(s, reader, now);
}

// Lanes of one store that write different values to one place.
static void watch_same_store(struct watch *w, struct context *context, u32 how, u32 mask, u32 size,
                             u32 bytes) {
  u8 *scratch = context->scratch;
  u64 *addresses = (u64 *)scratch;
  u64 seen[64];
  u8 owner[64];
  u64 used = 0;
  for (u32 lane = 0; lane < LANES; lane++) {
    if (!(mask >> lane & 1)) continue;
    u64 address = addresses[lane];
    u32 slot = (u32)((address >> 1) * 0x9E3779B97F4A7C15ull >> 58);
    while (used >> slot & 1 && seen[slot] != address) slot = (slot + 1) & 63;
    if (!(used >> slot & 1)) {
      used |= 1ull << slot;
      seen[slot] = address;
      owner[slot] = lane;
      continue;
    }
    for (u32 n = 0; n < bytes; n++)
      if (stored_byte(scratch, lane, n, size) != stored_byte(scratch, owner[slot], n, size)) {
        u64 other = (u64)context->simdgroup << SIMDGROUP_SHIFT |
                    (u64)owner[slot] << LANE_SHIFT | (u64)(how >> HOW_SITE & 1023) << SITE_SHIFT |
                    (w->group & GROUP_MASK) << GROUP_SHIFT;
        u32 site = how >> HOW_SITE & 1023;
        report(w, context, REPORT_SAME_STORE, site, lane, other, address, w->barriers, 0);
        if (w->lanes)
          report(w, context, REPORT_LANE_RACE, site, lane, other, address, w->barriers,
                 REPORT_WRITE_WRITE);
        break;
      }
  }
}

// On a lane's atomic write: it was a store.
#define FLAG_STORED_BY_LANE FLAG_SHARED

// Lanes of one simdgroup that only lock step keeps apart. All lanes of an access are looked at
// before any of them is noted: they access at once.
static void lane_race(struct watch *w, struct context *context, struct shadow *s, u64 granule,
                      u32 how, u32 lane, u64 now, u64 address, int changes) {
  u64 written = s->lane_written[granule], read = s->lane_read[granule];
  if (epoch_of(now) >= EPOCH_LIMIT || !changes) return;
  for (u32 reads = 0; reads <= (how & HOW_WRITE ? 1u : 0u); reads++) {
    u64 old = reads ? read : written, x = old ^ now;
    int other = lane_of(x) != 0 || (reads && old & FLAG_SECOND);
    int lost = !reads && old & FLAG_STORED_BY_LANE && how & HOW_UPDATE;
    if (x >> SIMDGROUP_SHIFT || !other || !overlap(old, now)) continue;
    if (both_atomic(old, now) && !lost) continue;
    report(w, context, REPORT_LANE_RACE, how >> HOW_SITE & 1023, lane, old, address, w->barriers,
           reads ? REPORT_WRITE_READ : how & HOW_WRITE ? REPORT_WRITE_WRITE : REPORT_READ_WRITE);
    return;
  }
}

// A record has room for one lane: of those that access different bytes the last one stays.
static void note_lane(struct shadow *s, u64 granule, u32 how, u64 now) {
  u64 *place = (how & HOW_WRITE ? s->lane_written : s->lane_read) + granule;
  u64 mine = lane_of(*place) == lane_of(now);
  u64 same = *place >> SIMDGROUP_SHIFT == now >> SIMDGROUP_SHIFT && (mine || overlap(*place, now));
  u64 second = same && (!mine || *place & FLAG_SECOND);
  *place = now | (same ? *place & FULL_MASK : 0) | (second ? FLAG_SECOND : 0);
}

static void watch_lane_order(struct watch *w, struct context *context, u32 how, u32 mask, u32 size,
                             u32 bytes, int noting) {
  u64 *addresses = (u64 *)context->scratch;
  for (u32 lane = 0; lane < LANES; lane++) {
    struct shadow s;
    u64 address = addresses[lane], offset = address & OFFSET_MASK;
    if (!(mask >> lane & 1) || !find_shadow(w, address, &s) || !s.lane_written) continue;
    u64 passed = w->left[context->simdgroup].passed[s.device];
    s.stamp = (s.stamp & ~((u64)EPOCH_LIMIT << EPOCH_SHIFT)) |
              (passed < EPOCH_LIMIT ? passed : EPOCH_LIMIT) << EPOCH_SHIFT;
    u64 now = record_of(w, context, &s, how, lane) | (how & HOW_STORE ? FLAG_STORED_BY_LANE : 0);
    u64 last = (offset + bytes - 1) >> s.shift;
    for (u64 granule = offset >> s.shift; granule <= last && granule < s.count; granule++) {
      u32 from, to;
      u64 record = touching(&s, now, granule, offset, bytes, &from, &to);
      if (noting)
        note_lane(&s, granule, how, record);
      else
        lane_race(w, context, &s, granule, how, lane, record, address,
                  !(how & HOW_WRITE) || how & HOW_ATOMIC ||
                      changes_value(context, address, lane, 0, bytes, size));
    }
  }
}

// A barrier of the calling simdgroup orders the memory that its flags name.
void assay_watch_lane_barrier(struct context *context, u32 flags) {
  u32 *passed = context->watch->left[context->simdgroup].passed;
  if (flags & MEM_THREADGROUP) passed[0]++;
  if (flags & MEM_DEVICE) passed[1]++;
}

// An access of the lanes of `mask`, `parts` elements of `size` bytes each, at the addresses in the
// scratch memory; the values of a store are there too.
void assay_watch_lanes(struct context *context, u32 how, u32 mask, u32 size, u32 parts) {
  struct watch *w = context->watch;
  u64 *addresses = (u64 *)context->scratch;
  u32 bytes = size * parts;
  if ((how & (HOW_WRITE | HOW_ATOMIC)) == HOW_WRITE)
    watch_same_store(w, context, how, mask, size, bytes);
  if (w->kind || w->copying) watch_unsettled(w, context, how, mask, size, bytes);
  if (w->lanes) {
    watch_lane_order(w, context, how, mask, size, bytes, 0);
    watch_lane_order(w, context, how, mask, size, bytes, 1);
  }
  struct shadow s;
  u64 handle = 0;  // of the memory whose shadow that is, if it is watched
  int is_watched = 0;
  for (u32 lane = 0; lane < LANES; lane++) {
    if (!(mask >> lane & 1)) continue;
    u64 address = addresses[lane], offset = address & OFFSET_MASK;
    if (address >> HANDLE_SHIFT != handle) {
      handle = address >> HANDLE_SHIFT;
      is_watched = find_shadow(w, address, &s);
    }
    if (!is_watched) continue;
    u64 now = record_of(w, context, &s, how, lane);
    u64 last = (offset + bytes - 1) >> s.shift;
    for (u64 granule = offset >> s.shift; granule <= last && granule < s.count; granule++) {
      u32 from, to;
      u64 record = touching(&s, now, granule, offset, bytes, &from, &to);
      u32 *l = s.device ? lock(w, s.written + granule) : 0;
      if (how & HOW_WRITE)
        watch_write(w, context, &s, granule, how, lane, record, address + from,
                    how & HOW_ATOMIC || changes_value(context, address, lane, from, to, size));
      else
        watch_read(w, context, &s, granule, how, lane, record, address + from);
      unlock(l);
    }
  }
}
