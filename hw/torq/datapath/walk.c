/* Memory agents stepping through their descriptors. */

#pragma once
#include "slice.h"

static inline i64 *state_of(const struct slice *m, i64 agent) { return m->states + agent * STATE; }

/* Stands at the first transfer of a descriptor. */
static void enter(i64 *state, const i64 *nests, i64 index) {
    for (int k = 0; k < STATE; k++) state[k] = 0;
    state[AT] = nests[index * NEST_COLUMNS + BASE];
    state[NEST] = index;
}

/* A loop called `loop` has `by` fewer steps in the last step of the loop around it. */
struct shortened {
    i64 loop, by;
};

static inline i64 missing(struct shortened s, const i64 *state, const i64 *row, i64 k, i64 count) {
    if (s.by <= 0 || k != s.loop || k + 1 >= count) return 0;
    return state[COUNTERS + k + 1] == row[LOOP_COLUMNS + COUNT] - 1 ? s.by : 0;
}

/* Goes on to the next transfer: the innermost loop ticks, full ones start over. After the last
 * transfer of the last descriptor (`end` is the number behind it) THROUGH is set. */
static inline void advance(i64 *state, const i64 *nests, const i64 *loops, i64 end,
                           struct shortened one, struct shortened other) {
    const i64 *nest = nests + state[NEST] * NEST_COLUMNS;
    const i64 *row = loops + nest[FIRST_LOOP] * LOOP_COLUMNS;
    i64 count = nest[LOOPS];
    for (i64 k = 0; k < count; k++, row += LOOP_COLUMNS) {
        i64 size = row[COUNT] - missing(one, state, row, k, count);
        size -= missing(other, state, row, k, count);
        i64 counter = row[COUNTER];
        if (state[COUNTERS + k] + 1 < size) {
            state[COUNTERS + k]++;
            state[AT] += row[DELTA];
            if (counter) state[counter] += row[STEP];
            return;
        }
        if (counter) state[counter] -= row[STEP] * state[COUNTERS + k];
        state[COUNTERS + k] = 0;
    }
    if (state[NEST] + 1 < end)
        enter(state, nests, state[NEST] + 1);
    else
        state[THROUGH] = 1;
}

/* Stands at an agent's first transfer, or is through when it has none. */
static void start(const struct slice *m, i64 agent) {
    i64 first = m->p[NESTS + 2 * agent], count = m->p[NESTS + 2 * agent + 1];
    if (count)
        enter(state_of(m, agent), m->nests, first);
    else
        state_of(m, agent)[THROUGH] = 1;
}

/* Goes on to an agent's next transfer. */
static void go_on(const struct slice *m, i64 agent) {
    const i64 *p = m->p;
    i64 end = p[NESTS + 2 * agent] + p[NESTS + 2 * agent + 1];
    struct shortened one = {p[SHORT_LOOP], agent == DEDR ? p[SHORT_BY] : 0};
    struct shortened other = {p[SHORT_LOOP1], agent == DEDR ? p[SHORT_BY1] : 0};
    advance(state_of(m, agent), m->nests, m->loops, end, one, other);
}

/* Notes what went wrong; returns 0 for the caller to return. */
static int fail(const struct slice *m, i64 code, i64 agent, i64 address, i64 number) {
    m->report[0] = code;
    m->report[1] = agent;
    m->report[2] = address;
    m->report[3] = number;
    return 0;
}

/* Whether so many bytes from an address on are not all in LRAM. */
static inline int is_outside(const struct slice *m, i64 at, i64 size) {
    return at < 0 || at + size > m->lram_size;
}
