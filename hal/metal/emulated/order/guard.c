// Sees the host's accesses to memory that is closed to it while the device may use it.
//
// An access to a closed page faults. The handler notes it, opens the page, lets the processor do
// this one instruction by its trap flag, and then the page is closed again. After a great many
// faults pages stay open, so that large arrays do not take for ever.

#include "guard.h"

#define READ 1
#define WRITE 2

// Of the general registers in the ucontext_t of Linux on x86-64.
#define REGISTER(context, n) (*(u64 *)((u8 *)(context) + 40 + 8 * (n)))
#define FLAGS 17
#define ERROR 19
#define TRAP 0x100ull
#define FAULT_CODE(info) (*(i32 *)((u8 *)(info) + 8))
#define FAULT_ADDRESS(info) (*(u64 *)((u8 *)(info) + 16))

static struct guard *G;

static struct region *region_at(u64 address) {
  for (u64 i = 0; i < REGIONS; i++) {
    struct region *r = &G->regions[i];
    if (r->level != LEVEL_FREE && address - r->start < r->size) return r;
  }
  return 0;
}

static void set_rights(u64 page, i32 rights) {
  ((i32(*)(u64, u64, i32))G->protect)(page, PAGE, rights);
}

// Asks Python for the line of the access. Nothing may be collected meanwhile: what was interrupted
// may be half-way through making an object.
static void locate(void) {
  i32 collects = ((i32(*)(void))G->stop_collecting)();
  ((i32(*)(u64))G->locate)(0);
  if (collects) ((i32(*)(void))G->collect)();
}

static void note(u64 address, u64 is_write, u32 thread) {
  u64 at = __atomic_fetch_add(&G->fault_count, 1, __ATOMIC_ACQ_REL);
  struct fault *f = &G->faults[at % FAULTS];
  f->address = address;
  f->is_write = (u32)is_write;
  f->thread = thread;
  // The host side looks at what was done as soon as it can. Then the program may be a line further
  // on, so that its line is asked for now, unless Python runs something else meanwhile.
  if (__atomic_exchange_n(&G->is_asked, 1, __ATOMIC_ACQ_REL)) return;
  if (((i32(*)(void))G->holds_python)()) locate();
  ((i32(*)(u64, u64))G->ask)(G->answer, 0);
}

// Remembers a page that this thread closes after one instruction; 0 if there is no room.
static int keep_open(u64 page, u32 thread) {
  for (u64 i = 0; i < OPENED; i++) {
    struct opened *o = &G->opened[i];
    u32 none = 0;
    if (!__atomic_compare_exchange_n(&o->thread, &none, thread, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    o->page = page;
    return 1;
  }
  return 0;
}

void assay_guard_fault(i32 number, void *info, void *context) {
  u64 address = FAULT_ADDRESS(info);
  struct region *r = region_at(address);
  if (!r) {
    // If another thread has opened the memory meanwhile, the instruction is done when it runs again.
    u32 strays = __atomic_fetch_add(&G->stray_count, 1, __ATOMIC_RELAXED);
    if (FAULT_CODE(info) > 0 && strays < STRAYS) return;
    // Not ours: the handler that was there before gets it when the instruction runs again.
    ((i32(*)(i32, u64, u64))G->set_handler)(number, G->before_fault, 0);
    return;
  }
  u64 page = address / PAGE * PAGE;
  u32 thread = ((u32(*)(void))G->thread_id)();
  note(address, REGISTER(context, ERROR) & 2 ? 1 : 0, thread);
  if (r->fault_count++ < STEPS && keep_open(page, thread)) REGISTER(context, FLAGS) |= TRAP;
  set_rights(page, READ | WRITE);
}

void assay_guard_trap(i32 number, void *info, void *context) {
  u32 thread = ((u32(*)(void))G->thread_id)();
  int found = 0;
  for (u64 i = 0; i < OPENED; i++) {
    struct opened *o = &G->opened[i];
    if (__atomic_load_n(&o->thread, __ATOMIC_ACQUIRE) != thread) continue;
    struct region *r = region_at(o->page);
    if (r && r->level != LEVEL_OPEN) set_rights(o->page, r->level == LEVEL_READ_ONLY ? READ : 0);
    __atomic_store_n(&o->thread, 0, __ATOMIC_RELEASE);
    found = 1;
  }
  if (found)
    REGISTER(context, FLAGS) &= ~TRAP;
  else
    ((i32(*)(i32, u64, u64))G->set_handler)(number, G->before_trap, 0);
}

void assay_guard_start(struct guard *g) { G = g; }
