/* How long accesses to memory take, and the queues that they stand in. */

#pragma once
#include "caches.c"

/* One access as the tape describes it. */
struct access {
    i32 lines, words, ways, sharing, lanes;
    u8 consecutive, cached;
    const u64 *numbers;
    i32 site;
};

struct answer {
    i64 ready;
    u8 cause;
    i64 taken; /* when the last queue takes it up */
};

static u64 line_of(const struct access *access, i32 i) {
    return access->consecutive ? access->numbers[0] + i : access->numbers[i];
}

/* Whether a load needs one sector of each line only. */
static int takes_part(const struct job *job, const struct access *access) {
    return access->words * 4 <= access->lines * job->sector;
}

/* Bytes of each line that a store writes. */
static i64 bytes_of_line(const struct access *access) {
    return access->lines ? MOST(1, (i64)access->words * 4 / access->lines) : 0;
}

/* Note for the timeline that a gate that was closed until some time stays so for longer. */
static void note_closure(struct core *core, int which, i64 until, u8 cause) {
    i64 begin = MOST(core->now, core->gate[which]);
    if (until <= begin) return;
    i64 count = core->closure_count[which];
    struct closure *last = core->closures[which] + (count - 1) % CLOSURES;
    if (count && last->end == begin && last->cause == cause) {
        last->end = until;
        return;
    }
    core->closures[which][count % CLOSURES] = (struct closure){begin, until, cause};
    core->closure_count[which]++;
}

static void gate(struct core *core, int which, i64 until, u8 cause) {
    if (until > core->gate[which]) {
        if (core->job->slice_limit) note_closure(core, which, until, cause);
        core->gate[which] = until;
        core->gate_cause[which] = cause;
    }
}

/* A core waits for a limited number of lines: remember when this one comes, and let memory
 * instructions wait for the one that many lines ago. */
static void remember(struct core *core, i64 ready, u8 cause) {
    struct job *job = core->job;
    i64 *slot = job->ring + core->ring_at;
    gate(core, 0, *slot, cause);
    *slot = ready;
    core->ring_at = core->ring_at + 1 == job->outstanding ? 0 : core->ring_at + 1;
}

/* A queue that serves one request after the other: when this one is served. */
static i64 served(struct core *core, int queue, i64 at, i64 time) {
    i64 start = MOST(core->free[queue], at);
    core->free[queue] = start + time;
    core->job->busy[queue] += time;
    return start;
}

/* DRAM reads first: what is written waits in the caches until there is nothing to read, or until
 * they are full of it. When a request is taken up. */
static i64 dram(struct core *core, i64 at, i64 time, int write) {
    struct job *job = core->job;
    i64 *free = &core->free[DRAM_PORT];
    i64 drained = LEAST(core->unwritten, MOST(0, at - *free));
    core->unwritten -= drained;
    *free += drained;
    if (!write) return served(core, DRAM_PORT, at, time);
    core->unwritten += time;
    job->busy[DRAM_PORT] += time;
    i64 over = core->unwritten - job->write_room;
    if (over <= 0) return at;
    core->unwritten -= over;
    *free = MOST(*free, at) + over;
    return *free;
}

/* Note for the timeline that `bytes` are on their way from `at` to `ready`. */
static void fly(struct job *job, i64 at, i64 ready, i64 bytes) {
    if (job->flight_count >= job->slice_limit) return;
    i64 *flight = job->flights + 3 * job->flight_count++;
    flight[0] = at;
    flight[1] = ready;
    flight[2] = bytes;
}

/* Take `bytes` through the levels down to the one that has them; when they arrive. */
static struct answer fetch(struct core *core, i64 at, int from, i64 bytes, int write) {
    struct job *job = core->job;
    i64 start = served(core, L2_PORT, at, bytes * job->l2_line / LINE);
    job->bytes[AT_L2] += bytes;
    i64 ready = start + job->l2_latency;
    if (from >= SLC) {
        start = served(core, SLC_PORT, start, bytes * job->slc_line / LINE);
        job->bytes[AT_SLC] += bytes;
        ready = start + job->slc_latency;
    }
    if (from == DRAM) {
        start = dram(core, start, bytes * (write ? job->write_line : job->dram_line) / LINE, write);
        job->bytes[AT_DRAM] += bytes;
        ready = start + job->dram_latency;
    }
    if (!write) fly(job, at, ready, bytes);
    return (struct answer){ready, from, start};
}

