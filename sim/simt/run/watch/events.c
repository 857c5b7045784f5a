// Reports of what the generated code itself finds out.

#pragma once
#include "unwritten.c"

// A simdgroup calls an operation that all simdgroups call; those of few places are counted.
static void note_operation(struct watch *w, u32 simdgroup, u32 site, u32 cause) {
  u32 n = 0;
  while (n < w->operation_count && w->operations[n].site != site) n++;
  if (n == OPERATIONS) return;
  struct operation *o = &w->operations[n];
  if (n == w->operation_count) {
    *o = (struct operation){site, cause, {0}};
    w->operation_count++;
  }
  o->calls[simdgroup]++;
}

// Lanes of `mask` saw something; `details` has a number for each lane.
void assay_watch_event(struct context *context, u32 kind, u32 site, u32 mask) {
  struct watch *w = context->watch;
  u32 *details = (u32 *)(context->scratch + SCRATCH_VALUES);
  u32 lane = (u32)__builtin_ctz(mask);
  if (kind == REPORT_UNINITIALISED) {
    report_unwritten(w, context, site, lane, details[lane]);
    return;
  }
  if (kind == REPORT_TENSOR_SCOPE) {
    report(w, context, kind, site, lane, 0, 0, w->barriers, details[lane]);
    return;
  }
  if (kind == REPORT_PARTIAL_TENSOR_SCOPE) {
    note_operation(w, context->simdgroup, site, details[lane]);
    return;
  }
  u64 other = by(w, details[lane] & 1023, lane, context->simdgroup);
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

// The lanes of `mask` are about to access `bytes` at each address in the scratch memory: reports
// more distinct words in one bank of threadgroup memory than there would be if all banks had as
// many. Lanes that name the same word have it at once.
void assay_watch_banks(struct context *context, u32 site, u32 mask, u32 bytes) {
  struct watch *w = context->watch;
  u64 *addresses = (u64 *)context->scratch, words[LANES * 16];
  u8 ways[BANKS] = {0};
  u32 found = 0, most = 0, example = 0;
  for (; mask; mask &= mask - 1) {
    u32 lane = (u32)__builtin_ctz(mask);
    u64 address = addresses[lane];
    if (address >> HANDLE_SHIFT != THREADGROUP_HANDLE) continue;
    u64 end = (address + bytes - 1) / BANK_BYTES;
    for (u64 word = address / BANK_BYTES; word <= end && found < LANES * 16; word++) {
      u32 n = 0;
      while (n < found && words[n] != word) n++;
      if (n < found) continue;
      words[found++] = word;
      u32 now = ++ways[word % BANKS];
      if (now > most) most = now, example = lane;
    }
  }
  if (most <= (found + BANKS - 1) / BANKS) return;
  report(w, context, REPORT_BANK_CONFLICT, site, example, 0, addresses[example], w->barriers, most);
  for (u64 i = 0; i < w->report_count; i++) {
    struct report *r = &w->reports[i];
    if (r->kind == REPORT_BANK_CONFLICT && r->site == site && most > r->detail) r->detail = most;
  }
}
