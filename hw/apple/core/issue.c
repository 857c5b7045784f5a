/* What one instruction does, and how the time until then is accounted for. */

#pragma once
#include "threadgroup.c"
#include "timeline.c"
#include "turns.c"

static void charge(struct core *core, struct partition *p, i64 until, int cause, i32 place) {
    struct job *job = core->job;
    i64 time = until - p->accounted;
    if (time <= 0) return;
    job->cycles[cause] += time;
    if (place >= 0) job->site_cycles[(i64)place * CAUSES + cause] += time;
    if (job->slice_limit) gather(core, p, time, cause);
    p->accounted = until;
}

/* Memory's answer to an access; what nobody waits for is `done` as any other instruction. */
static struct answer reach(struct core *core, int kind, i64 at, const struct access *access,
                           struct answer done) {
    struct job *job = core->job;
    switch (job->class_does[kind]) {
    case CACHED_LOAD: return load(core, at, access, 0);
    case CACHED_STORE: store(core, at, access, 0); return done;
    case CACHED_ATOMIC: return atomic(core, at, access);
    case PRIVATE_ACCESS: return load(core, at, access, job->private_interval);
    case THREADGROUP_ATOMIC: return threadgroup_atomic(core, at, access);
    default: return threadgroup(core, at, access);
    }
}

static struct answer perform(struct core *core, struct simdgroup *s, i32 slot, int kind, i64 at) {
    struct job *job = core->job;
    struct answer done = {at + job->class_latency[kind], DEPENDENCY};
    int which = core->gate_of[kind];
    if (which == 2) return done;
    struct access access = access_of(job, s, slot, s->pc);
    struct answer got = reach(core, kind, at, &access, done);
    close_gate(core, which, at);
    return got;
}

/* Note that so many instructions have been issued once more; of too many notes every second stays. */
static void mark(struct core *core, i64 at) {
    struct job *job = core->job;
    core->unmarked = 0;
    job->marks[job->mark_count++] = at;
    if (job->mark_count < MARKS) return;
    for (i64 k = 0; k < MARKS / 2; k++) job->marks[k] = job->marks[2 * k + 1];
    job->mark_count = MARKS / 2;
    job->mark_step *= 2;
}

/* Say what a partition did until an instruction issued, and the simdgroup on its timeline. */
static void account(struct core *core, struct partition *p, struct simdgroup *s, i64 at) {
    const struct op *op = core->job->ops + s->pc;
    int which = core->gate_of[op->kind];
    i64 pipe = time_of(p->free_keys[op->kind]), gate = core->gate[which];
    int gated = which < 2 && gate >= pipe;
    i64 free = MOST(pipe, gate);
    int busy = gated ? core->gate_cause[which] : ISSUE;
    if (s->cause == LAUNCH) charge(core, p, LEAST(s->begin, at), IDLE, -1);
    charge(core, p, LEAST(free, at), busy, op->place);
    charge(core, p, LEAST(s->ready, at), s->cause, s->place);
    charge(core, p, at, busy, op->place);
    if (!core->job->slice_limit) return;
    stretch(core, s, s->ready, s->cause, s->place);
    if (which < 2) draw_gate(core, s, which, at, op->place);
    if (p->count > 1) stretch(core, s, at, UNIT, op->place);
}

/* Issue the next instruction of a simdgroup at a time at which everything is free for it. */
static void issue(struct core *core, struct partition *p, i32 slot, i64 at) {
    struct job *job = core->job;
    struct simdgroup *s = simdgroup_of(job, slot);
    const struct op *op = job->ops + s->pc;
    int kind = op->kind;
    core->now = at;
    if (p->accounted < at || job->slice_limit) account(core, p, s, at);
    struct register_state *own = registers_of(job, slot);
    i64 extra = reuse(job, s, own, op);
    struct answer done = perform(core, s, slot, kind, at);
    i64 spill = op->destination >= 0 ? job->spilled : 0;
    i64 taken = job->class_issue[kind];
    p->issue_free = at + taken + spill;
    charge(core, p, at + taken, ISSUE, op->place);
    charge(core, p, p->issue_free, L1, op->place);
    occupy(job, p, kind, at + extra + spill);
    job->pipe_cycles[job->class_pipe[kind]] += job->class_busy[kind] + extra;
    s->next = at + MOST(TICKS, taken) + spill;
    s->ordinal++;
    if (job->slice_limit) stretch(core, s, s->next, ISSUE, op->place);
    if (op->destination >= 0) {
        own[op->destination] = (struct register_state){
            done.ready + spill, s->ordinal, (u32)s->pc << 4 | done.cause};
    }
    job->flops += (i64)op->flops * s->lanes;
    job->group_instructions[s->group]++;
    core->issued++;
    if (++core->unmarked == job->mark_step) mark(core, at);
    s->pc++;
}
