// What compiled kernels call while they are watched: shadow memory, and the reports it leads to.
//
// Every granule of watched memory has a record of its last write and of its last read: who, where
// and in which epoch. An access that is not ordered after the recorded one by a barrier is a race,
// whatever the schedule was. Constants in capitals come from the Python side (layout.py).
//
// A threadgroup's simdgroups run one after the other between two barriers, so within an epoch the
// last record of a granule is enough to see every conflict of two simdgroups.

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;

STRUCTURES

#define LANE_COUNT 32
#define FLAG_ATOMIC 1u
// On a write: more than one thread wrote this same value. On a read: other threadgroups read too.
#define FLAG_SHARED 2u
// On a write: it did not change the value. On a read: other simdgroups read in this epoch too.
#define FLAG_SECOND 4u
#define MASK_SHIFT 3
#define SITE_SHIFT 7
#define LANE_SHIFT 17
#define SIMDGROUP_SHIFT 22
#define EPOCH_SHIFT 27
#define GROUP_SHIFT 37
#define TAG_SHIFT 59
#define FULL_MASK (15ull << MASK_SHIFT)
#define EPOCH_LIMIT 1023u

static inline struct watch *watch_of(u8 *context) {
  return *(struct watch **)(context + CONTEXT_WATCH);
}

static inline u32 simdgroup_of(u8 *context) { return *(u32 *)(context + CONTEXT_SIMDGROUP); }

static inline u32 lane_of(u64 record) { return record >> LANE_SHIFT & 31; }
static inline u32 epoch_of(u64 record) { return record >> EPOCH_SHIFT & EPOCH_LIMIT; }

// -- reports ----------------------------------------------------------------------------------

static void report(struct watch *w, u8 *context, u32 kind, u32 site, u32 lane, u64 other,
                   u64 address, u32 other_epoch, u32 detail) {
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
  r->simdgroup = simdgroup_of(context);
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
  u64 *written, *read, *before;  // `before`: the reader before the last one, threadgroup memory only
  u64 first;                     // granule that the arrays start with
  u64 count;                     // granules
  u32 shift;                     // bytes of a granule, as a power of two
  u32 covered;                   // epoch since which a barrier covered this memory
  u64 stamp;                     // tag, threadgroup and epoch of accesses made now
  u32 device;
  u32 has_readers;               // whether anybody's reads are watched
  u32 ordered;                   // a fence ordered this threadgroup after others
};

static inline int find_shadow(struct watch *w, u64 address, struct shadow *s) {
  u64 handle = address >> HANDLE_SHIFT;
  if (handle == THREADGROUP_HANDLE) {
    s->written = w->arena_written;
    s->read = w->arena_read;
    s->before = w->arena_before;
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
  if (handle < FIRST_BUFFER_HANDLE || handle >= TABLE_ENTRIES) return 0;
  struct buffer *b = &w->buffers[handle];
  s->written = b->written;
  s->read = b->read;
  s->before = 0;
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
  return b->written != 0;
}

// Neighbouring granules share a lock: threadgroups run on several threads.
static inline u32 *lock(struct watch *w, u64 *shadow) {
  u32 *l = &w->locks[((u64)shadow >> 12) * 2654435761u >> 8 & (LOCKS - 1)];
  while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(l, __ATOMIC_RELAXED)) {
    }
  return l;
}

static inline void unlock(u32 *l) { __atomic_store_n(l, 0, __ATOMIC_RELEASE); }

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
  if (old >> SIMDGROUP_SHIFT != now >> SIMDGROUP_SHIFT) return now;
  u64 softened = now & ~old & FLAG_ATOMIC;
  if (softened && !s->device) return old | (now & FULL_MASK);
  return (now & ~softened) | (old & FULL_MASK);
}

static inline u64 record_of(struct watch *w, u8 *context, const struct shadow *s, u32 how,
                            u32 lane) {
  return s->stamp | (u64)simdgroup_of(context) << SIMDGROUP_SHIFT | (u64)lane << LANE_SHIFT |
         (u64)(how >> HOW_SITE & 1023) << SITE_SHIFT | FULL_MASK |
         (how & HOW_ATOMIC ? FLAG_ATOMIC : 0);
}

