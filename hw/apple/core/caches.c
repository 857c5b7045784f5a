/* Which of L1, L2 and SLC holds a line. L1 is the core's own. L2 and SLC serve all cores, of which
 * one is executed: a line takes as many bytes there as the lines like it that all cores hold. */

#pragma once
#include "state.c"

static u64 mixed(u64 value) {
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15ull;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9ull;
    return value ^ value >> 32;
}

/* Lines of a thread's own memory; it is used again and again by the threads that run. */
static int is_private(u64 number) { return number >> PRIVATE_SHIFT == PRIVATE_HANDLE; }

/* The category of a line that the access `site` touches first: its share of lines of each kind was
 * found by comparing threadgroups. */
static int category_of(const struct job *job, i32 site, u64 number) {
    const u16 *shares = job->site_shares + (i64)site * CATEGORIES;
    u32 draw = mixed(number) & 0x7fff;
    for (int category = 0; category < CATEGORIES - 1; category++)
        if (draw < shares[category]) return category;
    return CATEGORIES - 1;
}

/* The number of the line in `lines`; it is added if it is new. */
static i32 find_line(struct core *core, u64 number, i32 site) {
    struct job *job = core->job;
    i32 *bucket = job->buckets + (mixed(number) & job->bucket_mask);
    for (i32 i = *bucket; i >= 0; i = job->lines[i].chain)
        if (job->lines[i].number == number) return i;
    i32 i = core->line_count++;
    struct line *line = job->lines + i;
    *line = (struct line){.number = number, .chain = *bucket};
    line->category = is_private(number) ? 0 : category_of(job, site, number);
    line->weight = job->category_weight[line->category];
    *bucket = i;
    return i;
}

static void unlink(struct core *core, int which, i32 i) {
    struct line *lines = core->job->lines, *line = lines + i;
    struct level *level = core->levels + which;
    i32 newer = line->newer[which], older = line->older[which];
    if (newer >= 0) lines[newer].older[which] = older; else level->newest = older;
    if (older >= 0) lines[older].newer[which] = newer; else level->oldest = newer;
    line->held[which] = 0;
    level->used -= which ? line->weight : LINE;
}

/* Make the line the newest of a level; the oldest go when it is full. */
static void keep(struct core *core, int which, i32 i) {
    struct line *lines = core->job->lines, *line = lines + i;
    struct level *level = core->levels + which;
    if (line->held[which]) {
        if (level->newest == i) return;
        unlink(core, which, i);
    }
    line->held[which] = 1;
    line->newer[which] = -1;
    line->older[which] = level->newest;
    if (level->newest >= 0) lines[level->newest].newer[which] = i; else level->oldest = i;
    level->newest = i;
    level->used += which ? line->weight : LINE;
    while (level->used > level->capacity && level->oldest != i) unlink(core, which, level->oldest);
}

/* Where a line comes from that L1 does not have, or is to go to: L2, SLC or DRAM. A line that several
 * cores need at a time is fetched by one of them, and the others find it in L2; but what each writes
 * of it is its own. `payers` are, of 32,768 cores that need it, those that fetch it, by category. */
static int source_of(struct core *core, i32 i, const i64 *payers, int write) {
    struct job *job = core->job;
    struct line *line = job->lines + i;
    int from = DRAM;
    u32 touch = line->touches++;
    if (line->held[1]) {
        from = L2;
    } else {
        u64 draw = mixed(line->number ^ (u64)touch << 40);
        if (!write && (draw & 0x7fff) >= payers[line->category]) from = L2;
        else if (line->held[2]) from = SLC;
        else if (touch == 0 && is_private(line->number)) from = L2;
        else if (touch == 0) {
            u32 level = draw >> 15 & 0x7fff;
            if (level < job->category_l2[line->category]) from = L2;
            else if (level < job->category_slc[line->category]) from = SLC;
        }
    }
    keep(core, 1, i);
    keep(core, 2, i);
    return from;
}

/* What a line needs for an access: bytes, and the level that has them. */
struct supply {
    i64 bytes;
    u8 from, whole; /* whether L1 had nothing of it */
};

/* A load needs the line, or the sector of it, in L1. Which sector that is, is not known: a second
 * access to a line that L1 has a sector of brings the other one. */
static struct supply for_load(struct core *core, i32 i, int part) {
    struct job *job = core->job;
    struct line *line = job->lines + i;
    struct supply need = {0, L1, !line->held[0]};
    if (need.whole) {
        const i64 *payers = part ? job->category_sector_payers : job->category_payers;
        need = (struct supply){part ? job->sector : LINE, (u8)source_of(core, i, payers, 0), 1};
        line->half = (u8)part;
        line->home = need.from;
    } else if (line->half) {
        need = (struct supply){LINE - job->sector, line->home, 0};
        line->half = 0;
    }
    keep(core, 0, i);
    return need;
}

/* A store goes through to L2. What it writes leaves the caches later and is paid for at once, each
 * part of a line the first time. */
static struct supply for_store(struct core *core, i32 i, i64 bytes) {
    struct line *line = core->job->lines + i;
    int held = line->held[1];
    int from = source_of(core, i, core->job->category_payers, 1);
    if (!held) {
        line->written = 0;
        line->home = (u8)from;
    }
    i64 due = LEAST(MOST(bytes, core->job->sector), LINE - line->written);
    line->written += (u8)due;
    return due ? (struct supply){due, line->home, 0} : (struct supply){bytes, L2, 0};
}

/* An atomic happens in L2 with so many bytes of the line. */
static struct supply for_atomic(struct core *core, i32 i, i64 bytes) {
    struct job *job = core->job;
    struct line *line = job->lines + i;
    if (!line->atomic) {
        line->atomic = 1;
        core->atomic_lines += line->weight;
    }
    u8 from = (u8)source_of(core, i, job->category_payers, 0);
    return (struct supply){LEAST(LINE, MOST(bytes, job->sector)), from, 0};
}
