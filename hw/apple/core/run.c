/* The core's life: threadgroups come, their simdgroups issue, wait for each other, and leave. */

#pragma once
#include "steady.c"

static void leave(struct core *core, i32 slot, i64 at);

static void release(struct core *core, i32 number) {
    struct job *job = core->job;
    struct group *group = group_of(job, number);
    struct simdgroup *all = simdgroup_of(job, 0);
    if (!group->waiting || group->waiting < group->alive) return;
    group->waiting = 0;
    i64 open = group->arrival + job->barrier_latency;
    group->arrival = 0;
    for (i32 k = 0; k < job->per_group; k++) {
        i32 slot = number * job->per_group + k;
        struct simdgroup *s = all + slot;
        if (s->ready != NEVER || s->partition < 0) continue;
        s->next = MOST(s->next, open);
        s->kind_cause = BARRIER;
        s->awaited = group->last;
        look_ahead(core, s, slot);
    }
}

/* Go to the simdgroup's next instruction, through blocks that have none and what a copy does that
 * it has started; 0 at the end. */
static int advance(struct core *core, struct simdgroup *s, i32 slot) {
    struct job *job = core->job;
    for (;;) {
        while (s->pc == s->pc_end)
            if (!enter_block(job, s, slot)) return 0;
        if (!is_copied(job, job->ops[s->pc].kind)) return 1;
        copy(core, s, slot);
        s->pc++;
    }
}

static void step(struct core *core, i32 number) {
    struct job *job = core->job;
    struct partition *p = core->partitions + number;
    i32 slot = p->members[p->best_member];
    struct simdgroup *s = simdgroup_of(job, slot);
    const struct op *op = job->ops + s->pc;
    int waits = job->class_does[op->kind] == WAIT_ALL;
    if (waits) s->barrier_place = op->place;
    issue(core, p, slot, core->best[number]);
    core->dirty |= 1u << number;
    if (!advance(core, s, slot)) {
        leave(core, slot, MOST(s->next, s->copied));
    } else if (waits) {
        i32 of = slot / job->per_group;
        struct group *group = group_of(job, of);
        s->ready = NEVER;
        announce(core, s);
        s->met++;
        group->waiting++;
        if (s->next >= group->arrival) group->last = s->number;
        group->arrival = MOST(group->arrival, s->next);
        release(core, of);
    } else {
        look_ahead(core, s, slot);
    }
}

static i32 emptiest(const struct core *core) {
    i32 found = 0;
    for (i32 p = 1; p < PARTITIONS; p++)
        if (core->partitions[p].count < core->partitions[found].count) found = p;
    return found;
}

/* Put the next taped threadgroup into a free place of the core. */
static void launch(struct core *core, i32 number, i64 at) {
    struct job *job = core->job;
    struct group *group = group_of(job, number);
    struct simdgroup *all = simdgroup_of(job, 0);
    i32 taped = core->launched++;
    watch_again(core);
    *group = (struct group){.taped = taped, .used = 1};
    job->group_begin[taped] = at;
    for (i32 k = 0; k < job->per_group; k++) {
        i32 slot = number * job->per_group + k;
        struct simdgroup *s = all + slot;
        i64 stream = (i64)taped * job->per_group + k;
        *s = (struct simdgroup){.at = job->stream_starts[stream],
                                .end = job->stream_starts[stream + 1],
                                .block = -1, .group = taped, .number = k, .partition = -1,
                                .begin = at, .last = at, .stretch = at, .stretch_cause = LAUNCH,
                                .stretch_place = -1, .kind_cause = LAUNCH};
        struct register_state *own = registers_of(job, slot);
        for (i64 r = 0; r <= job->register_count; r++) own[r] = (struct register_state){0, 0, 0};
        s->next = MOST(core->launch_free, at + job->launch_latency);
        if (!advance(core, s, slot)) continue;
        core->launch_free = s->next + job->launch_interval;
        s->partition = emptiest(core);
        group->alive++;
        struct partition *p = core->partitions + s->partition;
        s->member = p->count++;
        p->members[s->member] = slot;
        look_ahead(core, s, slot);
    }
    if (group->alive) {
        core->resident++;
        return;
    }
    job->group_end[taped] = at;
    core->finished++;
    group->used = 0;
}

