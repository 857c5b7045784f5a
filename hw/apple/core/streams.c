/* Walking the taped streams: which block comes next, what its accesses touch. */

#pragma once
#include "memory.c"

#define TYPE(head) ((head) & TYPE_MASK)
#define NUMBER(head) ((i32)((head) >> NUMBER_SHIFT & NUMBER_MASK))

static i32 lanes_of(u64 head) { return __builtin_popcount((u32)(head >> LANES_SHIFT)); }

/* The word that describes an access. */
static void describe(u64 about, struct access *access) {
    access->lines = (i32)(about >> LINES_SHIFT & FIELD_MASK);
    access->words = (i32)(about >> WORDS_SHIFT & FIELD_MASK);
    access->ways = (i32)(about >> WAYS_SHIFT & FIELD_MASK);
    access->sharing = (i32)(about >> SHARING_SHIFT & FIELD_MASK);
    access->cached = (about & CACHED) != 0;
    access->consecutive = (about & CONSECUTIVE) != 0;
}

/* The words of the access event at `at`, header included. */
static i64 read_access(const struct job *job, i64 at, struct access *access) {
    describe(job->words[at + 1], access);
    access->numbers = job->words + at + 2;
    return 2 + (access->cached ? (access->consecutive ? 1 : access->lines) : 0);
}

static struct group *group_of(const struct job *job, i64 number) {
    return (struct group *)job->groups + number;
}

static struct simdgroup *simdgroup_of(const struct job *job, i64 slot) {
    return (struct simdgroup *)job->simdgroups + slot;
}

static struct register_state *registers_of(const struct job *job, i32 slot) {
    return (struct register_state *)job->registers + (i64)slot * (job->register_count + 1);
}

static i64 *accesses_of(const struct job *job, i32 slot) {
    return job->access_at + (i64)slot * job->access_limit;
}

/* Results that a block's phis take on entry. A lane may come from elsewhere than the simdgroup's
 * last block; then any of them may be meant, and the latest counts. */
static void enter_phis(const struct job *job, struct simdgroup *s, i32 slot) {
    struct register_state *all = registers_of(job, slot);
    struct register_state taken[64];
    i32 first = job->move_starts[s->block], last = job->move_starts[s->block + 1];
    int known = 0;
    for (i32 m = first; m < last && !known; m++) known = job->moves[m * 3] == s->previous;
    for (i32 base = first; base < last; base += 64) {
        i32 count = LEAST(64, last - base);
        for (i32 m = 0; m < count; m++) {
            i32 source = job->moves[(base + m) * 3 + 2];
            taken[m] = source < 0 ? (struct register_state){0, 0, 0} : all[source];
        }
        for (i32 m = 0; m < count; m++) {
            const i32 *move = job->moves + (base + m) * 3;
            if (known ? move[0] == s->previous : taken[m].ready > all[move[1]].ready)
                all[move[1]] = taken[m];
        }
    }
}

/* Read where the accesses of the simdgroup's block are described, and go behind them. */
static void note_accesses(const struct job *job, struct simdgroup *s, i32 slot) {
    i64 *table = accesses_of(job, slot);
    i32 count = (i32)(job->access_starts[s->block + 1] - job->access_starts[s->block]);
    for (i32 i = 0; i < count; i++) table[i] = -1;
    for (s->at = s->block_at + 1; s->at < s->end && TYPE(job->words[s->at]) == ACCESS_EVENT;) {
        i32 ordinal = NUMBER(job->words[s->at]);
        if (ordinal < count) table[ordinal] = s->at;
        struct access access;
        s->at += read_access(job, s->at, &access);
    }
}

/* Go to the next block; 0 at the stream's end. */
static int enter_block(const struct job *job, struct simdgroup *s, i32 slot) {
    if (s->at >= s->end) return 0;
    u64 head = job->words[s->at];
    s->previous = s->block;
    s->block = NUMBER(head);
    s->block_at = s->at;
    s->entered++;
    s->lanes = lanes_of(head);
    s->pc = job->starts[s->block];
    s->pc_end = job->starts[s->block + 1];
    note_accesses(job, s, slot);
    enter_phis(job, s, slot);
    return 1;
}

/* The access of an instruction; one line and word if the tape has none for it. */
static struct access access_of(const struct job *job, const struct simdgroup *s, i32 slot, i32 pc) {
    static const u64 nowhere = 0;
    struct access access = {.lines = 1, .words = 1, .ways = 1, .sharing = 1, .consecutive = 1,
                            .cached = 1, .lanes = s->lanes, .numbers = &nowhere};
    i32 ordinal = job->ops[pc].access;
    if (ordinal < 0) { /* a part of an access that another instruction has */
        access.lines = access.words = 0;
        return access;
    }
    access.site = (i32)(job->access_starts[s->block] + ordinal);
    i64 at = accesses_of(job, slot)[ordinal];
    if (at >= 0) read_access(job, at, &access);
    else if (job->known[access.site]) describe(job->known[access.site], &access);
    if (!access.cached) access.numbers = &nowhere;
    return access;
}

/* Write the distinct lines of one stream after those that `lines` has, each with the access that
 * touches it first and the words of it that this access touches on average. `buckets` of `mask` + 1 numbers, -1 for none, finds them again. */
i64 collect(struct job *job, i64 stream, i64 *sites, u64 *lines, u8 *words, i64 count, i64 limit,
            i32 *buckets, i64 mask) {
    i32 block = 0;
    for (i64 at = job->stream_starts[stream]; at < job->stream_starts[stream + 1];) {
        u64 head = job->words[at];
        if (TYPE(head) != ACCESS_EVENT) {
            block = NUMBER(head);
            at++;
            continue;
        }
        struct access access;
        i64 length = read_access(job, at, &access);
        for (i32 k = 0; access.cached && k < access.lines; k++) {
            u64 number = line_of(&access, k);
            if (is_private(number)) continue;
            i64 slot = (i64)(mixed(number) & (u64)mask);
            while (buckets[slot] >= 0 && lines[buckets[slot]] != number) slot = (slot + 1) & mask;
            if (buckets[slot] >= 0) continue;
            if (count == limit) return count;
            buckets[slot] = (i32)count;
            lines[count] = number;
            words[count] = (u8)LEAST(MOST(1, access.words / access.lines), LINE / 4);
            sites[count++] = job->access_starts[block] + NUMBER(head);
        }
        at += length;
    }
    return count;
}

/* The lines that the accesses of all streams name, repetitions included. */
i64 count_lines(struct job *job, i64 first, i64 last) {
    i64 count = 0;
    for (i64 at = job->stream_starts[first]; at < job->stream_starts[last];) {
        if (TYPE(job->words[at]) != ACCESS_EVENT) {
            at++;
            continue;
        }
        struct access access;
        i64 length = read_access(job, at, &access);
        if (access.cached) count += access.lines;
        at += length;
    }
    return count;
}

/* The instructions that the streams from `first` to before `last` issue. */
i64 count_issued(struct job *job, i64 first, i64 last) {
    i64 count = 0;
    for (i64 at = job->stream_starts[first]; at < job->stream_starts[last];) {
        u64 head = job->words[at];
        struct access access;
        if (TYPE(head) == ACCESS_EVENT) {
            at += read_access(job, at, &access);
            continue;
        }
        count += job->block_issued[NUMBER(head)];
        at++;
    }
    return count;
}
