// What happens to a threadgroup as a whole: its start, its barriers and fences, who leaves when.

#pragma once
#include "lanes.c"
#include "unwritten.c"

static void flush_denormals(u32 flush) {
#if defined(__x86_64__)
  u32 state = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flush ? state | 0x8040u : state & ~0x8040u);
#elif defined(__aarch64__)
  u64 state = __builtin_aarch64_get_fpcr64(), bit = 1ull << 24;
  __builtin_aarch64_set_fpcr64(flush ? state | bit : state & ~bit);
#endif
}

// A worker begins to run threadgroups, or has run them.
void assay_watch_begin(struct context *context) {
  if (context->watch->flush_denormals) flush_denormals(1);
}

void assay_watch_end(struct context *context) {
  if (context->watch->flush_denormals) flush_denormals(0);
}

// Threadgroups of a box are run in an order that the seed permutes.
u64 assay_watch_permuted(struct context *context, u64 number) {
  struct watch *w = context->watch;
  return (number * w->order_factor + w->order_shift) % w->order_count;
}

// A threadgroup begins.
void assay_watch_group(struct context *context) {
  struct watch *w = context->watch;
  u32 *position = context->position;
  u32 *groups = context->threadgroups;
  w->group = w->group_base + position[0] +
             (u64)groups[0] * (position[1] + (u64)groups[1] * position[2]);
  w->run = w->run + 1 & GROUP_MASK;
  w->barriers = 0;
  w->operation_count = 0;
  w->arena_epoch = w->device_epoch = 0;
  w->arena_covered = w->device_covered = 0;
  w->arena_fenced = w->device_fenced = 0;
  w->met = 0;
  settle_all(w);
  forget_reads(w);
  for (u32 i = 0; i < w->simdgroups; i++) {
    w->waiting[i].mask = 0;
    w->left[i].mask = 0;
    w->left[i].passed[0] = w->left[i].passed[1] = 0;
  }
}

static void divergence(struct watch *w, struct context *context, u32 kind, struct waiter *here,
                       u32 simdgroup, struct waiter *other, u32 other_simdgroup, u32 other_site,
                       u32 absent) {
  context->simdgroup = simdgroup;
  u64 record = (u64)other_simdgroup << SIMDGROUP_SHIFT |
               (u64)(absent ? __builtin_ctz(absent) : 0) << LANE_SHIFT |
               (u64)other_site << SITE_SHIFT | (w->group & GROUP_MASK) << GROUP_SHIFT;
  report(w, context, kind, here->site, here->mask ? __builtin_ctz(here->mask) : 0, record, 0,
         w->barriers, absent);
}

// Whether all lanes of a simdgroup wait where those before did: so it nearly always is.
INLINE int meets(struct watch *w, u32 site, u32 flags, u32 mask, u32 live, u32 branch) {
  struct waiter *m = &w->meeting;
  if (mask != live) return 0;
  if (!w->met) *m = (struct waiter){site, flags, mask, live, branch, {0, 0}};
  return m->site == site && m->flags == flags && m->branch == branch;
}

// Lanes of `mask` wait at a barrier; `live` lanes began the kernel; `branch` may have parted them.
void assay_watch_wait(struct context *context, u32 site, u32 flags, u32 mask, u32 live,
                      u32 branch) {
  struct watch *w = context->watch;
  u32 simdgroup = context->simdgroup;
  if (meets(w, site, flags, mask, live, branch))
    w->met |= 1u << simdgroup;
  else
    w->waiting[simdgroup] = (struct waiter){site, flags, mask, live, branch, {0, 0}};
  if (w->lanes) assay_watch_lane_barrier(context, flags);
  assay_watch_settle(context, flags);
}

// Lanes of `mask` are at a barrier of their simdgroup.
void assay_watch_simdgroup_wait(struct context *context, u32 site, u32 mask, u32 live, u32 branch) {
  struct watch *w = context->watch;
  u32 simdgroup = context->simdgroup;
  struct waiter here = {site, 0, mask, live, branch, {0, 0}};
  struct waiter *gone = &w->left[simdgroup];
  u32 absent = live & ~mask;
  if (!absent) return;
  u32 left = absent & gone->mask;
  divergence(w, context, left ? REPORT_LANES_LEFT : REPORT_LANES_ELSEWHERE, &here, simdgroup,
             gone, simdgroup, left ? gone->site : branch, left ? left : absent);
}

