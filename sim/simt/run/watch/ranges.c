// Accesses by runs of consecutive lanes: checked in one go, with vector instructions.

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
INLINE u64 flag(u64 condition, u64 bits) { return (0 - condition) & bits; }

INLINE u64 suspect_writes(struct window v, const u64 *written, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) bad |= is_open(v, written[i]) & by_other(v, written[i]);
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

// Checks reads against writes and notes them, in one go: noting them twice does no harm.
INLINE u64 note_reads(struct window v, const u64 *restrict written, u64 *restrict read,
                             u64 *restrict before, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) {
    u64 old = read[i], last = before[i];
    bad |= is_open(v, written[i]) & by_other(v, written[i]);
    before[i] = is_open(v, old) & by_other(v, old) ? old : last;
    read[i] = joined(v, old);
  }
  return bad;
}

// Taking a lock waits for all stores before, and holds back all loads after: those that miss the
// cache would pay for it every time. So what the accesses that follow will need is asked for now.
// The addresses may lie beyond the arrays; asking for them does no harm.
#define AHEAD 4
#define DATA_AHEAD 48
#define LINE 8  // records
INLINE void fetch_ahead(const struct shadow *s, u64 at, u64 n) {
  u64 next = at + AHEAD * n;
  __builtin_prefetch(s->runs + next / RUN, 1);
  if (s->runs[at / RUN] == EXPANDED)
    for (u64 i = 0; i < n; i += LINE) __builtin_prefetch(s->written + next + i, 1);
  if (!s->has_readers) return;
  __builtin_prefetch(s->read_runs + next / RUN, 1);
  if (s->read_runs[at / RUN] == EXPANDED)
    for (u64 i = 0; i < n; i += LINE) __builtin_prefetch(s->read + next + i, 1);
}

// The same of the data: a store that misses the cache holds up the next lock. Without locks it holds
// up nothing, and may go past the caches.
INLINE void fetch_data(const struct watch *w, const u8 *host, u64 bytes) {
  if (!w->locks) return;
  const u8 *next = host + DATA_AHEAD * bytes;
  for (u64 i = 0; i < bytes; i += 64) __builtin_prefetch(next + i, 1);
}

// -- buffers, whose records may be those of runs --------------------------------------------------

// Calls `of_run` or `of_records` for each run that is touched: the latter from granule `lo` on.
#define EACH_RUN(runs, of_run, of_records)                                 \
  for (u64 lo = at, hi; lo < at + n; lo = hi) {                            \
    u64 run = runs[lo / RUN];                                              \
    hi = (lo / RUN + 1) * RUN < at + n ? (lo / RUN + 1) * RUN : at + n;    \
    if (run == EXPANDED) of_records; else of_run;                          \
  }

INLINE u64 suspect(struct window v, u64 old) { return is_open(v, old) & by_other(v, old); }

INLINE u64 buffer_write(const struct shadow *s, struct window v, u64 at, u64 n, u32 step) {
  u64 bad = 0, code = (at | n) % RUN ? 0 : step_code(step);
  EACH_RUN(s->runs, bad |= suspect(v, run), bad |= suspect_writes(v, s->written + lo, hi - lo))
  if (s->has_readers)
    EACH_RUN(s->read_runs, bad |= suspect_reads(v, &run, 1),
             bad |= suspect_reads(v, s->read + lo, hi - lo))
  if (bad) return bad;
  if (code) {
    for (u64 i = 0; i < n; i += RUN)
      s->runs[(at + i) / RUN] = run_of(v.now + ((i >> (code - 1)) << LANE_SHIFT), code);
  } else {
    EACH_RUN(s->runs, expand_writes(s, lo), (void)0)
    note_writes(s->written + at, n, v.now, step);
  }
  return 0;
}

INLINE void join_reads(struct window v, u64 *read, u64 n) {
  for (u64 i = 0; i < n; i++) read[i] = joined(v, read[i]);
}

