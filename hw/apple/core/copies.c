/* Asynchronous copies: an engine beside the partitions moves bytes through the ports of L1 and of
 * threadgroup memory. It takes no issue cycles, and only what asks for it waits for it. */

#pragma once
#include "issue.c"

static int is_copied(const struct job *job, int kind) {
    return job->class_does[kind] > WAIT_COPIES;
}

/* Ask for the bytes of one access. Those that go to threadgroup memory take its port when they
 * come; the engine fills its rows. */
static struct answer move(struct core *core, struct simdgroup *s, int does, i64 at,
                          const struct access *access) {
    struct job *job = core->job;
    i64 time = job->threadgroup_interval * access->words / LANES;
    i64 here = MOST(at, core->gate[0]);
    switch (does) {
    case COPY_FROM_CACHED: return load(core, here, access, 0);
    case COPY_TO_CACHED: store(core, here, access, 0); return (struct answer){here, L1};
    case COPY_FROM_THREADGROUP:
        take_up(core, at);
        job->bytes[AT_THREADGROUP_MEMORY] += (i64)access->words * 4;
        at = served(core, THREADGROUP_MEMORY_PORT, at, time) + time + job->threadgroup_latency;
        return (struct answer){at, THREADGROUP_MEMORY};
    default:
        at = MOST(at, s->fetched);
        job->bytes[AT_THREADGROUP_MEMORY] += (i64)access->words * 4;
        expect(core, at, time);
        return (struct answer){at + time, s->fetched ? s->copied_cause : THREADGROUP_MEMORY};
    }
}

/* One access of a copy that a simdgroup has started. */
static void copy(struct core *core, struct simdgroup *s, i32 slot) {
    struct job *job = core->job;
    int does = job->class_does[job->ops[s->pc].kind];
    struct access access = access_of(job, s, slot, s->pc);
    access.lanes = 0; /* the engine moves bytes, whichever lane they would belong to */
    struct answer got = move(core, s, does, s->next, &access);
    close_gate(core, 0, 0);
    close_gate(core, 1, 0);
    int reads = does == COPY_FROM_CACHED || does == COPY_FROM_THREADGROUP;
    s->fetched = reads ? got.ready : 0;
    if (got.ready <= s->copied) return;
    s->copied = got.ready;
    s->copied_cause = got.cause;
}