static void fill(struct core *core, i64 at) {
    struct job *job = core->job;
    for (i32 n = 0; n < job->resident && core->launched < job->group_count; n++)
        while (!group_of(job, n)->used && core->launched < job->group_count)
            launch(core, n, at);
}

/* A simdgroup is done; the last one of a threadgroup makes room. */
static void leave(struct core *core, i32 slot, i64 at) {
    struct job *job = core->job;
    struct simdgroup *s = simdgroup_of(job, slot);
    struct partition *p = core->partitions + s->partition;
    struct simdgroup *all = simdgroup_of(job, 0);
    i32 number = slot / job->per_group;
    struct group *group = group_of(job, number);
    if (job->slice_limit) {
        stretch(core, s, at, s->copied_cause, -1);
        close_slice(core, s);
    }
    p->count--;
    for (i32 i = s->member; i < p->count; i++) {
        p->members[i] = p->members[i + 1];
        p->keys[i] = p->keys[i + 1] - 1;
        p->kinds[i] = p->kinds[i + 1];
        all[p->members[i]].member = i;
    }
    core->dirty |= 1u << s->partition;
    s->partition = -1;
    watch_again(core);
    group->alive--;
    job->group_end[group->taped] = MOST(job->group_end[group->taped], at);
    if (group->alive) {
        if (group->waiting && at > group->arrival) {
            group->arrival = at;
            group->last = s->number;
        }
        release(core, number);
        return;
    }
    group->used = 0;
    core->finished++;
    core->resident--;
    fill(core, at);
}

/* Execute all threadgroups; the ticks that it takes, or -1 if simdgroups wait for ever. */
i64 run(struct job *job) {
    struct core core = {.job = job};
    for (int k = 0; k < PARTITIONS; k++) {
        core.best[k] = NEVER;
        for (int kind = 0; kind < job->class_count; kind++)
            core.partitions[k].free_keys[kind] = key_of(0, job->class_turn[kind]);
    }
    for (int kind = 0; kind < job->class_count; kind++)
        core.gate_of[kind] = (u8)gate_of(job, kind);
    for (int k = 0; k < 3; k++)
        core.levels[k] = (struct level){-1, -1, 0, job->capacity[k]};
    for (int k = 0; k < PARTITIONS; k++)
        charge(&core, core.partitions + k, job->dispatch_start, LAUNCH, -1);
    fill(&core, job->dispatch_start);
    while (core.resident) {
        for (; core.dirty; core.dirty &= core.dirty - 1) choose(&core, __builtin_ctz(core.dirty));
        i32 first = 0;
        for (i32 k = 1; k < PARTITIONS; k++) first = core.best[k] < core.best[first] ? k : first;
        i64 now = core.best[first];
        if (now >= NEVER) return -1;
        if (core.issued >= core.watch.due && job->may_skip) {
            look(&core, now);
            continue;
        }
        step(&core, first);
    }
    take_up(&core, NEVER);
    i64 end = 0;
    for (i64 g = 0; g < job->group_count; g++) end = MOST(end, job->group_end[g]);
    job->held_back = MOST(0, core.unwritten - MOST(0, end - core.free[DRAM_PORT]));
    for (int k = 0; k < PARTITIONS; k++) {
        charge(&core, core.partitions + k, end, IDLE, -1);
        if (job->slice_limit) write_gathered(&core, core.partitions + k);
    }
    return end;
}

/* Bytes of the structures that Python makes room for. */
i64 size_of(i64 which) {
    switch (which) {
    case 0: return sizeof(struct simdgroup);
    case 1: return sizeof(struct group);
    case 2: return sizeof(struct line);
    default: return sizeof(struct register_state);
    }
}
