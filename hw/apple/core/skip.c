/* Iterations that are counted as those that were watched, and not executed. */

#pragma once
#include "rounds.c"

enum { TRUST = 12 /* times as many instructions are counted as were watched */ };

/* How often what was learned can come again, in 1 / TICKS: until the first threadgroup has done its
 * iterations, memory holds back all that it can, or it has come too often to be trusted. */
static i64 repetitions(const struct core *core) {
    struct job *job = core->job;
    const struct learned *learned = &core->learned;
    i64 least = TRUST * TICKS - learned->skipped * TICKS / learned->issued;
    for (i64 k = 0; k < job->resident; k++) {
        struct group *group = group_of(job, k);
        i64 pace = learned->pace[group->rank];
        if (group->used && pace) least = LEAST(least, group->left * TICKS * TICKS / pace);
    }
    i64 room = job->write_room - core->unwritten;
    return learned->unwritten > 0 ? LEAST(least, room * TICKS / learned->unwritten) : least;
}

/* Whether bytes by level are to those learned as instructions issued are. */
static int as_learned(const struct core *core, const i64 *bytes, i64 issued) {
    const struct job *job = core->job;
    const i64 *learned = job->counters_learned + (job->bytes - job->counters);
    for (int level = AT_L2; level <= AT_DRAM; level++) {
        i64 due = learned[level] * issued / core->learned.issued;
        if (APART(due, bytes[level]) > due / 5 + 16 * LINE) return 0;
    }
    return 1;
}

/* Take all threadgroups through iterations at their pace, as far as caches go along. The
 * instructions that they would issue. */
static i64 iterate_all(struct core *core, i64 times) {
    struct job *job = core->job;
    i64 issued = 0, steps = 0, bytes[AT_DRAM + 1] = {0};
    for (i64 k = 0; k < job->resident; k++) {
        struct group *group = group_of(job, k);
        if (!group->used) continue;
        i64 all = (core->learned.pace[group->rank] * times / TICKS + TICKS / 2) / TICKS;
        group->left = LEAST(group->left, all);
        steps = MOST(steps, group->left);
    }
    for (i64 step = 0; step < steps; step++) {
        if (!as_learned(core, bytes, issued)) {
            core->learned.loops = 0;
            break;
        }
        for (i64 k = 0; k < slots_of(job); k++) {
            if (!is_resident(job, k)) continue;
            i64 left = group_of(job, k / job->per_group)->left;
            if ((step + 1) * left / steps == step * left / steps) continue;
            iterate(core, simdgroup_of(job, k), bytes);
            issued += simdgroup_of(job, k)->iteration;
        }
    }
    return issued;
}

/* All times of the core that lie ahead, later by `by`. */
static void shift(struct core *core, i64 by) {
    struct job *job = core->job;
    for (int k = 0; k < PARTITIONS; k++) {
        struct partition *p = core->partitions + k;
        p->issue_free += by;
        if (p->count) p->accounted += by; /* who is idle says so when there is work again */
        for (i32 i = 0; i < p->count; i++)
            if (time_of(p->keys[i]) < NEVER) p->keys[i] += key_of(by, 0);
        for (i64 kind = 0; kind < job->class_count; kind++) {
            p->free_of[kind] += by;
            p->free_keys[kind] += key_of(by, 0);
        }
    }
    for (i64 kind = 0; kind < job->class_count; kind++) core->gate_keys[kind] += key_of(by, 0);
    for (int k = 0; k < QUEUES; k++) core->free[k] += by;
    for (int k = 0; k < 2; k++) core->gate[k] += by;
    for (i32 k = 0; k < core->arriving; k++) core->arrivals[k].at += by;
    for (i64 k = 0; k < job->outstanding; k++) job->ring[k] += by;
    core->launch_free += by;
    core->dirty = (1u << PARTITIONS) - 1;
}

static void shift_simdgroups(struct core *core, i64 by) {
    struct job *job = core->job;
    for (i64 k = 0; k < job->resident; k++) group_of(job, k)->arrival += by;
    for (i64 k = 0; k < slots_of(job); k++) {
        if (!is_resident(job, k)) continue;
        struct simdgroup *s = simdgroup_of(job, k);
        s->next += by;
        if (s->ready != NEVER) s->ready += by;
        s->copied += s->copied ? by : 0;
        s->fetched += s->fetched ? by : 0;
        struct register_state *own = registers_of(job, (i32)k);
        for (i64 r = 0; r < job->register_count; r++) own[r].ready += by;
        note_accesses(job, s, (i32)k);
    }
}

/* Note the issue of many instructions at equal distances. */
static void mark_all(struct core *core, i64 from, i64 to, i64 count) {
    for (i64 done = 0; done < count;) {
        i64 more = LEAST(count - done, core->job->mark_step - core->unmarked);
        done += more;
        core->unmarked += more;
        if (core->unmarked == core->job->mark_step) mark(core, from + (to - from) * done / count);
    }
}

/* Account for `by` ticks of all partitions that are at work, by the causes and places learned; what
 * rounding leaves goes to the place and cause that took most. */
static void count_causes(struct core *core, i64 by) {
    struct job *job = core->job;
    const i64 *learned = job->counters_learned, *of_sites = learned + (job->site_cycles - job->cycles);
    i64 due = 0, had = 0, most = 0, cells = job->pipe_cycles - job->site_cycles;
    i64 elsewhere[CAUSES];
    for (int k = 0; k < PARTITIONS; k++) due += core->partitions[k].count ? by : 0;
    for (int cause = 0; cause < CAUSES; cause++) had += elsewhere[cause] = learned[cause];
    double share = (double)due / (double)MOST(1, had);
    for (i64 cell = 0; cell < cells; cell++) {
        i64 time = (i64)((double)of_sites[cell] * share);
        elsewhere[cell % CAUSES] -= of_sites[cell];
        job->site_cycles[cell] += time;
        job->cycles[cell % CAUSES] += time;
        due -= time;
        if (of_sites[cell] > of_sites[most]) most = cell;
    }
    for (int cause = 0; cause < CAUSES; cause++) {
        i64 time = (i64)((double)elsewhere[cause] * share);
        job->cycles[cause] += time;
        due -= time;
    }
    job->site_cycles[most] += due;
    job->cycles[most % CAUSES] += due;
}

/* Count iterations as they were learned instead of executing them. Whether that is worth it. */
static int skip(struct core *core, i64 now) {
    struct job *job = core->job;
    struct learned *learned = &core->learned;
    i64 times = repetitions(core);
    if (times < TICKS / 2) return 0;
    i64 issued = iterate_all(core, times);
    i64 by = learned->time * issued / learned->issued;
    count_causes(core, by);
    for (i64 k = job->pipe_cycles - job->counters; k < job->counter_count; k++)
        job->counters[k] += job->counters_learned[k] * issued / learned->issued;
    core->unwritten += learned->unwritten * issued / learned->issued;
    mark_all(core, now, now + by, issued);
    shift(core, by);
    shift_simdgroups(core, by);
    learned->skipped += issued;
    job->skipped += issued;
    return 1;
}
