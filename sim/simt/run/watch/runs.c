// Runs of records: what consecutive lanes wrote all at once has one record for RUN granules.
//
// A run lies at a multiple of RUN granules of a buffer. It is 0 as long as nobody wrote any of them,
// EXPANDED if each granule's own record holds, or the record of the first granule; then the others'
// differ in their lanes alone, and the granules' own records are out of date. Between two granules'
// lanes there are 1, 2 or 4 granules, which the run has in the place of the mask of bytes: that is
// full. Whatever looks at a granule's own record expands its run first. A run's granules have one
// lock, under which it is read and changed.
//
// What consecutive lanes read has runs of its own: 0, EXPANDED, or the record of every granule.

#pragma once
#include "records.c"

#define STEP_CODES 3u

// How a run says that each lane wrote so many granules; 0 if it cannot.
static inline u64 step_code(u32 step) { return step == 1 ? 1 : step == 2 ? 2 : step == 4 ? 3 : 0; }

static inline u64 run_of(u64 first, u64 code) { return (first & ~FULL_MASK) | code << MASK_SHIFT; }

static inline void expand_writes(const struct shadow *s, u64 granule) {
  u64 *run = s->runs + granule / RUN, old = *run;
  if (old == EXPANDED) return;
  *run = EXPANDED;
  if (!old) return;
  u64 *written = s->written + granule / RUN * RUN;
  u64 first = old | FULL_MASK, shift = (old >> MASK_SHIFT & STEP_CODES) - 1;
  for (u64 i = 0; i < RUN; i++) written[i] = first + (i >> shift << LANE_SHIFT);
}

static inline void expand_reads(const struct shadow *s, u64 granule) {
  u64 *run = s->read_runs + granule / RUN, old = *run;
  if (old == EXPANDED) return;
  *run = EXPANDED;
  if (!old) return;
  u64 *read = s->read + granule / RUN * RUN;
  for (u64 i = 0; i < RUN; i++) read[i] = old;
}

// Lets the records of a granule's run hold each for itself.
static inline void expand(const struct shadow *s, u64 granule) {
  if (!s->runs) return;
  expand_writes(s, granule);
  expand_reads(s, granule);
}
