// Accesses whose effect waits for something: copies for their end, texels for a fence.

#pragma once
#include "stored.c"

// What an access waits for is this, or the number of a copy.
#define SETTLES_TEXELS 0

static void settle(struct watch *w, u32 simdgroup, u32 what) {
  w->stamps[what][simdgroup] = ++w->stamp;
}

static void set_slow(struct watch *w) { w->slow = w->lanes || w->kind || w->copying; }

// A threadgroup begins: nothing of the one before it counts.
static void settle_all(struct watch *w) {
  w->kind = w->copying = w->settled = 0;
  set_slow(w);
  if (!w->remembers) return;
  w->remembers = 0;
  for (u32 i = 0; i < LANES; i++) {
    w->pending[i] = 0;
    for (u32 what = 0; what <= COPIES; what++) settle(w, i, what);
  }
  __builtin_memcpy(w->ordered, w->stamps, sizeof w->stamps);
}

// A barrier or fence of the calling simdgroup.
void assay_watch_settle(struct context *context, u32 flags) {
  if (flags & MEM_TEXTURE) settle(context->watch, context->simdgroup, SETTLES_TEXELS);
}

// The calling simdgroup has waited for the copy of a number, 0 for all.
static void settle_copies(struct watch *w, u32 simdgroup, u32 number) {
  for (u32 copy = 1; copy <= COPIES; copy++) {
    if (number && copy != number) continue;
    w->pending[simdgroup] &= ~(1u << copy);
    settle(w, simdgroup, copy);
  }
  w->settled = 1;
}

// All simdgroups have passed a barrier that orders threadgroup memory: what any of them has waited
// for is over for the others too.
static void order_copies(struct watch *w) {
  if (!w->settled) return;
  w->settled = 0;
  __builtin_memcpy(w->ordered, w->stamps, sizeof w->stamps);
  for (u32 i = 0; i < LANES; i++)
    if (!w->pending[i]) w->copying &= ~(1u << i);
  set_slow(w);
}

// The accesses that follow, by the lanes of `mask`, are of a kind.
void assay_watch_kind(struct context *context, u32 said, u32 mask) {
  struct watch *w = context->watch;
  u32 kind = said & ((1u << KIND_BITS) - 1), copy = said >> KIND_BITS;
  if (copy > COPIES) copy = 0;
  w->kind = kind == KIND_COPIED ? 0 : kind;
  w->kind_mask = mask;
  if (kind == KIND_COPY) {
    w->copy = copy ? copy : 1;
    w->begun++;
    w->pending[context->simdgroup] |= 1u << w->copy;
    w->copying |= 1u << context->simdgroup;
  }
  if (kind == KIND_COPIED) settle_copies(w, context->simdgroup, copy);
  set_slow(w);
}

static struct unsettled *unsettled_at(struct watch *w, u64 granule) {
  return &w->unsettled[(granule * 0x9E3779B97F4A7C15ull >> 40) & (UNSETTLED - 1)];
}

// Others race with what a copy does as with all else until the next barrier, which records tell.
static int is_valid(struct watch *w, u32 simdgroup, struct unsettled *u, u64 granule, u32 mask) {
  if (u->granule != granule || !(u->mask & mask)) return 0;
  if (u->stamp == w->stamps[u->settles][u->simdgroup]) return 1;
  return u->simdgroup != simdgroup && granule >> (HANDLE_SHIFT - 2) == THREADGROUP_HANDLE &&
         u->stamp == w->ordered[u->settles][u->simdgroup] && u->barriers < w->barriers;
}

static void note_unsettled(struct watch *w, struct context *context, struct unsettled *u,
                           u64 granule, u32 how, u32 lane, u32 mask, u32 settles) {
  u32 simdgroup = context->simdgroup;
  struct unsettled now = {granule, w->stamps[settles][simdgroup], how >> HOW_SITE & 1023, settles,
                          how & HOW_WRITE, mask, lane, simdgroup, w->begun, w->barriers};
  int same = is_valid(w, simdgroup, u, granule, 15) && u->lane == lane && u->simdgroup == simdgroup &&
             u->settles == settles && u->write == now.write && u->begun == now.begun;
  if (same) now.mask |= u->mask;
  w->remembers = 1;
  *u = now;
}

static void report_unsettled(struct watch *w, struct context *context, u32 kind, u32 how, u32 lane,
                             struct unsettled *u, u64 address) {
  u64 other = (u64)u->simdgroup << SIMDGROUP_SHIFT | (u64)u->lane << LANE_SHIFT |
              (u64)u->site << SITE_SHIFT | (w->group & GROUP_MASK) << GROUP_SHIFT;
  report(w, context, kind, how >> HOW_SITE & 1023, lane, other, address, w->barriers,
         u->write ? how & HOW_WRITE ? REPORT_WRITE_WRITE : REPORT_READ_WRITE : REPORT_WRITE_READ);
}

// `changes` says whether the access may change what is there.
static void watch_granule(struct watch *w, struct context *context, u64 granule, u32 how, u32 lane,
                          u32 mask, u64 address, int changes) {
  struct unsettled *u = unsettled_at(w, granule);
  u32 kind = w->kind_mask >> lane & 1 ? w->kind : 0;
  if (kind == KIND_COPY) {
    int meets = is_valid(w, context->simdgroup, u, granule, mask) && u->settles != SETTLES_TEXELS;
    if (meets && u->begun != w->begun && (how & HOW_WRITE ? changes || !u->write : u->write))
      report_unsettled(w, context, REPORT_COPY_NOT_WAITED, how, lane, u, address);
    note_unsettled(w, context, u, granule, how, lane, mask, w->copy);
    return;
  }
  if (is_valid(w, context->simdgroup, u, granule, mask)) {
    int writes = u->write || how & HOW_WRITE;
    int mine = u->simdgroup == context->simdgroup && u->lane == lane;
    if (u->settles != SETTLES_TEXELS && writes)
      report_unsettled(w, context, REPORT_COPY_NOT_WAITED, how, lane, u, address);
    else if (kind == KIND_TEXEL_READ && u->settles == SETTLES_TEXELS && mine)
      report_unsettled(w, context, REPORT_TEXTURE_NOT_FENCED, how, lane, u, address);
  }
  if (kind == KIND_TEXEL_WRITE && how & HOW_WRITE)
    note_unsettled(w, context, u, granule, how, lane, mask, SETTLES_TEXELS);
}

// The lanes of `mask` access `bytes` at each address in the scratch memory.
static void watch_unsettled(struct watch *w, struct context *context, u32 how, u32 mask, u32 size,
                            u32 bytes) {
  u64 *addresses = (u64 *)context->scratch;
  for (; mask; mask &= mask - 1) {
    u32 lane = (u32)__builtin_ctz(mask);
    u64 start = addresses[lane], end = start + bytes;
    for (u64 granule = start >> 2; granule << 2 < end; granule++) {
      u64 low = granule << 2 > start ? granule << 2 : start;
      u64 high = (granule + 1) << 2 < end ? (granule + 1) << 2 : end;
      u32 touched = (1u << (high - (granule << 2))) - (1u << (low - (granule << 2)));
      int changes = how & HOW_WRITE && w->kind == KIND_COPY &&
                    changes_value(context, start, lane, (u32)(low - start), (u32)(high - start), size);
      watch_granule(w, context, granule, how, lane, touched, low, changes);
    }
  }
}
