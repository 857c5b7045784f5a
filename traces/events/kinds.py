"""The event kinds and causes of Assay, each declared once.

Recorders make columns from them, writers and viewers arguments, `manual` the reference page.
"""

from __future__ import annotations

from .errors import TraceError
from .schema import Argument, Cause, Form, Group, Kind, Type

CAUSES: dict[str, Cause] = {}
"""Why time passes, by name."""

KINDS: dict[str, Kind] = {}
"""Every kind by name."""


def _cause(name: str, group: Group, text: str) -> str:
    CAUSES[name] = Cause(name=name, group=group, text=text)
    return name


def _declare(kind: Kind) -> Kind:
    if kind.name in KINDS:
        raise TraceError(f"kind {kind.name} is declared twice")
    KINDS[kind.name] = kind
    return kind


def _slice(
    name: str,
    category: str,
    text: str,
    *arguments: Argument,
    overlapping: bool = False,
    tiled: bool = False,
    caused: bool = False,
    around: bool = False,
) -> Kind:
    return _declare(
        Kind(
            name=name,
            form=Form.SLICE,
            category=category,
            text=text,
            arguments=arguments,
            overlapping=overlapping,
            tiled=tiled,
            caused=caused,
            around=around,
        )
    )


def _event(form: Form, name: str, category: str, text: str, *arguments: Argument) -> Kind:
    return _declare(Kind(name=name, form=form, category=category, text=text, arguments=arguments))


def _text(name: str, text: str) -> Argument:
    return Argument(name, text, type=Type.TEXT)


BUSY = _cause("busy", Group.BUSY, "working")
ISSUE = _cause("issue", Group.BUSY, "instructions issue or occupy their pipe")
DEPENDENCY = _cause("dependency", Group.STALLED, "a result of an earlier instruction is not there")
UNIT = _cause("unit", Group.STALLED, "the unit is occupied by others")
L1 = _cause("l1", Group.STALLED, "memory, served by the L1 cache")
L2 = _cause("l2", Group.STALLED, "memory, served by the L2 cache")
SLC = _cause("slc", Group.STALLED, "memory, served by the system level cache")
DRAM = _cause("dram", Group.STALLED, "memory, served by DRAM")
THREADGROUP_MEMORY = _cause("threadgroup_memory", Group.STALLED, "threadgroup memory")
ATOMIC = _cause("atomic", Group.STALLED, "atomics to the same place, one after the other")
BARRIER = _cause("barrier", Group.STALLED, "other simdgroups have not reached the barrier")
LAUNCH = _cause("launch", Group.STALLED, "start of a dispatch, a threadgroup or a task")
QUEUE = _cause("queue", Group.STALLED, "earlier work in the queue is not done")
HOST = _cause("host", Group.STALLED, "the host has not asked, or not answered, yet")
DEVICE = _cause("device", Group.STALLED, "the host waits for the device")
EVENT = _cause("event", Group.STALLED, "an event, fence or semaphore is not signalled")
CONFIGURATION = _cause("configuration", Group.STALLED, "configuration words are fetched")
DMA_WAIT = _cause("dma", Group.STALLED, "a DMA transfer is not done")
BUS = _cause("bus", Group.STALLED, "a bus or memory port is shared with others")
PRODUCER = _cause("producer", Group.STALLED, "the unit that delivers the data is slower")
CONSUMER = _cause("consumer", Group.STALLED, "the unit that takes the data is slower")
IDLE = _cause("idle", Group.IDLE, "nothing to do")

# The host and its queues.
HOST_CALL = _slice(
    "host_call",
    "host",
    "One call of the host into the API.",
    _text("receiver", "object that is called"),
    _text("details", "arguments of the call, for people"),
)
HOST_WAIT = _slice("host_wait", "host", "The host waits.", caused=True)
COMMAND_BUFFER = _slice(
    "command_buffer",
    "queue",
    "One command buffer, from its start on the device to its completion.",
    Argument("index", "number among the command buffers of the queue"),
    Argument("commands", "dispatches, copies and fills in it"),
    overlapping=True,
    around=True,
)
ENCODER = _slice(
    "encoder",
    "queue",
    "One encoder of a command buffer.",
    Argument("index", "number in the command buffer"),
    around=True,
)
OVERHEAD = _slice("overhead", "launch", "Time between commands.", caused=True)
DISPATCH = _slice(
    "dispatch",
    "dispatch",
    "One dispatch, from the first threadgroup started to the last one finished.",
    Argument("grid_x", "threadgroups in x"),
    Argument("grid_y", "threadgroups in y"),
    Argument("grid_z", "threadgroups in z"),
    Argument("threads", "threads of one threadgroup"),
    Argument("threadgroup_memory", "threadgroup memory of one threadgroup", "B"),
    Argument("occupancy", "simdgroups that are resident on one core"),
    _text("limiter", "what limits the occupancy"),
    Argument("flops", "floating-point operations", "FLOP"),
    Argument("bytes", "bytes moved from and to device memory", "B"),
    overlapping=True,
)
TRANSFER = _slice(
    "transfer",
    "memory",
    "One copy or fill by the device.",
    Argument("bytes", "payload", "B"),
    overlapping=True,
)