INLINE void join_run(const struct shadow *s, struct window v, u64 at) {
  u64 *run = s->read_runs + at / RUN, *read = s->read + at, current = 0;
  if (*run != EXPANDED) {
    *run = joined(v, *run);
    return;
  }
  for (u64 i = 0; i < RUN; i++) current |= is_current(v, read[i]);
  if (current)
    join_reads(v, read, RUN);
  else
    *run = v.now;
}

INLINE u64 buffer_read(const struct shadow *s, struct window v, u64 at, u64 n) {
  u64 bad = 0;
  EACH_RUN(s->runs, bad |= suspect(v, run), bad |= suspect_writes(v, s->written + lo, hi - lo))
  if ((at | n) % RUN) {
    EACH_RUN(s->read_runs, expand_reads(s, lo), (void)0)
    join_reads(v, s->read + at, n);
  } else {
    for (u64 i = 0; i < n; i += RUN) join_run(s, v, at + i);
  }
  return bad;
}

// The locks of the first and of the last granule, in one order for all; null for the same.
struct locks { u32 *one, *other; };
INLINE struct locks lock_range(struct watch *w, const struct shadow *s, u64 at, u64 n) {
  u32 *first = lock_of(w, s->written + at), *last = lock_of(w, s->written + at + n - 1);
  struct locks taken = {first < last ? first : last, first == last ? 0 : first < last ? last : first};
  take(taken.one);
  take(taken.other);
  return taken;
}

// More granules would have more than two locks.
#define MOST_GRANULES 512

INLINE u64 buffer_range(struct watch *w, struct shadow *s, struct window v, u32 how, u64 at, u64 n,
                        u32 step) {
  if (!n || n > MOST_GRANULES) return n != 0;
  fetch_ahead(s, at, n);
  struct locks taken = lock_range(w, s, at, n);
  u64 bad = how & HOW_WRITE ? buffer_write(s, v, at, n, step) : buffer_read(s, v, at, n);
  unlock(taken.other);
  unlock(taken.one);
  return bad;
}

INLINE u64 arena_range(struct shadow *s, struct window v, u32 how, u64 at, u64 n, u32 step) {
  u64 *written = s->written + at, *read = s->read + at;
  if (!(how & HOW_WRITE)) return note_reads(v, written, read, s->before + at, n);
  u64 bad = suspect_writes(v, written, n) | suspect_reads(v, read, n);
  if (!bad) note_writes(written, n, v.now, step);
  return bad;
}

// How many granules are one for each lane is known to the compiler then, as nearly always.
#define FOR_LANES(call, n) ((n) == LANES ? call(LANES) : call(n))

INLINE u32 range_in(struct context *context, struct shadow *s, u32 how, u64 offset, u64 bytes,
                    u32 first_lane, u32 lane_bytes) {
  struct watch *w = context->watch;
  if (w->slow) return 1;
  u64 unit = (1ull << s->shift) - 1;
  if ((offset | bytes | lane_bytes) & unit) return 1;
  u64 at = offset >> s->shift, n = bytes >> s->shift;
  if (at + n > s->count) return 1;
  struct window v = window_of(s, record_of(w, context, s, how, first_lane));
  u32 step = lane_bytes >> s->shift;
#define IN_BUFFER(n) (u32)buffer_range(w, s, v, how, at, n, step)
#define IN_ARENA(n) (u32)arena_range(s, v, how, at, n, step)
  return s->device ? FOR_LANES(IN_BUFFER, n) : FOR_LANES(IN_ARENA, n);
}

// A write of one whole run of a buffer that nobody reads back: what streams of results are.
// Returns 0 if that is noted; else the records of the granules hold, or it looks like a race.
INLINE int write_run(struct context *context, struct shadow *s, u32 how, u64 offset,
                     u32 first_lane, u64 code) {
  struct watch *w = context->watch;
  struct window v = window_of(s, record_of(w, context, s, how, first_lane));
  u64 *run = s->runs + offset / (4 * RUN);
  __builtin_prefetch(run + AHEAD, 1);
  u32 *l = lock(w, s->written + offset / 4);
  int fits = *run != EXPANDED && !suspect(v, *run);
  if (fits) *run = run_of(v.now, code);
  unlock(l);
  return !fits;
}

