/* Whose turn it is: when instructions have what they need, and who issues next on a partition. */

/* Tell the partition when a simdgroup is ready, and for what. */
static void announce(struct core *core, const struct simdgroup *s) {
    struct partition *p = core->partitions + s->partition;
    p->ready[s->member] = s->ready;
    p->kinds[s->member] = core->job->ops[s->pc].kind;
    p->dirty = 1;
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

/* A pipe has taken an instruction: when it takes the next one of each class. */
static void occupy(const struct job *job, struct partition *p, int kind, i64 at) {
    const i64 *after = job->class_after + kind * job->class_count;
    for (i64 k = 0; k < job->class_count; k++)
        p->free_of[k] = after[k] < 0 ? p->free_of[k] : at + after[k];
}

/* The simdgroup that can issue first. Of several the one whose instruction takes most issue cycles,
 * so that the pipe of complex functions does not wait for that of simple ones; of those the oldest,
 * so that threadgroups do not all come to the same place at a time. All this in one number, since
 * nothing is looked at more often. */
static void choose(struct core *core, struct partition *p) {
    const struct job *job = core->job;
    i64 least = ((i64)1 << 62) + ((i64)1 << 61);
    for (i32 i = 0; i < p->count; i++) {
        int kind = p->kinds[i];
        i64 at = MOST(MOST(p->ready[i], p->issue_free), MOST(p->free_of[kind], core->closed[kind]));
        i64 key = (at * CLASSES + job->class_turn[kind]) * MEMBERS + i;
        least = LEAST(least, key);
    }
    p->best = p->count ? least / (CLASSES * MEMBERS) : NEVER;
    p->best_simdgroup = p->count ? p->members[least % MEMBERS] : -1;
    p->dirty = 0;
}

/* A gate that closes for longer delays nobody whose turn it is but who must pass it. */
static void close_gate(struct core *core, int which) {
    const struct job *job = core->job;
    for (i64 kind = 0; kind < job->class_count; kind++)
        if (core->gate_of[kind] == which) core->closed[kind] = core->gate[which];
    for (int k = 0; k < PARTITIONS; k++) {
        struct partition *p = core->partitions + k;
        if (p->best_simdgroup < 0 || p->best >= core->gate[which]) continue;
        const struct simdgroup *s = (struct simdgroup *)job->simdgroups + p->best_simdgroup;
        if (core->gate_of[job->ops[s->pc].kind] == which) p->dirty = 1;
    }
}