# A GPU core.
SHARE = _slice(
    "share",
    "compute",
    "Time of one partition of a core with one cause; short times are gathered by cause.",
    caused=True,
    overlapping=True,
)
THREADGROUP = _slice(
    "threadgroup",
    "dispatch",
    "One threadgroup on its core, from launch to retirement.",
    Argument("x", "position in the grid"),
    Argument("y", "position in the grid"),
    Argument("z", "position in the grid"),
    overlapping=True,
    around=True,
)
PHASE = _slice(
    "phase",
    "compute",
    "Time of one simdgroup in one function of the source, by whose name it goes.",
    Argument("line", "line of the source"),
    _text("file", "file of the source"),
    tiled=True,
)
STEP = _slice(
    "step",
    "compute",
    "Time of one simdgroup with one cause.",
    Argument("line", "line of the source"),
    _text("file", "file of the source"),
    caused=True,
)
BARRIER_WAIT = _slice(
    "barrier_wait",
    "sync",
    "A simdgroup waits at a barrier.",
    Argument("epoch", "barriers that the threadgroup has passed"),
    Argument("line", "line of the source"),
    _text("file", "file of the source"),
    _text("waiting_for", "the simdgroup that came last, and what it was doing"),
    caused=True,
)
ARRAY_USE = _slice(
    "array_use",
    "memory",
    "An array in threadgroup memory, or one stage of a ring, is written or read in an epoch.",
    Argument("epoch", "barriers that the threadgroup has passed"),
    Argument("stage", "stage of the ring"),
    Argument("bytes", "bytes moved", "B"),
    _text("access", "write, read or both"),
    overlapping=True,
)

# Memory and data movement.
ALLOCATION = _slice(
    "allocation",
    "memory",
    "A range of a memory holds one thing: an array, a tensor, a buffer.",
    Argument("offset", "first byte", "B"),
    Argument("bytes", "size", "B"),
    overlapping=True,
)
DMA = _slice(
    "dma",
    "memory",
    "One DMA descriptor, from the first read to the last write.",
    Argument("bytes", "payload", "B"),
    Argument("source", "address of the first byte that is read", "address"),
    Argument("destination", "address of the first byte that is written", "address"),
    Argument("task", "number of the task that started it"),
    _text("tensor", "tensor that is moved"),
    overlapping=True,
)

# The NPU.
TASK = _slice(
    "task",
    "dispatch",
    "One task of the NPU's sequencer, from its fetch to its end.",
    Argument("index", "number of the task in its stream"),
    Argument("address", "address of the task", "address"),
    _text("operation", "operation of the model"),
    around=True,
)
SLICE_PROGRAM = _slice(
    "slice_program",
    "compute",
    "One program on an NPU slice, from start to completion.",
    Argument("task", "number of the task that started it"),
    Argument("alu_cycles", "cycles in which the multipliers work", "cycle"),
    Argument("act_cycles", "cycles in which the activation units work", "cycle"),
    Argument("macs", "multiplications and additions", "MAC"),
    _text("operation", "operation of the model"),
    tiled=True,
)
AGENT = _slice(
    "agent",
    "memory",
    "One NDL agent moves data between memory and the datapath.",
    Argument("bytes", "payload", "B"),
    Argument("address", "address of the first byte", "address"),
    overlapping=True,
)
UNIT_STEP = _slice(
    "unit_step",
    "compute",
    "Time of one unit with one cause.",
    Argument("task", "number of the task"),
    caused=True,
)
PROCESSOR_PROGRAM = _slice(
    "processor_program",
    "compute",
    "One program on a processor of the NPU.",
    Argument("task", "number of the task that started it"),
    _text("operation", "operation of the model"),
)

# Points in time.
SUBMIT = _event(
    Form.INSTANT,
    "submit",
    "queue",
    "Work is handed to the device.",
    Argument("index", "number of the submission"),
)
SIGNAL = _event(
    Form.INSTANT,
    "signal",
    "sync",
    "An event, fence or semaphore takes a value.",
    Argument("value", "the value"),
)
INTERRUPT = _event(
    Form.INSTANT, "interrupt", "sync", "A device interrupts.", Argument("bits", "interrupt bits")
)
FINDING = _event(
    Form.INSTANT,
    "finding",
    "finding",
    "A check has found something.",
    _text("message", "what was found"),
    _text("site", "place in the source"),
)
MARKER = _event(Form.INSTANT, "marker", "marker", "A mark set by the program.")
UNSEEN = _event(
    Form.INSTANT,
    "unseen",
    "marker",
    "From here on work of a core goes on that the trace does not show.",
    Argument("ticks", "for how long"),
    Argument("seen", "how long before it could be seen"),
)

COUNTER = _event(Form.COUNTER, "counter", "counter", "A value that holds until the next one.")

# From slice to slice.
SUBMISSION = _event(
    Form.FLOW, "submission", "queue", "From the call that asks to what it asks for."
)
DATA = _event(Form.FLOW, "data", "memory", "From what produces data to what consumes them.")
RELEASE = _event(Form.FLOW, "release", "sync", "From what was waited for to what waited.")
