// What taped kernels call: it describes accesses that generated code cannot describe by itself.
//
// Events are laid out as emit/tape.py says.

#include "tape.h"

static inline u64 capped(u64 number) { return number < FIELD_MASK ? number : FIELD_MASK; }

// The room is used up: from now on events are written over each other behind the last that counts.
u64 *assay_tape_full(struct context *context, u64 *at) {
  struct tape_writer *w = context->tape_writer;
  if (!w->full) {
    w->full = 1;
    w->end = at;
  }
  return w->spare;
}

// The next threadgroup of the sample begins.
void assay_tape_group(struct context *context) { context->tape_writer->group++; }

// A simdgroup begins, or goes on behind a barrier.
void assay_tape_resume(struct context *context, u32 simdgroup) {
  struct tape_writer *w = context->tape_writer;
  w->private_line = PRIVATE_LINES + (w->group * w->simdgroups + simdgroup) * w->private_rows;
  if (w->full) return;
  if (w->segment_count == w->segment_limit) {
    w->position = assay_tape_full(context, w->position);
    return;
  }
  struct segment *s = &w->segments[w->segment_count++];
  s->start = w->position;
  s->stream = w->group * w->simdgroups + simdgroup;
}

// Lanes are often in order already, which is quickly seen.
static int ascending(const u64 *addresses) {
  u64 wrong = 0;
  for (u32 n = 0; n + 1 < LANES; n++) wrong |= addresses[n] > addresses[n + 1];
  return !wrong;
}

// The addresses of the mask's lanes in ascending order; `count` is how many.
static const u64 *sorted(const u64 *addresses, u32 mask, u64 *room, u32 *count) {
  *count = (u32)__builtin_popcount(mask);
  if (mask == ~0u && ascending(addresses)) return addresses;
  for (u32 found = 0; mask; mask &= mask - 1) {
    u64 address = addresses[__builtin_ctz(mask)];
    u32 n = found++;
    for (; n && room[n - 1] > address; n--) room[n] = room[n - 1];
    room[n] = address;
  }
  return room;
}

static u64 most_sharing(const u64 *address, u32 count) {
  u64 most = 0, run = 0;
  for (u32 n = 0; n < count; n++) {
    run = n && address[n] == address[n - 1] ? run + 1 : 1;
    if (run > most) most = run;
  }
  return most;
}

static u64 distinct_words(const u64 *address, u32 count, u32 bytes) {
  u64 next = 0, words = 0;
  for (u32 n = 0; n < count; n++) {
    u64 first = address[n] / BANK_BYTES, end = (address[n] + bytes - 1) / BANK_BYTES + 1;
    if (first < next) first = next;
    if (end > first) words += end - first, next = end;
  }
  return words;
}

static u64 bank_ways(const u64 *address, u32 count, u32 bytes) {
  u8 banks[BANKS] = {0};
  u64 next = 0, most = 0;
  for (u32 n = 0; n < count; n++) {
    u64 first = address[n] / BANK_BYTES, end = (address[n] + bytes - 1) / BANK_BYTES + 1;
    if (first < next) first = next;
    for (; first < end; first++) {
      u64 ways = ++banks[first % BANKS];
      if (ways > most) most = ways;
      next = end;
    }
  }
  return most;
}

// Where in threadgroup memory the lanes are: the first row and the last.
static u64 row_places(const u64 *address, u32 count, u32 bytes) {
  u64 first = (address[0] & OFFSET_MASK) / LINE_BYTES;
  u64 last = ((address[count - 1] & OFFSET_MASK) + bytes - 1) / LINE_BYTES;
  return capped(first) << FIRST_ROW_SHIFT | capped(last) << LAST_ROW_SHIFT;
}

static u64 distinct_rows(const u64 *address, u32 count, u32 bytes) {
  u64 next = 0, rows = 0;
  for (u32 n = 0; n < count; n++) {
    u64 first = address[n] / LINE_BYTES, end = (address[n] + bytes - 1) / LINE_BYTES + 1;
    if (first < next) first = next;
    if (end > first) rows += end - first, next = end;
  }
  return rows;
}

