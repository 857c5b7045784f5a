/* Rounds of the loops that simdgroups are in, each of as many instructions as one iteration of all
 * has: how long they take, and what they do. */

#pragma once
#include "loops.c"

enum {
    FIRST = 8192, /* instructions that are executed in any case */
    PAUSE = 128   /* instructions between looks for loops */
};

static i64 slots_of(const struct job *job) { return job->resident * job->per_group; }

static int is_resident(const struct job *job, i64 slot) {
    return group_of(job, slot / job->per_group)->used && simdgroup_of(job, slot)->partition >= 0;
}

/* Look for loops anew after so many instructions. */
static void pause(struct core *core, i64 count) {
    i64 due = MOST(core->issued + count, FIRST);
    core->watch = (struct watch){.due = due, .pause = count, .rounds = -2};
}

static void watch_again(struct core *core) { pause(core, PAUSE); }

/* Number the resident threadgroups by age, if others are resident than before. */
static void rank_groups(struct core *core) {
    struct job *job = core->job;
    i32 changes = core->launched + core->finished;
    if (core->ranked == changes) return;
    core->ranked = changes;
    for (i64 k = 0; k < job->resident; k++) {
        struct group *group = group_of(job, k);
        group->rank = 0;
        for (i64 other = 0; other < job->resident; other++)
            group->rank += group_of(job, other)->used
                && group_of(job, other)->taped < group->taped;
    }
}

/* Whether all simdgroups are in loops. Notes the iterations of each threadgroup that remain, the
 * instructions of an iteration of all, and a number that tells which loops they are. */
static int find_loops(struct core *core) {
    struct job *job = core->job;
    struct watch *watch = &core->watch;
    rank_groups(core);
    watch->length = 0;
    watch->loops = 0;
    for (i64 k = job->resident - 1; k >= 0; k--) {
        struct group *group = group_of(job, k);
        if (!group->used) continue;
        group->left = NEVER;
        for (i64 i = k * job->per_group; i < (k + 1) * job->per_group; i++) {
            struct simdgroup *s = simdgroup_of(job, i);
            if (!is_resident(job, i)) continue;
            group->left = LEAST(group->left, iterations_left(job, s));
            if (!group->left) return 0;
            watch->length += s->iteration;
            watch->loops += mixed((u64)s->loop << 40 | s->period << 24 | group->rank << 8 | s->number);
        }
    }
    return watch->length > 0;
}

/* The first round begins. */
static void begin(struct core *core, i64 now) {
    struct job *job = core->job;
    struct watch *watch = &core->watch;
    for (i64 k = 0; k < job->counter_count; k++) job->counters_before[k] = job->counters[k];
    for (i64 k = 0; k < slots_of(job); k++)
        simdgroup_of(job, k)->entered_before = simdgroup_of(job, k)->entered;
    for (int k = 0; k < QUEUES; k++) watch->backlog_before[k] = core->free[k] - now;
    watch->unwritten_before = core->unwritten;
    watch->issued_before = core->issued;
    watch->times[0] = now;
    watch->rounds = 0;
    watch->due = core->issued + watch->length;
}

/* Whether the second half of the rounds took as long as the first: of two to 0.8 %, of sixteen to
 * 6 %, since what more rounds do on average is known better than what the next one does. */
static int is_even(const struct watch *watch) {
    i32 half = watch->rounds / 2;
    i64 first = watch->times[half] - watch->times[0];
    i64 second = watch->times[watch->rounds] - watch->times[half];
    return APART(first, second) * (500 / watch->rounds) <= first + second;
}

/* Whether no queue grows that nobody waits for, as that of copies may. */
static int queues_hold(const struct core *core, i64 now) {
    const struct watch *watch = &core->watch;
    for (int k = 0; k < QUEUES; k++) {
        i64 growth = core->free[k] - now - MOST(0, watch->backlog_before[k]);
        if (growth > (now - watch->times[0]) / 32 + TICKS) return 0;
    }
    return 1;
}

/* Add what all rounds together did to what is known of the same loops. */
static void learn(struct core *core, i64 now) {
    struct job *job = core->job;
    const struct watch *watch = &core->watch;
    struct learned *learned = &core->learned;
    if (learned->loops != watch->loops) {
        *learned = (struct learned){.loops = watch->loops};
        for (i64 k = 0; k < job->counter_count; k++) job->counters_learned[k] = 0;
    }
    for (i64 k = 0; k < job->counter_count; k++)
        job->counters_learned[k] += job->counters[k] - job->counters_before[k];
    learned->time += now - watch->times[0];
    learned->issued += core->issued - watch->issued_before;
    learned->unwritten += core->unwritten - watch->unwritten_before;
    for (i64 k = 0; k < job->resident; k++) {
        struct group *group = group_of(job, k);
        i64 came = 0;
        if (!group->used) continue;
        for (i64 i = k * job->per_group; i < (k + 1) * job->per_group; i++) {
            struct simdgroup *s = simdgroup_of(job, i);
            if (is_resident(job, i)) came += (s->entered - s->entered_before) * TICKS / s->period;
        }
        learned->pace[group->rank] += came / MOST(1, group->alive);
    }
}
