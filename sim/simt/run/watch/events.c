// Reports of what the generated code itself finds out.

#pragma once
#include "records.c"

// Lanes of `mask` saw something; `details` has a number for each lane.
void assay_watch_event(struct context *context, u32 kind, u32 site, u32 mask) {
  struct watch *w = context->watch;
  u32 *details = (u32 *)(context->scratch + SCRATCH_VALUES);
  u32 lane = (u32)__builtin_ctz(mask);
  u64 other = (u64)(details[lane] & 1023) << SITE_SHIFT | (u64)lane << LANE_SHIFT |
              (u64)context->simdgroup << SIMDGROUP_SHIFT |
              (w->group & GROUP_MASK) << GROUP_SHIFT;
  report(w, context, kind, site, lane, other, 0, w->barriers, mask);
}

// Lanes of `mask` are about to access the addresses in the scratch memory: reports those that are
// no multiples of `need`, and writes to what may only be read.
void assay_watch_place(struct context *context, u32 how, u32 site, u32 mask, u64 need) {
  struct watch *w = context->watch;
  u64 *addresses = (u64 *)context->scratch;
  u8 *read_only = context->read_only;
  for (; mask; mask &= mask - 1) {
    u32 lane = (u32)__builtin_ctz(mask);
    u64 address = addresses[lane];
    if (address & (need - 1))
      report(w, context, REPORT_MISALIGNED, site, lane, 0, address, 0, (u32)need);
    if (how & HOW_WRITE && (how & HOW_CONSTANT || read_only[address >> HANDLE_SHIFT]))
      report(w, context, REPORT_READ_ONLY_WRITE, site, lane, 0, address, 0, how);
  }
}
