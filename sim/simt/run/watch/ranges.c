// Accesses by runs of consecutive lanes: checked in one go, with vector instructions.

#pragma once
#include "arena.c"

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

// Calls `of_run` or `of_records` for each run that is touched: the latter from granule `lo` on.
#define EACH_RUN(runs, of_run, of_records)                                 \
  for (u64 lo = at, hi; lo < at + n; lo = hi) {                            \
    u64 run = runs[lo / RUN];                                              \
    hi = (lo / RUN + 1) * RUN < at + n ? (lo / RUN + 1) * RUN : at + n;    \
    if (run == EXPANDED) of_records; else of_run;                          \
  }

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
    EACH_RUN(s->runs, part_writes(s, lo), (void)0)
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
    EACH_RUN(s->read_runs, part_reads(s, lo), (void)0)
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

NOINLINE u32 range_in_arena(struct context *context, u32 how, u64 offset, u64 bytes, u32 first_lane,
                            u32 lane_bytes) {
  struct shadow s;
  if (!arena_shadow(context->watch, &s)) return 0;
  return range_in(context, &s, how, offset, bytes, first_lane, lane_bytes);
}

NOINLINE u32 range_in_buffer(struct context *context, u32 how, u64 address, u64 bytes,
                             u32 first_lane, u32 lane_bytes) {
  struct shadow s;
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK;
  if (!buffer_shadow(context->watch, handle, &s)) return 0;
  if (how & HOW_WRITE) fetch_data(context->watch, context->table[handle].host + offset, bytes);
  return range_in(context, &s, how, offset, bytes, first_lane, lane_bytes);
}

// -- one whole run with one record: what most accesses are ----------------------------------------
// Apart from the rest, whose frame is large. They return 0 if the access is noted; else granules
// have records of their own, or it looks like a race.

INLINE void fetch_runs(const struct shadow *s, u64 number) {
  __builtin_prefetch(s->runs + number + AHEAD, 1);
  if (s->has_readers) __builtin_prefetch(s->read_runs + number + AHEAD, 1);
}

INLINE int write_whole(const struct shadow *s, struct window v, u64 number, u64 code) {
  u64 *run = s->runs + number, *readers = s->read_runs + number;
  if (*run == EXPANDED || suspect(v, *run)) return 1;
  if (s->has_readers && (*readers == EXPANDED || suspect_reads(v, readers, 1))) return 1;
  *run = run_of(v.now, code);
  return 0;
}

INLINE int read_whole(const struct shadow *s, struct window v, u64 number) {
  u64 run = s->runs[number], *readers = s->read_runs + number;
  if (run == EXPANDED || *readers == EXPANDED || suspect(v, run)) return 1;
  if (s->before && suspect(v, *readers)) s->before_runs[number] = *readers;
  *readers = joined(v, *readers);
  return 0;
}

// Whether bytes are those of one run that lies inside.
INLINE int is_whole(const struct watch *w, const struct shadow *s, u64 offset, u64 bytes) {
  u64 size = (u64)RUN << s->shift;
  return bytes == size && !(offset & (size - 1)) && (offset >> s->shift) + RUN <= s->count &&
         !w->slow;
}

INLINE int is_granule(const struct watch *w, const struct shadow *s, u64 offset, u64 bytes) {
  u64 size = 1ull << s->shift;
  return bytes == size && !(offset & (size - 1)) && offset >> s->shift < s->count && !w->slow;
}

NOINLINE u32 access_arena(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                          u32 lane_bytes) {
  struct watch *w = context->watch;
  struct shadow s;
  u64 offset = address & OFFSET_MASK;
  if (!arena_shadow(w, &s)) return 0;
  struct window v = window_of(&s, record_of(w, context, &s, how, first_lane));
  u64 at = offset >> s.shift;
  if (!(how & HOW_WRITE) && is_granule(w, &s, offset, bytes)) return (u32)read_one(&s, v, at);
  if (is_whole(w, &s, offset, bytes)) {
    if (!(how & HOW_WRITE)) {
      if (!read_whole(&s, v, at / RUN)) return 0;
    } else if (lane_bytes == 1u << s.shift && !write_whole(&s, v, at / RUN, 1)) {
      return 0;
    }
  }
  return range_in_arena(context, how, offset, bytes, first_lane, lane_bytes);
}

NOINLINE u32 write_buffer(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                          u32 lane_bytes) {
  struct watch *w = context->watch;
  struct shadow s;
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK, number = offset / (4 * RUN);
  u64 code = lane_bytes % 4 ? 0 : step_code(lane_bytes / 4);
  if (!buffer_shadow(w, handle, &s)) return 0;
  if (code && is_whole(w, &s, offset, bytes)) {
    fetch_data(w, context->table[handle].host + offset, bytes);
    fetch_runs(&s, number);
    struct window v = window_of(&s, record_of(w, context, &s, how, first_lane));
    u32 *l = lock(w, s.written + offset / 4);
    int left = write_whole(&s, v, number, code);
    unlock(l);
    if (!left) return 0;
  }
  return range_in_buffer(context, how, address, bytes, first_lane, lane_bytes);
}

NOINLINE u32 read_buffer(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                         u32 lane_bytes) {
  struct watch *w = context->watch;
  struct shadow s;
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK, number = offset / (4 * RUN);
  if (!buffer_shadow(w, handle, &s)) return 0;
  if (is_whole(w, &s, offset, bytes)) {
    fetch_runs(&s, number);
    struct window v = window_of(&s, record_of(w, context, &s, how, first_lane));
    u32 *l = lock(w, s.written + offset / 4);
    int left = read_whole(&s, v, number);
    unlock(l);
    if (!left) return 0;
  }
  return range_in_buffer(context, how, address, bytes, first_lane, lane_bytes);
}

// An access by consecutive lanes, `lane_bytes` each (0: one lane's), to whole granules. Returns 1,
// without an effect, if something looks like a race: then the lanes are to be looked at one by one.
u32 assay_watch_range(struct context *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                      u32 lane_bytes) {
  if (address >> HANDLE_SHIFT == THREADGROUP_HANDLE)
    return access_arena(context, how, address, bytes, first_lane, lane_bytes);
  if (how & HOW_WRITE)
    return write_buffer(context, how, address, bytes, first_lane, lane_bytes);
  return read_buffer(context, how, address, bytes, first_lane, lane_bytes);
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
  return (u32)(read_one(&s, v, at) | read_one(&s, u, next));
}