/* The first level's port: when the access has been through it. Lanes that name different words
 * take a word's time each, however little of it they want. */
static i64 through_l1(struct core *core, i64 at, const struct access *access, i64 least) {
    struct job *job = core->job;
    i64 words = access->words > 1 ? MOST(access->words, access->lanes) : access->words;
    i64 time = MOST(words * 4 * job->l1_full_line / LINE, access->lines * job->l1_line);
    job->bytes[AT_L1] += (i64)access->words * 4;
    if (access->lines) time = MOST(time, MOST(job->l1_access, least));
    i64 start = served(core, L1_PORT, at, time);
    gate(core, 0, core->free[L1_PORT] - job->queue, L1);
    return start;
}

static struct answer load(struct core *core, i64 at, const struct access *access, i64 least) {
    struct job *job = core->job;
    i64 start = through_l1(core, at, access, least);
    struct answer last = {start + job->l1_latency, L1};
    int part = takes_part(job, access);
    for (i32 k = 0; k < access->lines; k++) {
        i32 i = find_line(core, line_of(access, k), access->site);
        struct line *line = job->lines + i;
        i64 here = start + k * job->l1_line;
        struct supply need = for_load(core, i, part);
        if (need.bytes) {
            struct answer got = fetch(core, here, need.from, need.bytes, 0);
            line->ready = got.ready;
            if (need.whole) {
                line->cause = got.cause;
                remember(core, got.ready, got.cause);
            }
        }
        struct answer got = {here + job->l1_latency, L1};
        if (line->ready > got.ready) got = (struct answer){line->ready, line->cause};
        if (got.ready > last.ready) last = got;
    }
    return last;
}

/* Nobody waits for stores but the queues. */
static void store(struct core *core, i64 at, const struct access *access, i64 least) {
    i64 start = through_l1(core, at, access, least);
    for (i32 k = 0; k < access->lines; k++) {
        i32 i = find_line(core, line_of(access, k), access->site);
        struct supply need = for_store(core, i, bytes_of_line(access));
        struct answer got = fetch(core, start, need.from, need.bytes, 1);
        remember(core, got.taken, got.cause);
    }
}

/* Atomics happen in L2, one lane after the other for one address; slices of L2 work side by side
 * on different lines, for all cores. */
static struct answer atomic(struct core *core, i64 at, const struct access *access) {
    struct job *job = core->job;
    i64 start = through_l1(core, at, access, 0);
    i64 words = access->lines ? access->words / access->lines : 0;
    i64 again = MOST(access->sharing, 1) - 1; /* lanes that find their address taken */
    i64 each = again * job->atomic_serial + job->atomic_line + words * job->atomic_word;
    i64 late = start;
    for (i32 k = 0; k < access->lines; k++) {
        i32 i = find_line(core, line_of(access, k), access->site);
        struct supply need = for_atomic(core, i, words * 4);
        struct answer got = fetch(core, start, need.from, need.bytes, 0);
        late = MOST(late, got.ready - job->l2_latency);
    }
    i64 used = LEAST(core->atomic_lines, job->footprint);
    i64 slices = used / LINE * TICKS * TICKS / MOST(1, job->atomic_slice_lines);
    slices = LEAST(MOST(slices, TICKS), job->atomic_slices * TICKS);
    i64 time = each * access->lines * job->active_cores * TICKS / slices;
    i64 done = served(core, ATOMIC_PORT, start, time) + time;
    gate(core, 0, core->free[ATOMIC_PORT] - job->queue, ATOMIC);
    return (struct answer){MOST(done, late) + job->atomic_latency, ATOMIC};
}
