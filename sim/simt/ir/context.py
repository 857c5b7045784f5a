"""The block of memory that compiled kernels and their helpers read: one layout, written once."""

from __future__ import annotations

from .shape import LANES

# Byte offsets in a worker's context. Pointers and i64 first, then i32.
TABLE = 0  # ptr: buffer table, entries of (host ptr, i64 size)
ARGUMENTS = 8  # ptr: entries of (host ptr, i64 bytes available, i64 GPU address, unused)
ARENA = 16  # ptr: threadgroup memory
PRIVATE = 24  # ptr: private memory of the simdgroup that runs, lanes interleaved
SCRATCH = 32  # ptr: where generated code and helpers exchange vectors
FAULT = 40  # ptr: fault record
STOP = 48  # ptr: i32 that is not zero when all workers shall stop
STATES = 56  # ptr: saved state of every simdgroup
STATE_STRIDE = 64  # i64
FUEL = 72  # i64: IR instructions that a simdgroup may run
CONSTANTS = 80  # ptr
ARENA_SIZE = 88  # i64
CONSTANTS_SIZE = 96  # i64
PRIVATE_SIZE = 104  # i64: bytes of one thread
PRIVATE_ALL = 112  # ptr: private memory of simdgroup 0
THREADGROUPS = 120  # 3 x i32: threadgroups per grid
THREADS = 132  # 3 x i32: threads per grid
ORIGIN = 144  # 3 x i32: first threadgroup of the box that is run
BOX = 156  # 3 x i32: threadgroups of the box
POSITION = 168  # 3 x i32: threadgroup that runs now
SIMDGROUP = 180  # i32: simdgroup that runs now
GRID_THREADS = 184  # i64: threads of the whole dispatch
WATCH = 192  # ptr: what watched kernels report to
ORDER = 200  # ptr: 32 x i32, the order in which a watched threadgroup's simdgroups run
FILL = 208  # i32: byte that memory which nobody has written yet holds in a watched kernel
ARENA_SHADOW = 216  # ptr: not 0 where a watched kernel has not written threadgroup memory
SHADOWS = 224  # ptr: by handle, i64 host address of a buffer's shadow or 0
FLOOR = (
    232  # i64: a loop goes on while more fuel than this is left; 0 but when stopped from outside
)
READ_ONLY = 240  # ptr: by handle, a byte that is not 0 if nobody should write to the buffer
RECORDER = 248  # ptr: where a recorded kernel leaves what it does
CONTEXT_SIZE = 256

ARGUMENT_STRIDE = 32
ARGUMENT_WATCHED = 24  # i64: not 0 if the argument's buffer has a shadow
TABLE_ENTRIES = 1 << 16

# GPU addresses: a handle above 48 bits of offset. These handles are not buffers.
HANDLE_SHIFT = 48
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
