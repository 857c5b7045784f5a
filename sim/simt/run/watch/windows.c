// Which records may not be ordered before an access: many of them at once.

#pragma once
#include "runs.c"

// Records that may not be ordered before an access, as intervals of their numbers: a record starts
// with tag, threadgroup and epoch. Coarse: what it lets through is looked at lane by lane.
// All of this is put into its callers' places: a window that went through memory would be read back
// by vector instructions before its parts are there, which takes longer than the rest.
#define OTHER_THREADS (31ull << SIMDGROUP_SHIFT | ~0ull << GROUP_SHIFT)
struct window {
  u64 low, span;        // records of this dispatch (device) or of this epoch (threadgroup memory)
  u64 start, ordered;   // own threadgroup's records that a barrier covered
  u64 now;
};

INLINE struct window window_of(const struct shadow *s, u64 now) {
  u64 start = now >> GROUP_SHIFT << GROUP_SHIFT, covered = (u64)s->covered << EPOCH_SHIFT;
  struct window v = {start + covered, (1ull << GROUP_SHIFT) - covered, start, 0, now};
  if (s->device) {
    v.low = now >> TAG_SHIFT << TAG_SHIFT;
    v.span = 1ull << TAG_SHIFT;
    v.ordered = covered;
  }
  return v;
}

INLINE u64 is_current(struct window v, u64 old) { return old - v.low < v.span; }
INLINE u64 is_open(struct window v, u64 old) {
  return (u64)is_current(v, old) & (u64)(old - v.start >= v.ordered);
}
INLINE u64 by_other(struct window v, u64 old) {
  return ((old ^ v.now) & OTHER_THREADS) != 0;
}
INLINE u64 suspect(struct window v, u64 old) { return is_open(v, old) & by_other(v, old); }
INLINE u64 flag(u64 condition, u64 bits) { return (0 - condition) & bits; }

INLINE u64 suspect_writes(struct window v, const u64 *written, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) bad |= suspect(v, written[i]);
  return bad;
}

INLINE u64 suspect_reads(struct window v, const u64 *read, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) {
    u64 old = read[i], shared = (old & FLAG_SHARED) != 0;
    u64 flags = (old & (FLAG_SHARED | FLAG_SECOND)) != 0;
    bad |= (is_open(v, old) | (is_current(v, old) & shared)) & (by_other(v, old) | flags);
  }
  return bad;
}

// The same of the whole run that begins with a granule.
INLINE u64 suspect_writes_of(const struct shadow *s, struct window v, u64 at) {
  u64 run = s->runs[at / RUN];
  return run == EXPANDED ? suspect_writes(v, s->written + at, RUN) : suspect(v, run);
}

INLINE u64 suspect_reads_of(const struct shadow *s, struct window v, u64 at) {
  u64 run = s->read_runs[at / RUN];
  return run == EXPANDED ? suspect_reads(v, s->read + at, RUN) : suspect_reads(v, &run, 1);
}

INLINE void note_writes(u64 *written, u64 n, u64 now, u32 step) {
  if (step == 1)
    for (u64 i = 0; i < n; i++) written[i] = now + (i << LANE_SHIFT);
  else
    for (u64 i = 0; i < n; i++) written[i] = now + (step ? (u64)((u32)i / step) << LANE_SHIFT : 0);
}

INLINE u64 joined(struct window v, u64 old) {
  u64 current = is_current(v, old), foreign = current & (u64)((old ^ v.now) >> GROUP_SHIFT != 0);
  u64 open = is_open(v, old) & (1 ^ foreign);
  u64 mine = v.now | (flag(current, FLAG_SHARED) & old) |
             flag(open & by_other(v, old), FLAG_SECOND) | (flag(open, FLAG_SECOND) & old);
  return foreign ? old | FLAG_SHARED : mine;
}