INLINE int is_stream(struct watch *w, const struct shadow *s, u32 how, u64 offset, u64 bytes) {
  int whole = bytes == 4 * RUN && offset % (4 * RUN) == 0 && offset / 4 + RUN <= s->count;
  return whole && how & HOW_WRITE && !s->has_readers && !w->slow;
}

static __attribute__((noinline)) u32 range_in_arena(struct context *context, u32 how, u64 offset,
                                                    u64 bytes, u32 first_lane, u32 lane_bytes) {
  struct shadow s;
  if (!arena_shadow(context->watch, &s)) return 0;
  return range_in(context, &s, how, offset, bytes, first_lane, lane_bytes);
}

static __attribute__((noinline)) u32 range_in_buffer(struct context *context, u32 how, u64 address,
                                                     u64 bytes, u32 first_lane, u32 lane_bytes) {
  struct shadow s;
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK;
  if (!buffer_shadow(context->watch, handle, &s)) return 0;
  if (how & HOW_WRITE) fetch_data(context->watch, context->table[handle].host + offset, bytes);
  return range_in(context, &s, how, offset, bytes, first_lane, lane_bytes);
}

// Returns 0 if the access is a stream's and is noted. Apart from the rest, whose frame is large.
INLINE int stream_in_buffer(struct context *context, u32 how, u64 address, u64 bytes,
                            u32 first_lane, u32 lane_bytes) {
  struct shadow s;
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK;
  u64 code = lane_bytes % 4 ? 0 : step_code(lane_bytes / 4);
  if (!code || !buffer_shadow(context->watch, handle, &s)) return 1;
  if (!is_stream(context->watch, &s, how, offset, bytes)) return 1;
  fetch_data(context->watch, context->table[handle].host + offset, bytes);
  return write_run(context, &s, how, offset, first_lane, code);
}

// An access by consecutive lanes, `lane_bytes` each (0: one lane's), to whole granules. Returns 1,
// without an effect, if something looks like a race: then the lanes are to be looked at one by one.
u32 assay_watch_range(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                      u32 lane_bytes) {
  u64 handle = address >> HANDLE_SHIFT;
  if (handle == THREADGROUP_HANDLE)
    return range_in_arena(context, how, address & OFFSET_MASK, bytes, first_lane, lane_bytes);
  if (!has_shadow(context->watch, handle)) return 0;
  if (!stream_in_buffer(context, how, address, bytes, first_lane, lane_bytes)) return 0;
  return range_in_buffer(context, how, address, bytes, first_lane, lane_bytes);
}

// Two reads of one granule of threadgroup memory each, the second by lanes from `other_lane` on:
// what rows of a tile are. Returns 1 if either looks like a race.
u32 assay_watch_two_reads(struct context *context, u32 how, u64 address, u64 other, u32 lane,
                          u32 other_lane) {
  struct watch *w = context->watch;
  struct shadow s;
  if (!arena_shadow(w, &s)) return 0;
  u64 one = address & OFFSET_MASK, two = other & OFFSET_MASK;
  u64 unit = (1ull << s.shift) - 1, at = one >> s.shift, next = two >> s.shift;
  if (w->slow || (one | two) & unit || at >= s.count || next >= s.count) return 1;
  struct window v = window_of(&s, record_of(w, context, &s, how, lane)), u = v;
  u.now = record_of(w, context, &s, how, other_lane);
  u64 written = s.written[at], read = s.read[at], before = s.before[at];
  u64 bad = suspect(v, written);
  s.before[at] = suspect(v, read) ? read : before;
  s.read[at] = joined(v, read);
  written = s.written[next], read = s.read[next], before = s.before[next];
  bad |= suspect(u, written);
  s.before[next] = suspect(u, read) ? read : before;
  s.read[next] = joined(u, read);
  return (u32)bad;
}
