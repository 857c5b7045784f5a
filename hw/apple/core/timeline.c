/* The timeline: what simdgroups do, slice by slice, and what the time of partitions goes into. */

#pragma once
#include "threadgroup.c"

enum { WINDOW = 4 /* times as long as a slice of a simdgroup is one in which a partition does several
                     things */ };

static void write_slice(struct job *job, struct slice slice) {
    if (slice.end > slice.begin && job->slice_count < job->slice_limit)
        ((struct slice *)job->slices)[job->slice_count++] = slice;
}

/* Make short waits, which are part of the slice before them, a slice of their own when they are as
 * long together as one must be. Whether this one is still too short. */
static int is_owed(struct core *core, struct simdgroup *s, i64 until, int cause) {
    i64 grain = core->job->grain, *owed = s->owed + cause;
    if (cause == ISSUE || until - s->last >= grain || s->last == s->begin) return 0;
    if (cause == s->stretch_cause) return 1;
    *owed += until - s->last;
    if (*owed < grain) return 1;
    s->last = MOST(LEAST(s->last, s->stretch + TICKS), until - *owed);
    *owed = MOST(0, *owed - (until - s->last));
    return 0;
}

/* Write the slice that a simdgroup is in, up to now. */
static void close_slice(struct core *core, const struct simdgroup *s) {
    write_slice(core->job,
                (struct slice){s->stretch, s->last, s->partition, s->group, s->number,
                               s->stretch_cause, s->stretch_place,
                               s->stretch_cause == BARRIER ? s->awaited : -1, s->stretch_met});
}

/* A simdgroup spends its time until then for one cause and place: that ends its slice, unless they
 * are the same as before. */
static void stretch(struct core *core, struct simdgroup *s, i64 until, int cause, i32 place) {
    if (until <= s->last) return;
    int met = s->met != s->stretch_met; /* whatever is short, barriers part slices */
    int same = cause == s->stretch_cause && place == s->stretch_place;
    if (met || (!is_owed(core, s, until, cause) && !same)) {
        close_slice(core, s);
        s->stretch = s->last;
        s->stretch_cause = (u8)cause;
        s->stretch_place = place;
        s->stretch_met = s->met;
    }
    s->last = until;
}

/* Draw for what a simdgroup waits that has all it needs but a place in a queue: first all that keeps
 * the gate closed, one cause after the other; what is left until `at` is the turn of others. */
static void draw_gate(struct core *core, struct simdgroup *s, int which, i64 at, i32 place) {
    i64 times[CAUSES] = {0}, from = MOST(s->ready, s->last), count = core->closure_count[which];
    u8 order[CAUSES];
    int found = 0;
    for (i64 k = count - 1; k >= MOST(0, count - CLOSURES); k--) {
        const struct closure *one = core->closures[which] + k % CLOSURES;
        i64 time = LEAST(one->end, at) - MOST(one->begin, from);
        if (one->end <= from) break;
        if (time <= 0) continue;
        if (!times[one->cause]) order[found++] = one->cause;
        times[one->cause] += time;
    }
    while (found--) {
        from += times[order[found]];
        stretch(core, s, from, order[found], place);
    }
}

/* Write what a partition's time went into since the last slices, a slice for each cause. */
static void write_gathered(struct core *core, struct partition *p) {
    i32 number = (i32)(p - core->partitions);
    for (i32 k = 0; k < p->mixed; k++) {
        i64 *time = p->gathered + p->order[k];
        write_slice(core->job, (struct slice){p->drawn, p->drawn + *time, number, -1, -1,
                                              p->order[k], -1, -1, 0});
        p->drawn += *time;
        *time = 0;
    }
    p->mixed = 0;
}

/* A partition spends time. Short times are gathered by cause: the sums are those of `cycles`. */
static void gather(struct core *core, struct partition *p, i64 time, int cause) {
    i64 least = core->job->grain * WINDOW;
    int alone = p->mixed == 1 && p->order[0] == cause;
    if (!alone && (time >= least || p->accounted - p->drawn >= least)) write_gathered(core, p);
    if (!p->gathered[cause]) p->order[p->mixed++] = (u8)cause;
    p->gathered[cause] += time;
}