// Lanes of `mask` leave the kernel.
void assay_watch_leave(struct context *context, u32 site, u32 mask) {
  struct waiter *p = &context->watch->left[context->simdgroup];
  if (!p->mask) p->site = site;
  p->mask |= mask;
}

// A fence of the calling simdgroup that orders what other simdgroups published before it.
void assay_watch_fence(struct context *context, u32 flags) {
  struct watch *w = context->watch;
  if (flags & MEM_DEVICE) w->device_fenced = 1;
  if (flags & MEM_THREADGROUP) w->arena_fenced = 1;
  assay_watch_settle(context, flags);
}

static void check_lanes(struct watch *w, struct context *context, u32 simdgroup) {
  struct waiter *p = &w->waiting[simdgroup], *gone = &w->left[simdgroup];
  u32 absent = p->live & ~p->mask;
  if (!absent) return;
  if (absent & gone->mask)
    divergence(w, context, REPORT_LANES_LEFT, p, simdgroup, gone, simdgroup, gone->site,
               absent & gone->mask);
  else
    divergence(w, context, REPORT_LANES_ELSEWHERE, p, simdgroup, p, simdgroup, p->branch, absent);
}

static void pass_barrier(struct watch *w, u32 flags) {
  w->barriers++;
  if (w->arena_epoch < EPOCH_LIMIT) w->arena_epoch++;
  if (w->device_epoch < EPOCH_LIMIT) w->device_epoch++;
  if (flags & MEM_DEVICE) w->device_covered = w->device_epoch;
  if (!(flags & MEM_THREADGROUP)) return;
  order_copies(w);
  w->arena_covered = w->arena_epoch;
  if (w->arena_epoch < EPOCH_LIMIT / 2) return;
  // Everything before is ordered: forget it, so that epochs never run out.
  w->run = w->run + 1 & GROUP_MASK;
  w->arena_epoch = w->arena_covered = 0;
}

// Operations since the last barrier that not all simdgroups called, or not as often.
static void check_operations(struct watch *w, struct context *context, u32 simdgroups) {
  for (u32 n = 0; n < w->operation_count; n++) {
    struct operation *o = &w->operations[n];
    u32 most = 0, callers = 0;
    for (u32 i = 0; i < simdgroups; i++)
      if (o->calls[i] > most) most = o->calls[i];
    for (u32 i = 0; i < simdgroups; i++)
      if (o->calls[i] == most) callers |= 1u << i;
    if ((u32)__builtin_popcount(callers) == simdgroups) continue;
    context->simdgroup = (u32)__builtin_ctz(callers);
    report(w, context, REPORT_PARTIAL_TENSOR_SCOPE, o->site, 0, (u64)o->cause << SITE_SHIFT, 0,
           w->barriers, callers);
  }
  w->operation_count = 0;
}

// Puts those that met among the others, to be compared with them.
static void part(struct watch *w) {
  for (u32 met = w->met; met; met &= met - 1) w->waiting[__builtin_ctz(met)] = w->meeting;
  w->met = 0;
}

static void compare_waiters(struct watch *w, struct context *context, u32 simdgroups) {
  u32 first = LANES;
  for (u32 i = 0; i < simdgroups && first == LANES; i++)
    if (w->waiting[i].mask) first = i;
  if (first == LANES) return;
  struct waiter *reference = &w->waiting[first];
  u32 flags = reference->flags;
  for (u32 i = 0; i < simdgroups; i++) {
    struct waiter *p = &w->waiting[i];
    if (p->mask) {
      check_lanes(w, context, i);
      if (p->site != reference->site)
        divergence(w, context, REPORT_OTHER_BARRIER, p, i, reference, first, reference->site, 0);
      flags &= p->flags;
    } else {
      struct waiter *gone = &w->left[i];
      divergence(w, context, REPORT_SIMDGROUP_LEFT, reference, first, gone, i,
                 reference->branch ? reference->branch : gone->site, gone->mask);
    }
  }
  for (u32 i = 0; i < simdgroups; i++) w->waiting[i].mask = 0;
  pass_barrier(w, flags);
}

// All simdgroups wait or have ended.
void assay_watch_round(struct context *context, u32 simdgroups) {
  struct watch *w = context->watch;
  check_operations(w, context, simdgroups);
  if (w->met == ~0u >> (LANES - simdgroups)) {
    w->met = 0;
    pass_barrier(w, w->meeting.flags);
    return;
  }
  part(w);
  compare_waiters(w, context, simdgroups);
}
