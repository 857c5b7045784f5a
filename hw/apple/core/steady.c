/* Loops in a steady state. When all simdgroups are in loops, rounds of as many instructions as an
 * iteration of all has are timed. Once rounds take equal time, iterations that remain are not
 * executed but counted: they take the time of those before, with the same causes. What they leave
 * in the caches is brought there, and where it comes from another level than before, execution goes
 * on. It also does when a simdgroup comes to the end of its loop; what was learned of the loops is
 * used again when others are in them. */

#pragma once
#include "skip.c"

enum { LONGEST_PAUSE = 4096 /* between looks for loops: twice as many each time in vain */ };

/* Look for loops: to go on in those that are known, or to watch others. */
static void seek(struct core *core, i64 now) {
    struct watch *watch = &core->watch;
    if (!find_loops(core)) {
        pause(core, LEAST(2 * watch->pause, LONGEST_PAUSE));
    } else if (watch->loops == core->learned.loops && skip(core, now)) {
        watch_again(core);
    } else {
        watch->rounds = -1;
        watch->due = core->issued + watch->length;
    }
}

/* A round is over. After two, four, eight and sixteen it is asked whether they were even. */
static void end_round(struct core *core, i64 now) {
    struct watch *watch = &core->watch;
    watch->times[++watch->rounds] = now;
    int asked = watch->rounds > 1 && (watch->rounds & (watch->rounds - 1)) == 0;
    int steady = asked && is_even(watch) && queues_hold(core, now) && find_loops(core);
    if (steady) {
        learn(core, now);
        skip(core, now);
    }
    if (steady || watch->rounds == ROUNDS) watch_again(core);
    else watch->due = core->issued + watch->length;
}

/* It is time to look for loops, or one more iteration of all has been executed. */
static void look(struct core *core, i64 now) {
    if (core->watch.rounds == -2) seek(core, now);
    else if (core->watch.rounds == -1) begin(core, now);
    else end_round(core, now);
}
