// Accesses by runs of consecutive lanes: checked in one go, with vector instructions.

#pragma once
#include "records.c"

// Records that may not be ordered before an access, as intervals of their numbers: a record starts
// with tag, threadgroup and epoch. Coarse: what it lets through is looked at lane by lane.
#define OTHER_THREADS (31ull << SIMDGROUP_SHIFT | ~0ull << GROUP_SHIFT)
struct window {
  u64 low, span;        // records of this dispatch (device) or of this epoch (threadgroup memory)
  u64 start, ordered;   // own threadgroup's records that a barrier covered
  u64 now;
};

static inline struct window window_of(const struct shadow *s, u64 now) {
  u64 start = now >> GROUP_SHIFT << GROUP_SHIFT, covered = (u64)s->covered << EPOCH_SHIFT;
  struct window v = {start + covered, (1ull << GROUP_SHIFT) - covered, start, 0, now};
  if (s->device) {
    v.low = now >> TAG_SHIFT << TAG_SHIFT;
    v.span = 1ull << TAG_SHIFT;
    v.ordered = covered;
  }
  return v;
}

static inline u64 is_current(struct window v, u64 old) { return old - v.low < v.span; }
static inline u64 is_open(struct window v, u64 old) {
  return (u64)is_current(v, old) & (u64)(old - v.start >= v.ordered);
}
static inline u64 by_other(struct window v, u64 old) {
  return ((old ^ v.now) & OTHER_THREADS) != 0;
}
static inline u64 flag(u64 condition, u64 bits) { return (0 - condition) & bits; }

static inline u64 suspect_writes(struct window v, const u64 *written, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) bad |= is_open(v, written[i]) & by_other(v, written[i]);
  return bad;
}

static inline u64 suspect_reads(struct window v, const u64 *read, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) {
    u64 old = read[i], shared = (old & FLAG_SHARED) != 0;
    u64 flags = (old & (FLAG_SHARED | FLAG_SECOND)) != 0;
    bad |= (is_open(v, old) | (is_current(v, old) & shared)) & (by_other(v, old) | flags);
  }
  return bad;
}

static inline void note_writes(u64 *written, u64 n, u64 now, u32 step) {
  if (step == 1)
    for (u64 i = 0; i < n; i++) written[i] = now + (i << LANE_SHIFT);
  else
    for (u64 i = 0; i < n; i++) written[i] = now + (step ? (u64)((u32)i / step) << LANE_SHIFT : 0);
}

static inline u64 joined(struct window v, u64 old) {
  u64 current = is_current(v, old), foreign = current & (u64)((old ^ v.now) >> GROUP_SHIFT != 0);
  u64 open = is_open(v, old) & (1 ^ foreign);
  u64 mine = v.now | (flag(current, FLAG_SHARED) & old) |
             flag(open & by_other(v, old), FLAG_SECOND) | (flag(open, FLAG_SECOND) & old);
  return foreign ? old | FLAG_SHARED : mine;
}

// Checks reads against writes and notes them, in one go: noting them twice does no harm.
static inline u64 note_reads(struct window v, const u64 *written, u64 *restrict read,
                             u64 *restrict before, u64 n) {
  u64 bad = 0;
  if (before)
    for (u64 i = 0; i < n; i++) {
      u64 old = read[i], last = before[i];
      bad |= is_open(v, written[i]) & by_other(v, written[i]);
      before[i] = is_open(v, old) & by_other(v, old) ? old : last;
      read[i] = joined(v, old);
    }
  else
    for (u64 i = 0; i < n; i++) {
      bad |= is_open(v, written[i]) & by_other(v, written[i]);
      read[i] = joined(v, read[i]);
    }
  return bad;
}

// Taking a lock waits for all stores before, and holds back all loads after: those that miss the
// cache would pay for it every time. So what the accesses that follow will need is asked for now.
// The addresses may lie beyond the arrays; asking for them does no harm.
#define AHEAD 4
#define LINE 8  // records
static inline void fetch_ahead(const struct shadow *s, u64 *written, u64 *read, u64 n) {
  for (u64 i = 0; i < n; i += LINE) __builtin_prefetch(written + AHEAD * n + i, 1);
  if (!s->has_readers) return;
  for (u64 i = 0; i < n; i += LINE) __builtin_prefetch(read + AHEAD * n + i, 1);
}

// An access by consecutive lanes, `lane_bytes` each (0: one lane's), to whole granules. Returns 1,
// without an effect, if something looks like a race: then the lanes are to be looked at one by one.
u32 assay_watch_range(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                      u32 lane_bytes) {
  struct watch *w = context->watch;
  struct shadow s;
  if (!find_shadow(w, address, &s)) return 0;
  if (w->slow) return 1;
  u64 offset = address & OFFSET_MASK;
  u64 unit = (1ull << s.shift) - 1;
  if ((offset | bytes | lane_bytes) & unit) return 1;
  u64 at = offset >> s.shift, n = bytes >> s.shift;
  if (at + n > s.count) return 1;
  struct window v = window_of(&s, record_of(w, context, &s, how, first_lane));
  u64 *written = s.written + at, *read = s.read + at;
  if (s.device) fetch_ahead(&s, written, read, n);
  u32 *l = s.device ? lock(w, written) : 0;
  u64 bad;
  if (how & HOW_WRITE) {
    bad = suspect_writes(v, written, n);
    if (s.has_readers) bad |= suspect_reads(v, read, n);
    if (!bad) note_writes(written, n, v.now, lane_bytes >> s.shift);
  } else {
    bad = note_reads(v, written, read, s.before ? s.before + at : 0, n);
  }
  if (l) unlock(l);
  return (u32)bad;
}
