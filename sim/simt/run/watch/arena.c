// Ranges of threadgroup memory.

#pragma once
#include "windows.c"

// Notes reads of granules that have records of their own.
INLINE void note_reads(struct window v, u64 *restrict read, u64 *restrict before, u64 n) {
  for (u64 i = 0; i < n; i++) {
    u64 old = read[i], last = before[i];
    before[i] = suspect(v, old) ? old : last;
    read[i] = joined(v, old);
  }
}

// The same, and checks them against writes, in one go: noting them twice does no harm.
INLINE u64 check_reads(struct window v, const u64 *restrict written, u64 *restrict read,
                       u64 *restrict before, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i++) {
    u64 old = read[i], last = before[i];
    bad |= suspect(v, written[i]);
    before[i] = suspect(v, old) ? old : last;
    read[i] = joined(v, old);
  }
  return bad;
}

// The same of one granule.
INLINE u64 read_one(const struct shadow *s, struct window v, u64 at) {
  part_reads(s, at);
  note_reads(v, s->read + at, s->before + at, 1);
  return suspect(v, written_at(s, at));
}

// Records become one again where writes have one: else what comes next may part them each time.
INLINE void read_run(const struct shadow *s, struct window v, u64 at) {
  u64 *run = s->read_runs + at / RUN, *read = s->read + at, current = 0;
  if (*run != EXPANDED) {
    if (suspect(v, *run)) s->before_runs[at / RUN] = *run;
    *run = joined(v, *run);
    return;
  }
  for (u64 i = 0; i < RUN; i++) current |= is_current(v, read[i]);
  if (current || s->runs[at / RUN] == EXPANDED) {
    note_reads(v, read, s->before + at, RUN);
    return;
  }
  *run = v.now;
  s->before_runs[at / RUN] = 0;
}

INLINE u64 read_runs(const struct shadow *s, struct window v, u64 at, u64 n) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i += RUN) {
    bad |= suspect_writes_of(s, v, at + i);
    read_run(s, v, at + i);
  }
  return bad;
}

INLINE u64 write_runs(const struct shadow *s, struct window v, u64 at, u64 n, u64 code) {
  u64 bad = 0;
  for (u64 i = 0; i < n; i += RUN)
    bad |= suspect_writes_of(s, v, at + i) | suspect_reads_of(s, v, at + i);
  if (bad) return bad;
  for (u64 i = 0; i < n; i += RUN)
    s->runs[(at + i) / RUN] = run_of(v.now + ((i >> (code - 1)) << LANE_SHIFT), code);
  return 0;
}

// Granules that are no whole runs. Their reads have records of their own from now on.
INLINE u64 arena_pieces(const struct shadow *s, struct window v, u32 how, u64 at, u64 n, u32 step) {
  u64 *written = s->written + at, *read = s->read + at, first = at / RUN, last = (at + n - 1) / RUN;
  for (u64 number = first; number <= last; number++) part_reads(s, number * RUN);
  if (!(how & HOW_WRITE) && first == last && s->runs[first] != EXPANDED) {
    note_reads(v, read, s->before + at, n);
    return suspect(v, s->runs[first]);
  }
  for (u64 number = first; number <= last; number++) part_writes(s, number * RUN);
  if (!(how & HOW_WRITE)) return check_reads(v, written, read, s->before + at, n);
  u64 bad = suspect_writes(v, written, n) | suspect_reads(v, read, n);
  if (!bad) note_writes(written, n, v.now, step);
  return bad;
}

INLINE u64 arena_range(const struct shadow *s, struct window v, u32 how, u64 at, u64 n, u32 step) {
  if (!n) return 0;
  u64 code = step_code(step);
  if ((at | n) % RUN || (how & HOW_WRITE && !code)) return arena_pieces(s, v, how, at, n, step);
  return how & HOW_WRITE ? write_runs(s, v, at, n, code) : read_runs(s, v, at, n);
}
