// What compiled kernels call while they are watched: shadow memory, and the reports it leads to.
//
// Every granule of watched memory has a record of its last write and of its last read: who, where
// and in which epoch. An access that is not ordered after the recorded one by a barrier is a race,
// whatever the schedule was.
//
// A threadgroup's simdgroups run one after the other between two barriers, so within an epoch the
// last record of a granule is enough to see every conflict of two simdgroups.

#pragma once
#include "watch.h"

// On a write: more than one thread wrote this same value. On a read: other threadgroups read too.
#define FLAG_SHARED 2u
// On a write: it did not change the value. On a read: other simdgroups read in this epoch too.
#define FLAG_SECOND 4u
// On an atomic write: it was a store, perhaps followed by updates of the same simdgroup; or an
// update.
#define FLAG_STORED FLAG_SECOND
#define FLAG_UPDATED FLAG_SHARED
#define SIMDGROUP_SHIFT 22
#define EPOCH_SHIFT 27
#define GROUP_SHIFT 37
#define FULL_MASK (15ull << MASK_SHIFT)
#define SITE_MASK (1023ull << SITE_SHIFT)
#define EPOCH_LIMIT 1023u

static inline u32 lane_of(u64 record) { return record >> LANE_SHIFT & 31; }
static inline u32 epoch_of(u64 record) { return record >> EPOCH_SHIFT & EPOCH_LIMIT; }

// -- reports ----------------------------------------------------------------------------------

static void report(struct watch *w, struct context *context, u32 kind, u32 site, u32 lane,
                   u64 other, u64 address, u32 other_epoch, u32 detail) {
  u32 other_site = other >> SITE_SHIFT & 1023;
  u64 handle = address >> HANDLE_SHIFT;
  for (u64 i = 0; i < w->report_count; i++) {
    struct report *r = &w->reports[i];
    if (r->kind == kind && r->site == site && r->other_site == other_site &&
        r->address >> HANDLE_SHIFT == handle) {
      r->count++;
      return;
    }
  }
  if (w->report_count == w->report_limit) {
    w->reports_dropped++;
    return;
  }
  struct report *r = &w->reports[w->report_count++];
  r->kind = kind;
  r->site = site;
  r->other_site = other_site;
  r->lane = lane;
  r->simdgroup = context->simdgroup;
  r->group = w->group;
  r->epoch = w->barriers;
  r->other_lane = lane_of(other);
  r->other_simdgroup = other >> SIMDGROUP_SHIFT & 31;
  r->other_group = other >> GROUP_SHIFT & GROUP_MASK;
  r->other_epoch = other_epoch;
  r->address = address;
  r->detail = detail;
  r->count = 1;
}

// -- where shadows are ------------------------------------------------------------------------

struct shadow {
  u64 *lane_written, *lane_read;  // for races of the lanes of a simdgroup; null if not asked for
  u64 *written, *read, *before;  // `before`: the reader before the last, threadgroup memory only
  u64 *runs, *read_runs;         // of records that hold for many granules
  u64 *before_runs;              // the same of `before`
  u64 count;                     // granules
  u32 shift;                     // bytes of a granule, as a power of two
  u32 covered;                   // epoch since which a barrier covered this memory
  u64 stamp;                     // tag, threadgroup and epoch of accesses made now
  u32 device;
  u32 has_readers;               // whether anybody's reads are watched
  u32 ordered;                   // a fence ordered this threadgroup after others
};

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
INLINE int arena_shadow(struct watch *w, struct shadow *s) {
  s->written = w->arena_written;
  s->read = w->arena_read;
  s->before = w->arena_before;
  s->runs = w->arena_runs;
  s->read_runs = w->arena_read_runs;
  s->before_runs = w->arena_before_runs;
  s->lane_written = w->arena_lane_written;
  s->lane_read = w->arena_lane_read;
  s->count = w->arena_granules;
  s->shift = w->arena_shift;
  s->covered = w->arena_covered;
  s->stamp = w->run << GROUP_SHIFT | (u64)w->arena_epoch << EPOCH_SHIFT;
  s->device = 0;
  s->has_readers = 1;
  s->ordered = w->arena_fenced;
  return w->arena_written != 0;
}

// Buffers that a dispatch only reads have none.
INLINE int has_shadow(struct watch *w, u64 handle) {
  return handle >= FIRST_BUFFER_HANDLE && handle < TABLE_ENTRIES && w->buffers[handle].written;
}

INLINE int buffer_shadow(struct watch *w, u64 handle, struct shadow *s) {
  if (!has_shadow(w, handle)) return 0;
  struct buffer *b = &w->buffers[handle];
  s->written = b->written;
  s->read = b->read;
  s->before = 0;
  s->runs = b->runs;
  s->read_runs = b->read_runs;
  s->before_runs = 0;
  s->lane_written = b->lane_written;
  s->lane_read = b->lane_read;
  s->count = b->granules;
  s->shift = 2;
  s->covered = w->device_covered;
  s->stamp = w->tag << TAG_SHIFT | (w->group & GROUP_MASK) << GROUP_SHIFT |
             (u64)w->device_epoch << EPOCH_SHIFT;
  s->device = 1;
  s->has_readers = b->has_readers != 0;
  s->ordered = w->device_fenced;
  return 1;
}

