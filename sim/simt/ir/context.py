"""The block of memory that compiled kernels and their helpers read: one layout, written once."""

from __future__ import annotations

import ctypes

from ...native.structures import pointer
from .shape import LANES

_i32, _u32, _i64 = ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64


class TableEntry(ctypes.Structure):
    """Where a buffer is in the host's memory, and its bytes."""

    _fields_ = [("host", pointer("u8")), ("size", ctypes.c_uint64)]


class Context(ctypes.Structure):
    """What one worker's kernel is passed."""

    _fields_ = [
        ("table", pointer("struct table_entry")),  # buffers, by handle
        # entries of (host address, i64 bytes available, i64 GPU address, i64: is it watched)
        ("arguments", pointer("u64")),
        ("arena", pointer("u8")),  # threadgroup memory
        ("private_memory", pointer("u8")),  # of the simdgroup that runs, lanes interleaved
        ("scratch", pointer("u8")),  # where generated code and helpers exchange vectors
        ("fault", pointer("i32")),  # fault record
        ("stop", pointer("i32")),  # not zero when all workers are to stop
        ("states", pointer("u8")),  # saved state of every simdgroup
        ("state_stride", _i64),
        ("fuel", _i64),  # IR instructions that a simdgroup may run
        ("constants", pointer("u8")),
        ("arena_size", ctypes.c_uint64),
        ("constants_size", _i64),
        ("private_size", _i64),  # bytes of one thread
        ("private_all", pointer("u8")),  # private memory of simdgroup 0
        ("threadgroups", _u32 * 3),  # per grid
        ("threads", _i32 * 3),  # per grid
        ("origin", _i32 * 3),  # first threadgroup of the box that is run
        ("box", _i32 * 3),  # threadgroups of the box
        ("position", _u32 * 3),  # threadgroup that runs now
        ("simdgroup", _u32),  # simdgroup that runs now
        ("grid_threads", _i64),  # threads of the whole dispatch
        ("watch", pointer("struct watch")),  # what watched kernels report to
        # 32 numbers: the order in which a watched threadgroup's simdgroups run
        ("order", pointer("u32")),
        # byte that memory which nobody has written yet holds in a watched kernel
        ("fill", _i32),
        # not 0 where a watched kernel has not written threadgroup memory
        ("arena_shadow", pointer("u8")),
        ("shadows", pointer("u64")),  # by handle, host address of a buffer's shadow or 0
        # a loop goes on while more fuel than this is left; 0 but when stopped from outside
        ("floor", _i64),
        # by handle, a byte that is not 0 if nobody should write to the buffer
        ("read_only", pointer("u8")),
        ("tape_writer", pointer("struct tape_writer")),  # where a taped kernel leaves what it does
        ("reached", pointer("u8")),  # of a watched or taped kernel's blocks: a byte, 1 if it ran
    ]


# Byte offsets, for generated code.
TABLE = Context.table.offset
ARGUMENTS = Context.arguments.offset
ARENA = Context.arena.offset
PRIVATE = Context.private_memory.offset
SCRATCH = Context.scratch.offset
FAULT = Context.fault.offset
STOP = Context.stop.offset
STATES = Context.states.offset
STATE_STRIDE = Context.state_stride.offset
FUEL = Context.fuel.offset
CONSTANTS = Context.constants.offset
ARENA_SIZE = Context.arena_size.offset
CONSTANTS_SIZE = Context.constants_size.offset
PRIVATE_SIZE = Context.private_size.offset
PRIVATE_ALL = Context.private_all.offset
THREADGROUPS = Context.threadgroups.offset
THREADS = Context.threads.offset
ORIGIN = Context.origin.offset
BOX = Context.box.offset
POSITION = Context.position.offset
SIMDGROUP = Context.simdgroup.offset
GRID_THREADS = Context.grid_threads.offset
WATCH = Context.watch.offset
ORDER = Context.order.offset
FILL = Context.fill.offset
ARENA_SHADOW = Context.arena_shadow.offset
SHADOWS = Context.shadows.offset
FLOOR = Context.floor.offset
READ_ONLY = Context.read_only.offset
TAPE_WRITER = Context.tape_writer.offset
REACHED = Context.reached.offset
CONTEXT_SIZE = ctypes.sizeof(Context)

ARGUMENT_STRIDE = 40
ARGUMENT_WATCHED = 24  # i64: not 0 if accesses to the argument's buffer are recorded
ARGUMENT_SHADOW = 32  # i64: where what was not written of it is told; 0 if all of it was
TABLE_ENTRIES = 1 << 16

# GPU addresses: a handle above 48 bits of offset. These handles are not buffers.
HANDLE_SHIFT = 48
OFFSET_MASK = (1 << HANDLE_SHIFT) - 1
THREADGROUP_HANDLE = 1
PRIVATE_HANDLE = 2
CONSTANT_HANDLE = 3
FIRST_BUFFER_HANDLE = 16

# Scratch: addresses of the lanes, then values, then second operands of atomics.
SCRATCH_VALUES = 8 * LANES
MAX_COMPONENTS = 16
SCRATCH_SECOND = SCRATCH_VALUES + MAX_COMPONENTS * 8 * LANES
SCRATCH_SIZE = SCRATCH_SECOND + 8 * LANES

# Fault record: i32 kind, site, lane, simdgroup, threadgroup x, y, z, unused; i64 address.
FAULT_SIZE = 40
FAULT_READ = 1
FAULT_WRITE = 2
FAULT_RUNAWAY = 3
FAULT_MISALIGNED = 4

PRIVATE_GRANULE = 4  # bytes of one lane that lie together in private memory