// Writes the lines behind the description, for addresses in ascending order; returns the
// description's part about them.
static u64 put_lines(u64 *at, const u64 *address, u32 count, u32 bytes) {
  u64 next = 0, lines = 0;
  for (u32 n = 0; n < count; n++) {
    u64 line = address[n] / LINE_BYTES, end = (address[n] + bytes - 1) / LINE_BYTES + 1;
    line = line < next ? next : line;
    for (; line < end && lines < FIELD_MASK; line++) at[lines++] = line, next = end;
  }
  u64 consecutive = lines && at[lines - 1] - at[0] == lines - 1;
  return lines << LINES_SHIFT | (consecutive ? CONSECUTIVE : 0) | CACHED;
}

// An access of `bytes` bytes by the lanes of `mask` at the addresses in the scratch memory.
u64 *assay_tape_lanes(struct context *context, u64 *at, u32 head, u32 mask, u32 bytes) {
  const u64 *addresses = (const u64 *)context->scratch;
  u64 room[LANES];
  u32 count;
  const u64 *address = sorted(addresses, mask, room, &count);
  u64 about = capped(distinct_words(address, count, bytes)) << WORDS_SHIFT |
              most_sharing(address, count) << SHARING_SHIFT | (u64)bytes << BYTES_SHIFT;
  at[0] = head | (u64)mask << LANES_SHIFT;
  if (count && address[0] >> HANDLE_SHIFT == THREADGROUP_HANDLE) {
    at[1] = about | capped(bank_ways(address, count, bytes)) << WAYS_SHIFT |
            capped(distinct_rows(address, count, bytes)) << LINES_SHIFT |
            row_places(address, count, bytes);
    return at + 2;
  }
  about |= put_lines(at + 2, address, count, bytes);
  at[1] = about;
  u64 lines = about >> LINES_SHIFT & FIELD_MASK;
  return at + 2 + (about & CONSECUTIVE ? 1 : lines);
}

// The same for private memory, whose offsets in a thread are in the scratch memory: equal words
// of all lanes lie together in one line.
u64 *assay_tape_private(struct context *context, u64 *at, u32 head, u32 mask, u32 bytes) {
  const u64 *offsets = (const u64 *)context->scratch;
  u64 room[LANES], row[LANES];
  u32 count;
  const u64 *offset = sorted(offsets, mask, room, &count);
  u64 base = context->tape_writer->private_line;
  u64 words = 0;
  for (u32 n = 0; n < count; n++) {
    u64 first = offset[n] / BANK_BYTES, last = (offset[n] + bytes - 1) / BANK_BYTES;
    words += last - first + 1;
    row[n] = (base + first) * LINE_BYTES + offset[n] % BANK_BYTES * LANES;
  }
  // A row of words is a line: an access of so many rows is one of so many lines.
  u64 about = put_lines(at + 2, row, count, bytes * LANES);
  at[0] = head | (u64)mask << LANES_SHIFT;
  at[1] = about | capped(words) << WORDS_SHIFT | 1ull << SHARING_SHIFT | (u64)bytes << BYTES_SHIFT;
  u64 lines = about >> LINES_SHIFT & FIELD_MASK;
  return at + 2 + (about & CONSECUTIVE ? 1 : lines);
}

// How many words each stream has, added to `lengths`.
void assay_tape_measure(const struct segment *segments, u64 count, const u64 *end, u64 *lengths) {
  for (u64 n = 0; n < count; n++) {
    const u64 *next = n + 1 < count ? segments[n + 1].start : end;
    lengths[segments[n].stream] += (u64)(next - segments[n].start);
  }
}

// Puts the pieces of each stream behind each other; `at` is where each stream begins in `words`.
void assay_tape_gather(const struct segment *segments, u64 count, const u64 *end, u64 *words,
                         u64 *at) {
  for (u64 n = 0; n < count; n++) {
    const u64 *next = n + 1 < count ? segments[n + 1].start : end;
    u64 *to = words + at[segments[n].stream];
    u64 length = (u64)(next - segments[n].start);
    for (u64 i = 0; i < length; i++) to[i] = segments[n].start[i];
    at[segments[n].stream] += length;
  }
}