static inline int find_shadow(struct watch *w, u64 address, struct shadow *s) {
  u64 handle = address >> HANDLE_SHIFT;
  return handle == THREADGROUP_HANDLE ? arena_shadow(w, s) : buffer_shadow(w, handle, s);
}

// Neighbouring granules share a lock: threadgroups run on several threads. Null if one runs them all.
static inline u32 *lock_of(struct watch *w, u64 *shadow) {
  if (!w->locks) return 0;
  return &w->locks[((u64)shadow >> 12) * 2654435761u >> 8 & (LOCKS - 1)];
}

static inline void take(u32 *l) {
  if (!l) return;
  while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(l, __ATOMIC_RELAXED)) {
    }
}

static inline u32 *lock(struct watch *w, u64 *shadow) {
  u32 *l = lock_of(w, shadow);
  take(l);
  return l;
}

static inline void unlock(u32 *l) {
  if (l) __atomic_store_n(l, 0, __ATOMIC_RELEASE);
}

// -- what is ordered --------------------------------------------------------------------------

// Whether `now` is not ordered after `old` by a barrier, both in the same dispatch.
static inline int unordered(const struct shadow *s, u64 old, u64 now) {
  u64 x = old ^ now;
  if (x >> TAG_SHIFT) return 0;
  if (x >> GROUP_SHIFT) return s->device && !s->ordered;
  if (epoch_of(old) < s->covered || epoch_of(now) == EPOCH_LIMIT) return 0;
  return (x >> SIMDGROUP_SHIFT & 31) != 0 && !s->ordered;
}

static inline int overlap(u64 a, u64 b) { return (a & b & FULL_MASK) != 0; }
static inline int both_atomic(u64 a, u64 b) { return (a & b & FLAG_ATOMIC) != 0; }

// Flags of a plain write; those of an atomic one mean something else.
static inline u64 plain_flags(u64 record) {
  return record & FLAG_ATOMIC ? 0 : record & (FLAG_SHARED | FLAG_SECOND);
}

static inline int write_clash(const struct shadow *s, u64 old, u64 now) {
  return unordered(s, old, now) && overlap(old, now) && !both_atomic(old, now);
}

// A write against the readers of its granule.
static inline int reader_clash(const struct shadow *s, u64 old, u64 now) {
  if ((old ^ now) >> TAG_SHIFT || !overlap(old, now) || both_atomic(old, now)) return 0;
  if (!s->device && (old ^ now) >> GROUP_SHIFT) return 0;
  if (unordered(s, old, now)) return 1;
  if (s->device && old & FLAG_SHARED) return !s->ordered;
  return (old & FLAG_SECOND) != 0 && epoch_of(old) >= s->covered && !s->ordered &&
         epoch_of(now) != EPOCH_LIMIT;
}

// The record of a granule's readers after one more read.
static inline u64 joined_read(const struct shadow *s, u64 old, u64 now) {
  u64 x = old ^ now;
  if (x >> TAG_SHIFT || (!s->device && x >> GROUP_SHIFT)) return now;
  // Of those who read different bytes the last one stays: a writer is no enemy of the others.
  if (x >> SIMDGROUP_SHIFT && !overlap(old, now)) return now;
  u64 joined = now & ~(u64)FLAG_ATOMIC;
  joined |= old & now & FLAG_ATOMIC;
  // The first reader stays: a threadgroup that reads before it writes is not its own enemy.
  if (x >> GROUP_SHIFT) return old | FLAG_SHARED;
  joined |= old & FLAG_SHARED;
  if (epoch_of(old) < s->covered) return joined;
  if (!(x >> SIMDGROUP_SHIFT)) joined |= old & FULL_MASK;
  if (x >> SIMDGROUP_SHIFT & 31) return joined | FLAG_SECOND;
  return joined | (old & FLAG_SECOND);
}

static inline u64 joined_write(const struct shadow *s, u64 old, u64 now) {
  // What one simdgroup writes between two barriers counts as one, and as plain if a part is: atomic
  // writes of others are no race with atomic ones. In threadgroup memory the plain one stays.
  int stored = both_atomic(old, now) && old & FLAG_STORED && now & FLAG_UPDATED;
  if (old >> SIMDGROUP_SHIFT != now >> SIMDGROUP_SHIFT) {
    // Of other threadgroups' updates, nothing orders them with the store: its place is kept.
    if (!stored || !s->device || (old ^ now) >> GROUP_SHIFT) return now;
    return (now & ~SITE_MASK) | (old & SITE_MASK) | FLAG_STORED;
  }
  if (now & ~old & FLAG_ATOMIC) {
    if (!s->device) return old | (now & FULL_MASK);
    now &= ~(u64)(FLAG_ATOMIC | FLAG_STORED | FLAG_UPDATED);
  } else if (stored) {
    return old | (now & FULL_MASK);
  }
  return now | (old & FULL_MASK);
}

INLINE u64 record_of(struct watch *w, struct context *context, const struct shadow *s,
                            u32 how, u32 lane) {
  return s->stamp | (u64)context->simdgroup << SIMDGROUP_SHIFT | (u64)lane << LANE_SHIFT |
         (u64)(how >> HOW_SITE & 1023) << SITE_SHIFT | FULL_MASK |
         (how & HOW_ATOMIC ? FLAG_ATOMIC : 0);
}
