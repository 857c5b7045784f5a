/* Whose turn it is: when instructions have what they need, and who issues next on a partition. */

#pragma once
#include "streams.c"

/* Where an instruction stands among those that could issue at a time: its class's turn. */
static i64 key_of(i64 at, i64 turn) { return (at * CLASSES + turn) * MEMBERS; }

static i64 time_of(i64 key) { return key >> (CLASS_BITS + MEMBER_BITS); }

/* Tell the partition when a simdgroup is ready, and for what. */
static void announce(struct core *core, const struct simdgroup *s) {
    struct partition *p = core->partitions + s->partition;
    int kind = core->job->ops[s->pc].kind;
    p->keys[s->member] = key_of(s->ready, core->job->class_turn[kind]) + s->member;
    p->kinds[s->member] = kind;
    core->dirty |= 1u << s->partition;
}

/* Extra time of an instruction that reads what was made just before it. */
static i64 reuse(const struct job *job, const struct simdgroup *s,
                 const struct register_state *all, const struct op *op) {
    int width = job->class_width[op->kind];
    if (!width) return 0;
    i64 most = 0;
    for (int k = 0; k < SOURCES; k++) {
        const struct register_state *source = all + op->sources[k];
        u32 distance = s->ordinal - source->ordinal;
        if (distance >= REUSE || !source->ordinal) continue;
        if (!job->class_width[job->ops[source->from >> 4].kind]) continue;
        most = MOST(most, job->reuse[(width - 1) * REUSE + distance]);
    }
    return most;
}

/* When the next instruction has its operands, and what it waits for until then. */
static void look_ahead(struct core *core, struct simdgroup *s, i32 slot) {
    struct job *job = core->job;
    const struct register_state *all = registers_of(job, slot);
    const struct op *op = job->ops + s->pc;
    i64 ready = s->next;
    i32 latest = -1;
    for (int k = 0; k < SOURCES; k++) {
        i32 number = op->sources[k];
        i64 then = all[number].ready;
        latest = then > ready ? number : latest;
        ready = MOST(then, ready);
    }
    if (latest < 0) {
        s->cause = s->kind_cause;
        s->place = s->cause == LAUNCH ? -1 : s->cause == BARRIER ? s->barrier_place : op->place;
    } else {
        s->cause = all[latest].from & 15;
        s->place = s->cause == DEPENDENCY ? op->place : job->ops[all[latest].from >> 4].place;
    }
    s->kind_cause = ISSUE;
    s->ready = ready;
    if (s->copied > ready && job->class_does[op->kind] == WAIT_COPIES) {
        s->ready = s->copied;
        s->cause = s->copied_cause;
        s->place = op->place;
    }
    announce(core, s);
}

static int is_memory(const struct job *job, int kind) {
    int does = job->class_does[kind];
    return does != ARITHMETIC && does < WAIT_ALL;
}

/* The gate that an instruction of a class must pass; 2 for those of no memory. */
static int gate_of(const struct job *job, int kind) {
    int does = job->class_does[kind];
    if (!is_memory(job, kind)) return 2;
    return does == THREADGROUP_ACCESS || does == THREADGROUP_ATOMIC;
}

/* An instruction of a class has issued: when the next one of each class can, by its pipe's time. */
static void occupy(const struct job *job, struct partition *p, int kind, i64 at) {
    const i64 *after = job->class_after + kind * job->class_count, *turns = job->class_turn;
    i64 *free_of = p->free_of, *keys = p->free_keys, issue_free = p->issue_free;
    for (i64 k = 0; k < job->class_count; k++) {
        i64 free = after[k] < 0 ? free_of[k] : at + after[k];
        free_of[k] = free;
        keys[k] = key_of(MOST(free, issue_free), turns[k]);
    }
}

/* The simdgroup that can issue first. Of several the one whose instruction takes most issue cycles,
 * so that the pipe of complex functions does not wait for that of simple ones; of those the oldest,
 * so that threadgroups do not all come to the same place at a time. All this is one number, and it
 * is found without branches, since nothing is asked more often. */
static void choose(struct core *core, i32 number) {
    struct partition *p = core->partitions + number;
    const i64 *free_keys = p->free_keys, *gate_keys = core->gate_keys;
    i64 least = NO_KEY;
    for (i32 i = 0; i < p->count; i++) {
        i32 kind = p->kinds[i];
        i64 open = MOST(free_keys[kind], gate_keys[kind]) + i;
        i64 key = MOST(p->keys[i], open);
        least = LEAST(least, key);
    }
    p->best_member = least & (MEMBERS - 1);
    core->best[number] = time_of(least);
}

/* A gate that closes for longer delays nobody whose turn it is but who must pass it. */
static void close_gate(struct core *core, int which, i64 now) {
    const struct job *job = core->job;
    i64 gate = core->gate[which];
    if (gate <= now) return;
    for (i64 kind = 0; kind < job->class_count; kind++)
        if (core->gate_of[kind] == which)
            core->gate_keys[kind] = key_of(gate, job->class_turn[kind]);
    for (int k = 0; k < PARTITIONS; k++) {
        const struct partition *p = core->partitions + k;
        if (core->best[k] < gate && core->gate_of[p->kinds[p->best_member]] == which)
            core->dirty |= 1u << k;
    }
}
