"""Rows of memory: streams, working sets, chains of pointers, threadgroup memory, atomics."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from .cases import Case, Predict, Status
from .launches import Buffer, Bytes, Launch, kernel_text, number, per_thread, size
from .machine import Machine
from .published import Row

BANDWIDTH, LATENCY, CORE = "bandwidth", "memory latency", "threadgroup memory and atomics"
_LARGE = 1 << 28  # bytes of an array that no cache holds
_LINE = 128
_MiB = 1 << 20


def stream(kernel: str, reads: int, writes: int, bytes_each: int = _LARGE, **macros: int) -> Launch:
    """An elementwise kernel over arrays of `bytes_each`."""
    per_element = 4 if kernel in ("copy", "add", "gather_stride") else 16
    per_element *= macros.get("SPAN", 1)
    return Launch(
        source=kernel_text("memory", **macros),
        kernel=kernel,
        arguments=(Buffer(bytes=bytes_each),) * (reads + writes),
        threadgroups=per_thread(bytes_each // per_element, 256),
        threads=size(256),
    )


def read(bytes_each: int = _LARGE, rounds: int = 4) -> Launch:
    """Everything read once."""
    return Launch(
        source=kernel_text("memory"),
        kernel="read",
        arguments=(Buffer(bytes=bytes_each), Buffer(bytes=_MiB), number(rounds)),
        threadgroups=per_thread(bytes_each // 16 // rounds, 256),
        threads=size(256),
    )


def rate(launch: Launch, moved: float, unit: float = 1e9) -> Predict:
    """Bytes per second in multiples of `unit`, one dispatch after another."""
    return lambda machine: moved / machine.in_turn(launch) / unit


def rate_of_passes(launch: Launch, moved: float, unit: float = 1e9) -> Predict:
    """The same, each dispatch in a pass of its own."""
    return lambda machine: moved / machine.in_own_pass(launch) / unit


def warm(launch: Launch) -> Launch:
    """The same when it has just been run."""
    from dataclasses import replace

    return replace(launch, warm=True)


def chase(working_set: int) -> Launch:
    """One simdgroup follows pointers through lines of the working set in a random order."""
    lines = working_set // _LINE
    steps = 8 * max(64, min(2 * lines, 1 << 17) // 8)
    return Launch(
        source=kernel_text("memory"),
        kernel="chase",
        arguments=(
            Buffer(bytes=working_set, fill=_FILLS.setdefault(steps, partial(_cycle, steps=steps))),
            Buffer(bytes=4096),
            number(steps),
        ),
        threadgroups=size(1),
        threads=size(32),
        warm=True,
    )


_FILLS: dict[int, partial[None]] = {}


def _cycle(data: Bytes, *, steps: int) -> None:
    """A cycle through all lines in random order, or through as many of them as are visited."""
    lines = data.size // _LINE
    visited = min(lines, steps + 1)
    rng = np.random.default_rng(1)
    order = rng.permutation(lines) if lines <= 1 << 22 else rng.choice(lines, visited, False)
    order = order[:visited]
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0])) if 0 in order else order
    order[0] = 0
    words = data.view(np.uint32)
    words[order * (_LINE // 4)] = np.roll(order, -1) * (_LINE // 4)


def chase_ns(working_set: int) -> Predict:
    """Nanoseconds of a step."""
    launch = chase(working_set)
    steps = int(launch.arguments[2].values[0])  # type: ignore[union-attr]
    return lambda machine: machine.seconds(launch) / steps * 1e9


def in_core(
    kernel: str,
    *,
    rounds: int,
    groups: int,
    threads: int,
    taken: int | None = None,
    **macros: int | str,
) -> Launch:
    """A kernel of core.metal."""
    extra = () if taken is None else (number(taken),)
    return Launch(
        source=kernel_text("core", **macros),
        kernel=kernel,
        arguments=(Buffer(bytes=max(4096, _LINE + 4 * groups * threads)), number(rounds), *extra),
        threadgroups=size(groups),
        threads=size(threads),
        warm=True,
    )


def difference(machine: Machine, make: partial[Launch], rounds: tuple[int, int] = (8, 24)) -> float:
    """Seconds per round, without what starting and ending takes."""
    short, long = (machine.seconds(make(rounds=n)) for n in rounds)
    return (long - short) / (rounds[1] - rounds[0])


def strided(machine: Machine, stride: int) -> float:
    """Seconds per round of 16 words of each lane, 1024 threads per core."""
    make = partial(in_core, "strided", groups=4 * machine.cores, threads=256, STRIDE=stride)
    return difference(machine, make)


def strided_rate(stride: int) -> Predict:
    """Useful GB/s of all cores."""
    return lambda machine: 16 * 4 * 256 * 4 * machine.cores / strided(machine, stride) / 1e9


def strided_ratio(stride: int) -> Predict:
    """Time relative to stride 1."""
    return lambda machine: strided(machine, stride) / strided(machine, 1)


def device_atomics(addresses: int, spacing: int = 1) -> Predict:
    """10^9 operations of lanes per second."""
    threads, rounds = 1 << 18, 16
    words = max(threads if addresses == 0 else addresses * spacing, 32)
    launch = Launch(
        source=kernel_text("memory", ADDRESSES=addresses, SPACING=spacing),
        kernel="atomics",
        arguments=(Buffer(bytes=4 * words), number(rounds)),
        threadgroups=per_thread(threads, 256),
        threads=size(256),
        warm=True,
    )
    return lambda machine: threads * rounds / machine.in_turn(launch) / 1e9


def threadgroup_atomics(addresses: int) -> Predict:
    """10^9 operations of lanes per second."""

    def predict(machine: Machine) -> float:
        groups = 4 * machine.cores
        make = partial(
            in_core, "threadgroup_atomics", groups=groups, threads=256, ADDRESSES=addresses
        )
        return 4 * 256 * groups / difference(machine, make) / 1e9

    return predict


def chain_ns(kernel: str, per_round: int, threads: int = 32) -> Predict:
    """Nanoseconds of one of what a kernel does `per_round` times in a round, alone."""
    make = partial(in_core, kernel, groups=1, threads=threads)
    return lambda machine: difference(machine, make) / per_round * 1e9


def _atomic_chain_ns(machine: Machine) -> float:
    def make(rounds: int) -> Launch:
        return Launch(
            source=kernel_text("memory"),
            kernel="atomic_chain",
            arguments=(Buffer(bytes=4096), Buffer(bytes=4096), number(rounds)),
            threadgroups=size(1),
            threads=size(1),
            warm=True,
        )

    return (machine.seconds(make(96)) - machine.seconds(make(32))) / 64 * 1e9


def _gather_rate(machine: Machine) -> float:
    threads, rounds = 1 << 18, 16
    launch = _gather(threads, rounds)
    return threads * rounds / machine.in_turn(launch) / 1e9


def _gather(threads: int, rounds: int) -> Launch:
    words = 16 * _MiB
    return Launch(
        source=kernel_text("memory"),
        kernel="gather",
        arguments=(
            Buffer(bytes=4 * words),
            Buffer(bytes=4 * threads),
            number(words),
            number(rounds),
        ),
        threadgroups=per_thread(threads, min(threads, 256)),
        threads=size(min(threads, 256)),
        warm=True,
    )


_KIB = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1 << 10, "MB": 1 << 20}
_FITTED, _COUNTED, _SHOWN = Status.FITTED, Status.COUNTED, Status.SHOWN

# Workload -> group, status, why, prediction.
_Entry = tuple[str, Status, str, Predict]
_FIXED: dict[str, _Entry] = {
    "mem read": (BANDWIDTH, _FITTED, "", rate(read(), _LARGE)),
    "mem copy": (BANDWIDTH, _FITTED, "", rate(stream("copy", 1, 1), 2 * _LARGE)),
    "mem/copy fp32 large": (BANDWIDTH, _FITTED, "", rate(stream("copy", 1, 1), 2 * _LARGE)),
    "mem/add fp32": (BANDWIDTH, _COUNTED, "", rate(stream("add", 2, 1), 3 * _LARGE)),
    # The source's text: these are sums of two arrays; the small ones 50 times in a command buffer,
    # where "dispatch overhead dominates" at 18 us, so each is in a pass of its own.
    "mem/copy, 32 B per thread contiguous": (
        BANDWIDTH,
        _COUNTED,
        "",
        rate(stream("add_span", 2, 1, SPAN=2), 3 * _LARGE),
    ),
    "mem/copy, 64 B per thread contiguous": (
        BANDWIDTH,
        _COUNTED,
        "",
        rate(stream("add_span", 2, 1, SPAN=4), 3 * _LARGE),
    ),
    "mem/float4 read": (BANDWIDTH, _COUNTED, "", rate(read(), _LARGE)),
    "mem/copy 1 MB working set": (
        BANDWIDTH,
        _COUNTED,
        "",
        rate_of_passes(warm(stream("add_span", 2, 1, _MiB)), 3 * _MiB),
    ),
    "mem/copy 4 MB arrays": (
        BANDWIDTH,
        _COUNTED,
        "",
        rate_of_passes(warm(stream("add_span", 2, 1, 4 * _MiB)), 12 * _MiB),
    ),
    "stream/DRAM read": (BANDWIDTH, _FITTED, "", rate(read(), _LARGE)),
    "stream/DRAM write": (BANDWIDTH, _FITTED, "", rate(stream("write", 0, 1), _LARGE)),
    "stream/DRAM copy": (BANDWIDTH, _COUNTED, "", rate(stream("copy", 1, 1), 2 * _LARGE)),
    "stream/4-32 MiB working-set read": (
        BANDWIDTH,
        _SHOWN,
        "the source takes them for hits in L1, of a kernel it does not show",
        rate(warm(read(4 * _MiB)), 4 * _MiB),
    ),
    "attainable GPU read bandwidth": (BANDWIDTH, _FITTED, "", rate(read(), _LARGE)),
    "GPU STREAM": (BANDWIDTH, _FITTED, "", rate(stream("triad", 2, 1), 3 * _LARGE)),
    "L2 bandwidth": (
        BANDWIDTH,
        _SHOWN,
        "the source gives a bound only",
        rate(warm(read(_MiB)), _MiB),
    ),
    "pointer chase in SLC": (LATENCY, _FITTED, "", chase_ns(16 * _MiB)),
    "pointer chase 128 MB": (LATENCY, _FITTED, "", chase_ns(128 * _MiB)),
    "tgmem latency": (CORE, _FITTED, "", chain_ns("threadgroup_chase", 8)),
    "atomics/device, 1 address": (CORE, _FITTED, "", device_atomics(1)),
    "atomics/device, 32 addresses padded": (CORE, _FITTED, "", device_atomics(32, 32)),
    "atomics/device, 32 addresses unpadded": (CORE, _FITTED, "", device_atomics(32)),
    "atomics/device, 1024 addresses": (CORE, _FITTED, "", device_atomics(1024)),
    "atomics/device, one per thread": (CORE, _FITTED, "", device_atomics(0)),
    "atomics/threadgroup, 1 address": (CORE, _FITTED, "", threadgroup_atomics(1)),
    "atomics/threadgroup, 32+ addresses": (CORE, _FITTED, "", threadgroup_atomics(32)),
    "microbench/pointer chase L1": (LATENCY, _FITTED, "", chase_ns(4 << 10)),
    "microbench/threadgroup store-to-load": (CORE, _FITTED, "", chain_ns("store_to_load", 8)),
    "microbench/threadgroup_barrier": (CORE, _FITTED, "", chain_ns("barriers", 16)),
    "microbench/threadgroup atomic": (
        CORE,
        _FITTED,
        "",
        chain_ns("threadgroup_atomic_chain", 1, threads=1),
    ),
    "microbench/device atomic": (CORE, _FITTED, "", _atomic_chain_ns),
    "gather, 64 MiB table": (LATENCY, _FITTED, "", _gather_rate),
    "mem/stride-33 gather useful bytes": (
        BANDWIDTH,
        _FITTED,
        "",
        lambda machine: (
            _LARGE
            / machine.in_turn(_gather_stride())
            / 1e9  # 4 bytes read and 4 written
            * 2
        ),
    ),
}
_CHASE = re.compile(r"pointer chase,? (?:working set )?(\d+) (KiB|MiB|GiB|KB|MB)")
_STRIDE = re.compile(r"tgmem (?:read, )?word stride (\d+)")


def _gather_stride() -> Launch:
    count = _LARGE // 4
    launch = stream("gather_stride", 1, 1)
    return Launch(
        source=launch.source,
        kernel=launch.kernel,
        arguments=(*launch.arguments, number(count)),
        threadgroups=launch.threadgroups,
        threads=launch.threads,
    )


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of memory; None if it is of another kind."""
    name = row.workload
    if name in _FIXED:
        group, status, why, predict = _FIXED[name]
    elif found := _CHASE.search(name):
        working_set = int(found[1]) * _KIB[found[2]]
        group, predict = LATENCY, chase_ns(working_set)
        moved = row.note.startswith("above 2 MiB") and working_set > 2 * _MiB
        status = _SHOWN if moved else _FITTED
        why = "the source saw it move with the clock of the fabric" if moved else ""
    elif found := _STRIDE.search(name):
        stride = int(found[1])
        group, status, why = CORE, _FITTED, ""
        predict = strided_ratio(stride) if row.metric == "time_ratio" else strided_rate(stride)
    else:
        return None
    return Case(row=row, chip=chip, group=group, status=status, why=why, predict=predict)
