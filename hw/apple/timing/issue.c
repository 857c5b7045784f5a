/* Who issues next on a partition, and what one instruction does. */

static void charge(struct core *core, struct partition *p, i64 until, int cause, i32 place) {
    struct job *job = core->job;
    i64 time = until - p->accounted;
    if (time <= 0) return;
    job->cycles[cause] += time;
    if (place >= 0) job->site_cycles[(i64)place * CAUSES + cause] += time;
    p->accounted = until;
}

/* Close the timeline's open slice at `until` unless it goes on with the same cause and place. */
static void stretch(struct core *core, struct simdgroup *s, i64 until, int cause, i32 place) {
    struct job *job = core->job;
    if (!job->slice_limit || until <= s->last) return;
    int met = s->met != s->stretch_met; /* whatever is short, barriers part slices */
    int short_wait = cause != ISSUE && until - s->last < job->grain && s->last > s->begin;
    if (met || (!short_wait && (cause != s->stretch_cause || place != s->stretch_place))) {
        if (s->last > s->stretch && job->slice_count < job->slice_limit) {
            struct slice *slice = (struct slice *)job->slices + job->slice_count++;
            *slice = (struct slice){s->stretch, s->last, s->partition, s->group, s->number,
                                    s->stretch_cause, s->stretch_place,
                                    s->stretch_cause == BARRIER ? s->awaited : -1,
                                    s->stretch_met};
        }
        s->stretch = s->last;
        s->stretch_cause = (u8)cause;
        s->stretch_place = place;
        s->stretch_met = s->met;
    }
    s->last = until;
}

/* Tell the partition when a simdgroup is ready, and for what. */
static void announce(struct core *core, const struct simdgroup *s) {
    struct partition *p = core->partitions + s->partition;
    p->ready[s->member] = s->ready;
    p->kinds[s->member] = core->job->kinds[s->pc];
    p->dirty = 1;
}

