/* The state of one core while it executes taped streams. Times are in ticks, TICKS of them to
 * a cycle. `struct job` says what to execute, on what, and where results go. */

#pragma once
#include "job.h"

enum {
    CLASS_BITS = 7, CLASSES = 1 << CLASS_BITS, MEMBER_BITS = 7, MEMBERS = 1 << MEMBER_BITS,
    ARRIVALS = 1024, ROUNDS = 16, CLOSURES = 1024
};

#define NEVER ((i64)1 << 48) /* minutes of a GPU; keys have as many bits and those of turns */
#define NO_KEY ((i64)3 << 61)
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define APART(a, b) ((a) > (b) ? (a) - (b) : (b) - (a))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

/* When a result may be used, which instruction makes it, and why that takes so long. */
struct register_state {
    i64 ready;
    u32 ordinal; /* of the instruction among those that its simdgroup issued; 0 for none */
    u32 from;    /* the instruction, and the cause in the lowest four bits */
};

struct simdgroup {
    i64 at, end;        /* words of the stream */
    i64 block_at;       /* where in it the block's events start */
    i64 entered;        /* blocks */
    i64 entered_before; /* those before rounds were watched */
    i64 loop_end;       /* blocks entered when the loop that it is in will have been left */
    i64 iteration;      /* instructions of an iteration of it */
    i32 period;         /* blocks of one, 0 as long as no loop is known */
    i32 loop;           /* the first of those blocks */
    i64 next;           /* when it may issue again */
    i64 ready;          /* when its next instruction has all it needs; NEVER if it waits */
    i64 begin;          /* when it was placed on the core */
    i64 last;           /* end of the timeline's slice so far */
    i64 stretch;        /* start of the timeline's open slice */
    i64 owed[CAUSES + 1];  /* time of short waits that the timeline does not show yet */
    i64 copied;         /* when what it copies will have arrived */
    i64 fetched;        /* when what its copy has read last will have; 0 once that is written */
    u32 ordinal;        /* instructions issued */
    i32 block, previous, pc, pc_end;
    i32 lanes;          /* active in this block */
    i32 group, number, partition;
    i32 member;         /* which of its partition */
    i32 place;          /* site of what it waits for */
    i32 stretch_place;
    i32 awaited;        /* who came last to the barrier that it waited at */
    i32 met, stretch_met; /* barriers that it has come to; the same when the open slice began */
    i32 barrier_place;  /* site of that barrier */
    u8 cause;           /* why it waits */
    u8 stretch_cause;
    u8 kind_cause;      /* what a barrier's or launch's wait is called */
    u8 copied_cause;    /* why its copies take so long */
};

struct group {
    i32 waiting, alive, taped, used;
    i32 last;    /* the simdgroup that came last to the barrier */
    i64 left;    /* iterations of its loop that remain */
    i64 rank;    /* by age */
    i64 arrival; /* when */
};

/* A line of 128 bytes and where copies of it are; lists run from the newest to the oldest. */
struct line {
    u64 number;
    i64 ready; /* when the first level has it */
    i64 weight; /* bytes that it stands for in the caches that cores share */
    i32 chain; /* next line in the hash bucket */
    i32 newer[3], older[3];
    u32 touches;
    u8 held[3]; /* by L1, L2, SLC */
    u8 cause, category, atomic;
    u8 half;    /* L1 has one sector of it only */
    u8 home;    /* the level that it was written through to */
    u8 written; /* bytes */
};

struct level {
    i32 newest, oldest;
    i64 used, capacity;
};

struct partition {
    i64 issue_free;
    i64 accounted; /* every tick before has a cause */
    i32 count, best_member;
    i32 members[MEMBERS];
    i32 kinds[MEMBERS];     /* classes of their next instructions */
    i64 keys[MEMBERS];      /* when each is ready, how its class stands, and its number */
    i64 free_of[CLASSES];   /* when the pipe of each class takes one */
    i64 free_keys[CLASSES]; /* when the partition can issue one, and how the class stands */
    i64 drawn;              /* until when its timeline is written */
    i64 gathered[CAUSES];   /* time behind that, by cause */
    u8 order[CAUSES];       /* those causes as they first came */
    i32 mixed;              /* how many they are */
};

/* A gate was closed. */
struct closure {
    i64 begin, end;
    u8 cause;
};

/* Bytes that a copy brings to threadgroup memory, and how long its port takes for them. */
struct arrival {
    i64 at, time;
};

/* Rounds of as many instructions as one iteration of all simdgroups has. */
struct watch {
    i32 rounds;  /* -2 as long as some are in no loop, -1 before the first round */
    i64 length;  /* instructions of a round */
    i64 pause;   /* instructions between looks for loops */
    u64 loops;   /* tells which loops */
    i64 due;     /* instructions issued when the round is over, or it is time to look */
    i64 issued_before, unwritten_before, backlog_before[QUEUES];
    i64 times[ROUNDS + 1];
};

/* What some rounds of loops did beside what counters say. */
struct learned {
    u64 loops;
    i64 time, issued, unwritten;
    i64 skipped; /* instructions that were counted for them */
    i64 pace[MEMBERS * PARTITIONS]; /* iterations of threadgroups by age, in 1 / TICKS */
};

struct core {
    struct job *job;
    struct watch watch;
    struct learned learned;
    struct partition partitions[PARTITIONS];
    i64 best[PARTITIONS]; /* when each can issue next */
    u32 dirty;            /* of which that must be found out anew, a bit each */
    struct level levels[3];
    i64 free[QUEUES]; /* when each queue has served all that stands in it */
    i64 unwritten; /* DRAM's time for what caches hold back until nobody reads */
    i64 launch_free;
    i64 gate_keys[CLASSES]; /* when the gate of each class opens, if that was to come */
    i64 gate[3]; /* cached and threadgroup accesses wait until then because queues are full; all
                    others never */
    u8 gate_of[CLASSES];
    u8 gate_cause[2];
    i64 now;                /* when the instruction issues that is looked at */
    struct closure closures[2][CLOSURES]; /* the last ones of each gate, in a ring, by time */
    i64 closure_count[2];
    i64 ring_at;
    i64 issued;   /* instructions */
    i64 unmarked; /* instructions since the last mark */
    i64 atomic_lines; /* distinct, machine-wide */
    struct arrival arrivals[ARRIVALS]; /* by time */
    i32 arriving;
    i32 line_count;
    i32 launched, finished, resident;
    i32 ranked; /* launches and ends when threadgroups were last ranked by age */
};
