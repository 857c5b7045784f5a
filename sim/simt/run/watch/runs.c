// Runs of records: what consecutive lanes wrote all at once has one record for RUN granules.
//
// A run lies at a multiple of RUN granules of a buffer or of threadgroup memory. It is 0 as long as nobody wrote any of them,
// EXPANDED if each granule's own record holds, or the record of the first granule; then the others'
// differ in their lanes alone, and the granules' own records are out of date. Between two granules'
// lanes there are 1, 2 or 4 granules, which the run has in the place of the mask of bytes: that is
// full. Whatever looks at a granule's own record expands its run first. A run's granules have one
// lock, under which it is read and changed.
//
// What consecutive lanes read has runs of its own: 0, EXPANDED, or the record of every granule. Of
// threadgroup memory the reader before has one, too, which holds as long as that of the reader does;
// it is 0 if those of the granules hold.

#pragma once
#include "records.c"

#define STEP_CODES 3u

// How a run says that each lane wrote so many granules; 0 if it cannot.
static inline u64 step_code(u32 step) { return step == 1 ? 1 : step == 2 ? 2 : step == 4 ? 3 : 0; }

static inline u64 run_of(u64 first, u64 code) { return (first & ~FULL_MASK) | code << MASK_SHIFT; }

// The record of a granule's last write.
INLINE u64 record_of_run(u64 run, u64 granule) {
  u64 shift = (run >> MASK_SHIFT & STEP_CODES) - 1;
  return (run | FULL_MASK) + (granule % RUN >> shift << LANE_SHIFT);
}

INLINE u64 written_at(const struct shadow *s, u64 granule) {
  u64 run = s->runs[granule / RUN];
  return run > EXPANDED ? record_of_run(run, granule) : s->written[granule];
}

// These are given no `struct shadow`, which would have to lie in memory for it.
NOINLINE void expand_writes(u64 *run, u64 *written) {
  u64 old = *run;
  *run = EXPANDED;
  if (old <= EXPANDED) return;
  for (u64 i = 0; i < RUN; i++) written[i] = record_of_run(old, i);
}

NOINLINE void expand_reads(u64 *run, u64 *read) {
  u64 old = *run;
  *run = EXPANDED;
  if (old <= EXPANDED) return;
  for (u64 i = 0; i < RUN; i++) read[i] = old;
}

NOINLINE void expand_reads_before(u64 *run, u64 *read, const u64 *before_run, u64 *before) {
  u64 old = *run, last = *before_run;
  *run = EXPANDED;
  if (old <= EXPANDED) return;
  for (u64 i = 0; i < RUN; i++) read[i] = old;
  for (u64 i = 0; last && i < RUN; i++) before[i] = last;
}

// Let the records of a granule's run hold each for itself, which they mostly do already.
INLINE void part_writes(const struct shadow *s, u64 granule) {
  u64 number = granule / RUN, *run = s->runs + number;
  if (*run != EXPANDED) expand_writes(run, s->written + number * RUN);
}

INLINE void part_reads(const struct shadow *s, u64 granule) {
  u64 number = granule / RUN, *run = s->read_runs + number, *read = s->read + number * RUN;
  if (*run == EXPANDED) return;
  if (s->before)
    expand_reads_before(run, read, s->before_runs + number, s->before + number * RUN);
  else
    expand_reads(run, read);
}
