/* A whole slice task: the ALU's blocks with their feeds, then the activation unit's vectors. */

#pragma once
#include "act.c"
#include "alu.c"
#include "feed.c"
#include "write.c"

/* What the ALU does in one cycle. */
static inline void compute(const struct slice *m, i64 shift, i64 slot, i64 step, i64 cycle) {
    switch (m->p[ALU_KIND]) {
    case RUNS_INT: multiply_int_runs(m, shift, slot, step); break;
    case RUNS_FLOAT: multiply_float_runs(m, shift, slot, step); break;
    case MULTIPLY_INT: multiply_int(m, shift, slot, step, cycle); break;
    case MULTIPLY_FLOAT: multiply_float(m, shift, slot, step, cycle); break;
    case TRANSPOSE: transpose(m, cycle); break;
    default: whole_datum(m, shift, slot, step, cycle);
    }
}

/* What partial sums start from: the same everywhere, or what the task before has left. */
static inline void start_sums(const struct slice *m) {
    const i64 *p = m->p;
    for (int k = 0; k < LANE_COUNT; k++)
        if (p[CLEAR]) m->pram[k] = (i32)p[INIT];
    for (int k = 0; k < LANE_COUNT; k++)
        m->sums[k] = float_of(p[CLEAR] ? (i32)p[INIT] : m->pram[2 * k % LANE_COUNT]);
}

/* The ALU cycles of one block; returns whether all went well. */
static inline int alu_block(const struct slice *m) {
    const i64 *p = m->p;
    start_sums(m);
    for (i64 cycle = 0; cycle < p[CYCLES]; cycle++) {
        i64 shift = 0, step = 0, slot = 0;
        if (p[DATA_ON]) {
            shift = next_data(m);
            if (shift < 0) return 0;
            if (p[MASKED]) slot = mask(m, shift);
            shift *= p[DATUM_BYTES];
        }
        if (p[WEIGHTS] == WEIGHTS_EXPLICIT) {
            step = next_weights(m);
            if (step < 0) return 0;
            step *= p[WEIGHT_STEP_BYTES];
        }
        compute(m, shift, slot, step, cycle);
    }
    if (p[ALU_KIND] == RUNS_FLOAT)
        for (i64 k = 0; k < p[RUN] * p[RUN_GROUPS]; k++) m->pram[2 * k] = bits_of(m->sums[k]);
    if (p[OUTPUT_INDEX])
        for (i64 q = 0; q < p[LANES]; q++) {
            i64 word = lanes_of(m, LANE_WORD)[q];
            m->pram[word] = (i32)left(m->best[word], 16);
        }
    return 1;
}

/* Hands `word` to DEQW, `offset` bytes from where it stands; returns whether it was in LRAM. */
static inline int put_word(const struct slice *m, i64 offset) {
    i64 missed = write(m, offset);
    if (missed != -1) return fail(m, OUT_OF_RANGE, DEQW, missed, m->p[WRITE_BYTES]);
    go_on(m, DEQW);
    return 1;
}

/* Hands one transfer of results to DEQW; returns whether all went well. */
static inline int put_results(const struct slice *m) {
    const i64 *p = m->p, *indices = state_of(m, DEBR1);
    i64 size = p[RESULT_BYTES], width = p[SCATTER_BYTES], index = indices[AT], offset = 0;
    if (state_of(m, DEQW)[THROUGH]) return fail(m, RAN_DRY, DEQW, 0, 0);
    for (i64 k = 0; k < p[RESULTS]; k++)
        for (i64 j = 0; j < size; j++) m->word[k * size + j] = (u8)(m->out[k] >> (8 * j));
    if (p[SCATTER]) {
        if (indices[THROUGH]) return fail(m, RAN_DRY, DEBR1, 0, 0);
        if (is_outside(m, index, width)) return fail(m, OUT_OF_RANGE, DEBR1, index, width);
        offset = extend(number_at(m->lram + index, width), width, 1);
        go_on(m, DEBR1);
    }
    return put_word(m, offset);
}

/* DEQW alone, writing one value everywhere; returns whether all went well. */
static int fill(const struct slice *m) {
    i64 value = m->p[FILL_VALUE], unit = m->p[PIXEL_BYTES];
    for (int k = 0; k < PIXELS; k++) m->word[k] = (u8)(value >> (8 * (k % unit)));
    while (!state_of(m, DEQW)[THROUGH])
        if (!put_word(m, 0)) return 0;
    return 1;
}

/* The next word of biases and scales; returns whether all went well. */
static int fetch_bias(const struct slice *m) {
    const i64 *state = state_of(m, DEBR);
    i64 size = m->p[BIAS_BYTES], at = state[AT];
    if (state[THROUGH]) return fail(m, RAN_DRY, DEBR, 0, 0);
    if (is_outside(m, at, size)) return fail(m, OUT_OF_RANGE, DEBR, at, size);
    for (i64 k = 0; k < size; k++) m->bias[k] = m->lram[at + k];
    go_on(m, DEBR);
    return 1;
}

/* Forgets what the task before left in the slice's memories, partial sums excepted. */
static void clear(const struct slice *m) {
    for (int agent = 0; agent < AGENTS; agent++) start(m, agent);
    for (int k = 0; k < DATA_BYTES; k++) m->data[k] = 0;
    for (int k = 0; k < WEIGHT_MEMORY; k++) m->weight[k] = 0;
    for (int k = 0; k < STATE; k++) m->window[k] = 0;
    for (int k = 0; k < USES; k++) m->used[k] = 0;
    m->used[DATA_SEQUENCE] = -1;
    m->known[MASKS] = -1;
    m->report[0] = FINE;
}

/* Runs a decoded task; `report` says how that went. */
void run_task(const struct slice *m) {
    const i64 *p = m->p;
    i64 bias_left = 0;
    clear(m);
    if (p[FILL]) {
        fill(m);
        return;
    }
    for (i64 block = 0; block < p[BLOCKS]; block++) {
        if (!alu_block(m)) return;
        if (!p[ACT_ON]) continue; /* The sums stay for the next task. */
        for (i64 vector = 0; vector < p[VECTORS]; vector++) {
            if (p[BIAS_ON]) {
                if (bias_left == 0) {
                    if (!fetch_bias(m)) return;
                    bias_left = p[BIAS_REUSE];
                }
                bias_left--;
            }
            activate(m, vector);
            if (!put_results(m)) return;
        }
    }
}
