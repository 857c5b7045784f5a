/* Threadgroup memory: its port serves the simdgroups' accesses, and what copies bring. */

#pragma once
#include "memory.c"

/* What copies have brought until `at` is taken up in the order of its arrival. */
static void take_up(struct core *core, i64 at) {
    i32 count = 0;
    for (; count < core->arriving && core->arrivals[count].at <= at; count++)
        served(core, THREADGROUP_MEMORY_PORT, core->arrivals[count].at, core->arrivals[count].time);
    if (!count) return;
    core->arriving -= count;
    for (i32 k = 0; k < core->arriving; k++) core->arrivals[k] = core->arrivals[k + count];
    gate(core, 1, core->free[THREADGROUP_MEMORY_PORT] - core->job->queue, THREADGROUP_MEMORY);
}

/* A copy's bytes come `at` a time and take the port for `time`; what comes later stays behind. */
static void expect(struct core *core, i64 at, i64 time) {
    if (core->arriving == ARRIVALS) take_up(core, core->arrivals[0].at);
    i32 k = core->arriving++;
    for (; k > 0 && core->arrivals[k - 1].at > at; k--) core->arrivals[k] = core->arrivals[k - 1];
    core->arrivals[k] = (struct arrival){at, time};
}

/* Threadgroup memory: 32 words of 4 bytes at a time, slower with the rows of 128 bytes that they
 * are in and with words that share a bank. */
static struct answer threadgroup(struct core *core, i64 at, const struct access *access) {
    struct job *job = core->job;
    i64 words = MOST(access->words, 1);
    i64 passes = MOST(TICKS, words * TICKS / LANES);
    i64 rows = MOST(TICKS, (i64)access->lines * TICKS * TICKS / passes);
    i64 ways = MOST(TICKS, (i64)access->ways * TICKS * TICKS / passes);
    i64 fill = LEAST(TICKS, (words - 1) * TICKS / (LANES - 1));
    i64 factor = job->threadgroup_broadcast + (TICKS - job->threadgroup_broadcast) * fill / TICKS
        + (rows - TICKS) * job->threadgroup_row / TICKS
        + (ways - TICKS) * job->threadgroup_way / TICKS;
    i64 time = job->threadgroup_interval * passes / TICKS * factor / TICKS;
    job->bytes[AT_THREADGROUP_MEMORY] += words * 4;
    job->banks[ACCESSES]++;
    job->banks[SERVED] += time;
    job->banks[WAYS] += ways;
    job->worst_ways = MOST(job->worst_ways, ways);
    take_up(core, at);
    i64 start = served(core, THREADGROUP_MEMORY_PORT, at, time);
    gate(core, 1, core->free[THREADGROUP_MEMORY_PORT] - job->queue, THREADGROUP_MEMORY);
    return (struct answer){start + time + job->threadgroup_latency, THREADGROUP_MEMORY};
}

static struct answer threadgroup_atomic(struct core *core, i64 at, const struct access *access) {
    struct job *job = core->job;
    i64 time = MOST(job->threadgroup_atomic_interval,
                    access->sharing * job->threadgroup_atomic_serial);
    job->bytes[AT_THREADGROUP_MEMORY] += (i64)access->words * 4;
    take_up(core, at);
    i64 start = served(core, THREADGROUP_MEMORY_PORT, at, time);
    gate(core, 1, core->free[THREADGROUP_MEMORY_PORT] - job->queue, ATOMIC);
    return (struct answer){start + time + job->threadgroup_atomic_latency, ATOMIC};
}
