/* Loops in the taped streams: which one a simdgroup is in, and going through it without
 * executing anything. */

#pragma once
#include "copies.c"

enum { PERIOD = 256 /* blocks of an iteration, at most */ };

/* Move past a block's events. */
static void pass_block(const struct job *job, i64 *at, i64 end) {
    ++*at;
    struct access access;
    while (*at < end && TYPE(job->words[*at]) == ACCESS_EVENT)
        *at += read_access(job, *at, &access);
}

/* Whether blocks at two places of a stream have the same number, lanes and noted accesses; moves
 * both places past them. */
static int alike(const struct job *job, i64 *one, i64 *other, i64 end) {
    if (*other >= end || job->words[*one] != job->words[*other]) return 0;
    ++*one;
    ++*other;
    for (;;) {
        int first = TYPE(job->words[*one]) == ACCESS_EVENT;
        int second = *other < end && TYPE(job->words[*other]) == ACCESS_EVENT;
        if (!first && !second) return 1;
        if (first != second || job->words[*one] != job->words[*other]) return 0;
        struct access access;
        *one += read_access(job, *one, &access);
        *other += read_access(job, *other, &access);
    }
}

/* Find the loop that a simdgroup stays in longest: blocks of an iteration, 0 if there is none. */
static void find_period(const struct job *job, struct simdgroup *s) {
    i64 most = 0, covered = 0, at = s->block_at;
    s->period = 0;
    for (i32 period = 1; period <= PERIOD; period++) {
        pass_block(job, &at, s->end);
        if (at >= s->end) break;
        /* What repeats for so long repeats in no other period up to here. */
        if (period <= covered || job->words[at] != job->words[s->block_at]) continue;
        i64 one = s->block_at, other = at, count = 0;
        while (alike(job, &one, &other, s->end)) count++;
        if (count < period || count + period <= most) continue;
        most = count + period;
        covered = count;
        s->period = period;
        s->loop_end = s->entered + count;
    }
}

/* Instructions that a simdgroup issues in an iteration, and the loop's first block. */
static void measure_iteration(const struct job *job, struct simdgroup *s) {
    i64 at = s->block_at;
    s->iteration = 0;
    s->loop = NUMBER(job->words[at]);
    for (i32 k = 0; k < s->period; k++) {
        i32 block = NUMBER(job->words[at]);
        s->iteration += job->block_issued[block];
        s->loop = LEAST(s->loop, block);
        pass_block(job, &at, s->end);
    }
}

/* Iterations that remain of the loop that a simdgroup is in; 0 if it is in none. */
static i64 iterations_left(const struct job *job, struct simdgroup *s) {
    if (!s->period || s->entered + s->period > s->loop_end) {
        find_period(job, s);
        if (!s->period) return 0;
        measure_iteration(job, s);
    }
    return (s->loop_end - s->entered) / s->period;
}

/* Bytes of a level pass those above it. */
static void pass_levels(i64 *bytes, struct supply need) {
    if (!need.bytes) return;
    for (int level = L2; level <= need.from; level++) bytes[AT_L2 + level - L2] += need.bytes;
}

/* What an access does to the caches; the bytes that come from below L1 are added to `bytes`. */
static void touch(struct core *core, const struct access *access, i64 *bytes) {
    struct job *job = core->job;
    int part = takes_part(job, access), does = job->site_does[access->site];
    for (i32 k = 0; k < access->lines; k++) {
        i32 i = find_line(core, line_of(access, k), access->site);
        if (does == CACHED_STORE || does == COPY_TO_CACHED) {
            pass_levels(bytes, for_store(core, i, bytes_of_line(access)));
        } else if (does == CACHED_ATOMIC) {
            pass_levels(bytes, for_atomic(core, i, access->words / access->lines * 4));
        } else {
            struct supply need = for_load(core, i, part);
            if (need.whole) job->lines[i].ready = 0;
            pass_levels(bytes, need);
        }
    }
}

/* Accesses of its block that a simdgroup has behind it, which happen in order. */
static i32 accesses_behind(const struct job *job, const struct simdgroup *s) {
    i32 behind = 0;
    for (i32 pc = job->starts[s->block]; pc < s->pc; pc++)
        behind = MOST(behind, job->ops[pc].access + 1);
    return behind;
}

/* Take a simdgroup to the same place in the next iteration. */
static void iterate(struct core *core, struct simdgroup *s, i64 *bytes) {
    struct job *job = core->job;
    i32 behind = accesses_behind(job, s);
    i64 at = s->block_at;
    for (i32 k = 0; k <= s->period; k++) {
        u64 head = job->words[at];
        i32 block = NUMBER(head);
        if (k == s->period) s->block_at = at;
        else job->flops += job->block_flops[block] * lanes_of(head);
        for (at++; at < s->end && TYPE(job->words[at]) == ACCESS_EVENT;) {
            i32 ordinal = NUMBER(job->words[at]);
            struct access access = {.site = (i32)(job->access_starts[block] + ordinal)};
            at += read_access(job, at, &access);
            int happens = k == 0 ? ordinal >= behind : k < s->period || ordinal < behind;
            if (access.cached && happens) touch(core, &access, bytes);
        }
    }
    s->at = at;
    s->entered += s->period;
    job->group_instructions[s->group] += s->iteration;
}