// -- a run of bytes by many lanes -------------------------------------------------------------

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
    u64 old = read[i], shared = (old & FLAG_SHARED) != 0, flags = (old & (FLAG_SHARED | FLAG_SECOND)) != 0;
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
u32 assay_watch_range(u8 *context, u32 how, u64 address, u64 bytes, u32 first_lane,
                      u32 lane_bytes) {
  struct watch *w = watch_of(context);
  struct shadow s;
  if (!find_shadow(w, address, &s)) return 0;
  if (w->lanes) return 1;
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

// -- lanes one by one -------------------------------------------------------------------------

static u8 *host_of(u8 *context, u64 address) {
  u64 handle = address >> HANDLE_SHIFT, offset = address & OFFSET_MASK;
  if (handle == THREADGROUP_HANDLE) {
    u64 size = *(u64 *)(context + CONTEXT_ARENA_SIZE);
    return offset < size ? *(u8 **)(context + CONTEXT_ARENA) + offset : 0;
  }
  u64 *entry = *(u64 **)(context + CONTEXT_TABLE) + 2 * handle;
  return offset < entry[1] ? (u8 *)entry[0] + offset : 0;
}

// The byte of a value that a lane stores, as the generated code left it in the scratch memory:
// component by component, each a vector of lanes.
static inline u8 stored_byte(u8 *scratch, u32 lane, u32 n, u32 size) {
  return scratch[SCRATCH_VALUES + (n / size * LANE_COUNT + lane) * size + n % size];
}

static int changes_value(u8 *context, u64 address, u32 lane, u32 from, u32 to, u32 size) {
  u8 *scratch = *(u8 **)(context + CONTEXT_SCRATCH);
  for (u32 n = from; n < to; n++) {
    u8 *host = host_of(context, address + n);
    if (!host || *host != stored_byte(scratch, lane, n, size)) return 1;
  }
  return 0;
}

static void race(struct watch *w, u8 *context, const struct shadow *s, u32 kind, u32 how, u32 lane,
                 u64 old, u64 now, u64 address) {
  u32 same_group = !((old ^ now) >> GROUP_SHIFT);
  u32 passed = epoch_of(now) - epoch_of(old);
  report(w, context, same_group && passed ? REPORT_WEAK : kind, how >> HOW_SITE & 1023, lane, old,
         address, same_group ? w->barriers - passed : epoch_of(old), kind);
}

static void watch_write(struct watch *w, u8 *context, struct shadow *s, u64 granule, u32 how,
                        u32 lane, u64 now, u64 address, int changes) {
  u64 old = s->written[granule], reader = s->read[granule];
  u64 flags = 0;
  if (write_clash(s, old, now)) {
    if (changes)
      race(w, context, s, REPORT_WRITE_WRITE, how, lane, old, now, address);
    else
      flags = FLAG_SHARED | (old & FLAG_SECOND);
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

static void watch_read(struct watch *w, u8 *context, struct shadow *s, u64 granule, u32 how,
                       u32 lane, u64 now, u64 address) {
  u64 old = s->written[granule], reader = s->read[granule];
  u64 quiet = s->device && (old ^ now) >> GROUP_SHIFT ? FLAG_SECOND | FLAG_SHARED : FLAG_SECOND;
  if (write_clash(s, old, now) && !(old & quiet))
    race(w, context, s, REPORT_READ_WRITE, how, lane, old, now, address);
  if (s->before && reader >> EPOCH_SHIFT == now >> EPOCH_SHIFT &&
      (reader ^ now) >> SIMDGROUP_SHIFT)
    s->before[granule] = reader;
  s->read[granule] = joined_read(s, reader, now);
}

// Lanes of one store that write different values to one place.
static void watch_same_store(struct watch *w, u8 *context, u32 how, u32 mask, u32 size, u32 bytes) {
  u8 *scratch = *(u8 **)(context + CONTEXT_SCRATCH);
  u64 *addresses = (u64 *)scratch;
  u64 seen[64];
  u8 owner[64];
  u64 used = 0;
  for (u32 lane = 0; lane < LANE_COUNT; lane++) {
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
        u64 other = (u64)simdgroup_of(context) << SIMDGROUP_SHIFT |
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

// Lanes of one simdgroup that only lock step keeps apart. All lanes of an access are looked at
// before any of them is noted: they access at once.
static void lane_race(struct watch *w, u8 *context, struct shadow *s, u64 granule, u32 how,
                      u32 lane, u64 now, u64 address, int changes) {
  u64 written = s->lane_written[granule], read = s->lane_read[granule];
  u32 limit = w->left[simdgroup_of(context)].passed >= EPOCH_LIMIT;
  if (limit || !changes) return;
  for (u32 reads = 0; reads <= (how & HOW_WRITE ? 1u : 0u); reads++) {
    u64 old = reads ? read : written, x = old ^ now;
    int other = lane_of(x) != 0 || (reads && old & FLAG_SECOND);
    if (x >> SIMDGROUP_SHIFT || !other || !overlap(old, now) || both_atomic(old, now)) continue;
    report(w, context, REPORT_LANE_RACE, how >> HOW_SITE & 1023, lane, old, address, w->barriers,
           reads ? REPORT_WRITE_READ : how & HOW_WRITE ? REPORT_WRITE_WRITE : REPORT_READ_WRITE);
    return;
  }
}

static void note_lane(struct shadow *s, u64 granule, u32 how, u64 now) {
  u64 *place = (how & HOW_WRITE ? s->lane_written : s->lane_read) + granule;
  u64 same = *place >> SIMDGROUP_SHIFT == now >> SIMDGROUP_SHIFT;
  u64 second = same && (lane_of(*place) != lane_of(now) || *place & FLAG_SECOND);
  *place = now | (same ? *place & FULL_MASK : 0) | (second ? FLAG_SECOND : 0);
}

static void watch_lane_order(struct watch *w, u8 *context, u32 how, u32 mask, u32 size, u32 bytes,
                             int noting) {
  u64 *addresses = *(u64 **)(context + CONTEXT_SCRATCH);
  u64 passed = w->left[simdgroup_of(context)].passed;
  for (u32 lane = 0; lane < LANE_COUNT; lane++) {
    struct shadow s;
    u64 address = addresses[lane], offset = address & OFFSET_MASK;
    if (!(mask >> lane & 1) || !find_shadow(w, address, &s) || !s.lane_written) continue;
    s.stamp = (s.stamp & ~((u64)EPOCH_LIMIT << EPOCH_SHIFT)) |
              (passed < EPOCH_LIMIT ? passed : EPOCH_LIMIT) << EPOCH_SHIFT;
    u64 now = record_of(w, context, &s, how, lane);
    u64 last = (offset + bytes - 1) >> s.shift;
    for (u64 granule = offset >> s.shift; granule <= last && granule < s.count; granule++) {
      if (noting)
        note_lane(&s, granule, how, now);
      else
        lane_race(w, context, &s, granule, how, lane, now, address,
                  !(how & HOW_WRITE) || how & HOW_ATOMIC ||
                      changes_value(context, address, lane, 0, bytes, size));
    }
  }
}

// A barrier of the calling simdgroup.
void assay_watch_lane_barrier(u8 *context) {
  watch_of(context)->left[simdgroup_of(context)].passed++;
}

// An access of the lanes of `mask`, `parts` elements of `size` bytes each, at the addresses in the
// scratch memory; the values of a store are there too.
void assay_watch_lanes(u8 *context, u32 how, u32 mask, u32 size, u32 parts) {
  struct watch *w = watch_of(context);
  u64 *addresses = *(u64 **)(context + CONTEXT_SCRATCH);
  u32 bytes = size * parts;
  if ((how & (HOW_WRITE | HOW_ATOMIC)) == HOW_WRITE)
    watch_same_store(w, context, how, mask, size, bytes);
  if (w->lanes) {
    watch_lane_order(w, context, how, mask, size, bytes, 0);
    watch_lane_order(w, context, how, mask, size, bytes, 1);
  }
  for (u32 lane = 0; lane < LANE_COUNT; lane++) {
    if (!(mask >> lane & 1)) continue;
    struct shadow s;
    u64 address = addresses[lane];
    if (!find_shadow(w, address, &s)) continue;
    u64 offset = address & OFFSET_MASK;
    u64 now = record_of(w, context, &s, how, lane);
    u64 last = (offset + bytes - 1) >> s.shift;
    for (u64 granule = offset >> s.shift; granule <= last && granule < s.count; granule++) {
      u64 start = granule << s.shift, end = start + (1ull << s.shift);
      u32 from = start > offset ? (u32)(start - offset) : 0;
      u32 to = end < offset + bytes ? (u32)(end - offset) : bytes;
      u64 touched = FULL_MASK;
      if (s.shift == 2)
        touched = (u64)((1u << (offset + to - start)) - (1u << (offset + from - start)))
                  << MASK_SHIFT;
      u64 record = (now & ~FULL_MASK) | touched;
      u32 *l = s.device ? lock(w, s.written + granule) : 0;
      if (how & HOW_WRITE)
        watch_write(w, context, &s, granule, how, lane, record, address + from,
                    how & HOW_ATOMIC || changes_value(context, address, lane, from, to, size));
      else
        watch_read(w, context, &s, granule, how, lane, record, address + from);
      if (l) unlock(l);
    }
  }
}

// -- a worker's run ---------------------------------------------------------------------------

static void flush_denormals(u32 flush) {
#if defined(__x86_64__)
  u32 state = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flush ? state | 0x8040u : state & ~0x8040u);
#elif defined(__aarch64__)
  u64 state = __builtin_aarch64_get_fpcr64(), bit = 1ull << 24;
  __builtin_aarch64_set_fpcr64(flush ? state | bit : state & ~bit);
#endif
}

// A worker begins to run threadgroups, or has run them.
void assay_watch_begin(u8 *context) {
  if (watch_of(context)->flush_denormals) flush_denormals(1);
}

void assay_watch_end(u8 *context) {
  if (watch_of(context)->flush_denormals) flush_denormals(0);
}

// -- barriers ---------------------------------------------------------------------------------

// Threadgroups of a box are run in an order that the seed permutes.
u64 assay_watch_permuted(u8 *context, u64 number) {
  struct watch *w = watch_of(context);
  return (number * w->order_factor + w->order_shift) % w->order_count;
}

// A threadgroup begins.
void assay_watch_group(u8 *context) {
  struct watch *w = watch_of(context);
  u32 *position = (u32 *)(context + CONTEXT_POSITION);
  u32 *groups = (u32 *)(context + CONTEXT_THREADGROUPS);
  w->group = w->group_base + position[0] +
             (u64)groups[0] * (position[1] + (u64)groups[1] * position[2]);
  w->run = w->run + 1 & GROUP_MASK;
  w->barriers = 0;
  w->arena_epoch = w->device_epoch = 0;
  w->arena_covered = w->device_covered = 0;
  w->arena_fenced = w->device_fenced = 0;
  for (u32 i = 0; i < LANE_COUNT; i++) {
    w->waiting[i].mask = 0;
    w->left[i].mask = 0;
    w->left[i].passed = 0;
  }
}

static void divergence(struct watch *w, u8 *context, u32 kind, struct party *here, u32 simdgroup,
                       struct party *other, u32 other_simdgroup, u32 other_site, u32 absent) {
  *(u32 *)(context + CONTEXT_SIMDGROUP) = simdgroup;
  u64 record = (u64)other_simdgroup << SIMDGROUP_SHIFT |
               (u64)(absent ? __builtin_ctz(absent) : 0) << LANE_SHIFT |
               (u64)other_site << SITE_SHIFT | (w->group & GROUP_MASK) << GROUP_SHIFT;
  report(w, context, kind, here->site, here->mask ? __builtin_ctz(here->mask) : 0, record, 0,
         w->barriers, absent);
}

// Lanes of `mask` wait at a barrier; `live` lanes began the kernel; `branch` may have parted them.
void assay_watch_wait(u8 *context, u32 site, u32 flags, u32 mask, u32 live, u32 branch) {
  struct watch *w = watch_of(context);
  struct party *p = &w->waiting[simdgroup_of(context)];
  p->site = site;
  p->flags = flags;
  p->mask = mask;
  p->live = live;
  p->branch = branch;
  assay_watch_lane_barrier(context);
}

// Lanes of `mask` are at a barrier of their simdgroup.
void assay_watch_simdgroup_wait(u8 *context, u32 site, u32 mask, u32 live, u32 branch) {
  struct watch *w = watch_of(context);
  u32 simdgroup = simdgroup_of(context);
  struct party here = {site, 0, mask, live, branch, 0};
  struct party *gone = &w->left[simdgroup];
  u32 absent = live & ~mask;
  if (!absent) return;
  u32 left = absent & gone->mask;
  divergence(w, context, left ? REPORT_LANES_LEFT : REPORT_LANES_ELSEWHERE, &here, simdgroup,
             gone, simdgroup, left ? gone->site : branch, left ? left : absent);
}

// Lanes of `mask` leave the kernel.
void assay_watch_leave(u8 *context, u32 site, u32 mask) {
  struct party *p = &watch_of(context)->left[simdgroup_of(context)];
  if (!p->mask) p->site = site;
  p->mask |= mask;
}

// A fence of the calling simdgroup that orders what other simdgroups published before it.
void assay_watch_fence(u8 *context, u32 flags) {
  struct watch *w = watch_of(context);
  if (flags & MEM_DEVICE) w->device_fenced = 1;
  if (flags & MEM_THREADGROUP) w->arena_fenced = 1;
}

static void check_lanes(struct watch *w, u8 *context, u32 simdgroup) {
  struct party *p = &w->waiting[simdgroup], *gone = &w->left[simdgroup];
  u32 absent = p->live & ~p->mask;
  if (!absent) return;
  if (absent & gone->mask)
    divergence(w, context, REPORT_LANES_LEFT, p, simdgroup, gone, simdgroup, gone->site,
               absent & gone->mask);
  else
    divergence(w, context, REPORT_LANES_ELSEWHERE, p, simdgroup, p, simdgroup, p->branch, absent);
}

static void pass_barrier(struct watch *w, u32 flags) {
  w->barriers++;
  if (w->arena_epoch < EPOCH_LIMIT) w->arena_epoch++;
  if (w->device_epoch < EPOCH_LIMIT) w->device_epoch++;
  if (flags & MEM_DEVICE) w->device_covered = w->device_epoch;
  if (!(flags & MEM_THREADGROUP)) return;
  w->arena_covered = w->arena_epoch;
  if (w->arena_epoch < EPOCH_LIMIT / 2) return;
  // Everything before is ordered: forget it, so that epochs never run out.
  w->run = w->run + 1 & GROUP_MASK;
  w->arena_epoch = w->arena_covered = 0;
}

// All simdgroups wait or have ended.
void assay_watch_round(u8 *context, u32 simdgroups) {
  struct watch *w = watch_of(context);
  u32 first = LANE_COUNT;
  for (u32 i = 0; i < simdgroups && first == LANE_COUNT; i++)
    if (w->waiting[i].mask) first = i;
  if (first == LANE_COUNT) return;
  struct party *reference = &w->waiting[first];
  u32 flags = reference->flags;
  for (u32 i = 0; i < simdgroups; i++) {
    struct party *p = &w->waiting[i];
    if (p->mask) {
      check_lanes(w, context, i);
      if (p->site != reference->site)
        divergence(w, context, REPORT_OTHER_BARRIER, p, i, reference, first, reference->site, 0);
      flags &= p->flags;
    } else {
      struct party *gone = &w->left[i];
      divergence(w, context, REPORT_SIMDGROUP_LEFT, reference, first, gone, i,
                 reference->branch ? reference->branch : gone->site, gone->mask);
    }
  }
  for (u32 i = 0; i < simdgroups; i++) w->waiting[i].mask = 0;
  pass_barrier(w, flags);
}

// -- other observations -----------------------------------------------------------------------

// Lanes of `mask` saw something; `details` has a number for each lane.
void assay_watch_event(u8 *context, u32 kind, u32 site, u32 mask) {
  struct watch *w = watch_of(context);
  u32 *details = (u32 *)(*(u8 **)(context + CONTEXT_SCRATCH) + SCRATCH_VALUES);
  u32 lane = (u32)__builtin_ctz(mask);
  u64 other = (u64)(details[lane] & 1023) << SITE_SHIFT | (u64)lane << LANE_SHIFT |
              (u64)simdgroup_of(context) << SIMDGROUP_SHIFT |
              (w->group & GROUP_MASK) << GROUP_SHIFT;
  report(w, context, kind, site, lane, other, 0, w->barriers, mask);
}

// Lanes of `mask` are about to access the addresses in the scratch memory: reports those that are
// no multiples of `need`, and writes to what may only be read.
void assay_watch_place(u8 *context, u32 how, u32 site, u32 mask, u64 need) {
  struct watch *w = watch_of(context);
  u64 *addresses = *(u64 **)(context + CONTEXT_SCRATCH);
  u8 *read_only = *(u8 **)(context + CONTEXT_READ_ONLY);
  for (; mask; mask &= mask - 1) {
    u32 lane = (u32)__builtin_ctz(mask);
    u64 address = addresses[lane];
    if (address & (need - 1))
      report(w, context, REPORT_MISALIGNED, site, lane, 0, address, 0, (u32)need);
    if (how & HOW_WRITE && (how & HOW_CONSTANT || read_only[address >> HANDLE_SHIFT]))
      report(w, context, REPORT_READ_ONLY_WRITE, site, lane, 0, address, 0, how);
  }
}