/* When the next instruction has its operands, and what it waits for until then. */
static void look_ahead(struct core *core, struct simdgroup *s, i32 slot) {
    struct job *job = core->job;
    const struct register_state *all = registers_of(job, slot);
    i32 own = job->places[s->pc];
    s->ready = s->next;
    s->cause = s->kind_cause;
    s->place = s->cause == LAUNCH ? -1 : s->cause == BARRIER ? s->barrier_place : own;
    s->kind_cause = ISSUE;
    for (int k = 0; k < SOURCES; k++) {
        i32 number = job->sources[s->pc * SOURCES + k];
        if (number < 0 || all[number].ready <= s->ready) continue;
        s->ready = all[number].ready;
        s->cause = all[number].from & 15;
        s->place = s->cause == DEPENDENCY ? own : job->places[all[number].from >> 4];
    }
    if (job->class_does[job->kinds[s->pc]] == WAIT_COPIES && s->copied > s->ready) {
        s->ready = s->copied;
        s->cause = s->copied_cause;
        s->place = own;
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

/* When a pipe takes an instruction of a class after the last one that it took. */
static i64 pipe_free(const struct job *job, const struct partition *p, int kind) {
    int pipe = job->class_pipe[kind], last = p->pipe_class[pipe];
    if (last < 0) return 0;
    i64 free = p->pipe_time[pipe];
    if (last == kind) return free + job->class_interval[kind];
    free += job->class_busy[last];
    return job->class_unit[last] != job->class_unit[kind] ? free + job->turnaround[pipe] : free;
}

/* A pipe has taken an instruction: when it takes the next one of each class. */
static void occupy(const struct job *job, struct partition *p, int pipe) {
    for (int kind = 0; kind < job->class_count; kind++)
        if (job->class_pipe[kind] == pipe) p->free_of[kind] = pipe_free(job, p, kind);
}

static i64 free_for(const struct core *core, const struct partition *p, int kind) {
    return MOST(p->free_of[kind], core->gate[core->gate_of[kind]]);
}

/* The simdgroup that can issue first. Of several the one whose instruction takes most issue cycles,
 * so that the pipe of complex functions does not wait for that of simple ones; of those the oldest,
 * so that threadgroups do not all come to the same place at a time. */
static void choose(struct core *core, struct partition *p) {
    struct job *job = core->job;
    i64 longest = 0, best = NEVER;
    i32 chosen = -1;
    for (i32 i = 0; i < p->count; i++) {
        i64 at = MOST(p->ready[i], p->issue_free);
        if (at > best) continue;
        int kind = p->kinds[i];
        i64 issue = job->class_issue[kind];
        if (at == best && issue <= longest) continue;
        at = MOST(at, free_for(core, p, kind));
        if (at > best || (at == best && issue <= longest)) continue;
        best = at;
        chosen = i;
        longest = issue;
    }
    p->best = best;
    p->best_simdgroup = chosen < 0 ? -1 : p->members[chosen];
    p->dirty = 0;
}

/* A gate that closes for longer delays nobody whose turn it is but who must pass it. */
static void choose_again(struct core *core, int which) {
    const struct job *job = core->job;
    for (int k = 0; k < PARTITIONS; k++) {
        struct partition *p = core->partitions + k;
        if (p->best_simdgroup < 0 || p->best >= core->gate[which]) continue;
        const struct simdgroup *s = (struct simdgroup *)job->simdgroups + p->best_simdgroup;
        if (core->gate_of[job->kinds[s->pc]] == which) p->dirty = 1;
    }
}

/* Extra time of an instruction that reads what was made just before it. */
static i64 reuse(const struct job *job, const struct simdgroup *s, i32 slot, int kind) {
    int width = job->class_width[kind];
    if (!width) return 0;
    const struct register_state *all = registers_of(job, slot);
    i64 most = 0;
    for (int k = 0; k < SOURCES; k++) {
        i32 number = job->sources[s->pc * SOURCES + k];
        if (number < 0 || !all[number].ordinal) continue;
        u32 distance = s->ordinal + 1 - all[number].ordinal;
        if (distance > REUSE || !job->class_width[job->kinds[all[number].from >> 4]]) continue;
        most = MOST(most, job->reuse[(width - 1) * REUSE + distance - 1]);
    }
    return most;
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
    i64 gate = core->gate[which];
    struct answer got = reach(core, kind, at, &access, done);
    if (core->gate[which] > gate) choose_again(core, which);
    return got;
}

/* Note when every so many instructions have been issued; of too many notes every second stays. */
static void mark(struct core *core, i64 at) {
    struct job *job = core->job;
    if (++core->unmarked < job->mark_step) return;
    core->unmarked = 0;
    job->marks[job->mark_count++] = at;
    if (job->mark_count < MARKS) return;
    for (i64 k = 0; k < MARKS / 2; k++) job->marks[k] = job->marks[2 * k + 1];
    job->mark_count = MARKS / 2;
    job->mark_step *= 2;
}

/* Issue the next instruction of a simdgroup at a time at which everything is free for it. */
static void issue(struct core *core, struct partition *p, i32 slot, i64 at) {
    struct job *job = core->job;
    struct simdgroup *s = (struct simdgroup *)job->simdgroups + slot;
    i32 pc = s->pc, place = job->places[pc];
    int kind = job->kinds[pc], pipe = job->class_pipe[kind];
    if (s->cause == LAUNCH) charge(core, p, LEAST(s->begin, at), IDLE, -1);
    i64 free = free_for(core, p, kind);
    int which = core->gate_of[kind];
    int gated = which < 2 && core->gate[which] >= free;
    int busy = gated ? core->gate_cause[which] : ISSUE;
    charge(core, p, LEAST(free, at), busy, place);
    charge(core, p, LEAST(s->ready, at), s->cause, s->place);
    charge(core, p, at, busy, place);
    stretch(core, s, s->ready, s->cause, s->place);
    if (gated) stretch(core, s, at, busy, place);
    i64 extra = reuse(job, s, slot, kind);
    struct answer done = perform(core, s, slot, kind, at);
    i64 spill = job->destinations[pc] >= 0 ? job->spilled : 0;
    i64 taken = job->class_issue[kind];
    p->issue_free = at + taken + spill;
    charge(core, p, at + taken, ISSUE, place);
    charge(core, p, p->issue_free, L1, place);
    p->pipe_time[pipe] = at + extra + spill;
    p->pipe_class[pipe] = kind;
    occupy(job, p, pipe);
    job->pipe_cycles[pipe] += job->class_busy[kind] + extra;
    s->next = at + MOST(TICKS, taken) + spill;
    s->ordinal++;
    stretch(core, s, s->next, ISSUE, place);
    if (job->destinations[pc] >= 0) {
        registers_of(job, slot)[job->destinations[pc]] = (struct register_state){
            done.ready + spill, s->ordinal, (u32)pc << 4 | done.cause};
    }
    job->flops += (i64)job->instruction_flops[pc] * s->lanes;
    job->group_instructions[s->group]++;
    mark(core, at);
    s->pc++;
}
