"""Seeded traces of programs that never ran: a pipelined GEMM, a model on the NPU, a big mixture."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from assay.traces.events import kinds as k
from assay.traces.events.clock import Clock
from assay.traces.events.schema import Role
from assay.traces.events.trace import Trace
from assay.traces.record.recorder import Recorder

_STAGES = 3
_TILE = 8192  # bytes of the A and B tiles of one stage


def gemm(seed: int = 1, *, steps: int = 24, cores: int = 1) -> Trace:
    """A triple-buffered GEMM: two simdgroups load tiles while two others compute."""
    rng = random.Random(seed)
    clock = Clock.cycles("M4 Max GPU", 1_578_000_000)
    recorder = Recorder(clock, title="gemm_f16 1024x1024x768, tiles 64x64x32, three stages")
    host = recorder.track("host", role=Role.HOST)
    queue = recorder.track("queue", role=Role.QUEUE)
    gpu = recorder.track("M4 Max", role=Role.GROUP)
    call = recorder.slice(
        k.HOST_CALL, host, "commit", 0, 900, receiver="MTLCommandBuffer", details=""
    )
    recorder.instant(k.SUBMIT, queue, "submit", 700, index=0)
    ends = [_GemmCore(recorder, rng, gpu, core, steps).run(1600) for core in range(cores)]
    end = max(ends)
    dispatch = recorder.slice(
        k.DISPATCH,
        queue,
        "gemm_f16",
        1400,
        end - 1400,
        grid_x=16,
        grid_y=16,
        grid_z=1,
        threads=128,
        threadgroup_memory=_STAGES * _TILE,
        occupancy=4,
        limiter="threadgroup memory",
    )
    recorder.slice(k.OVERHEAD, queue, "launch", 900, 500, "launch")
    recorder.slice(k.HOST_WAIT, host, "waitUntilCompleted", 1000, end - 500, "device")
    recorder.flow(k.SUBMISSION, call, dispatch)
    return recorder.finish()


class _GemmCore:
    """One core with one threadgroup of four simdgroups, step by step between barriers."""

    def __init__(
        self, recorder: Recorder, rng: random.Random, parent: int, core: int, steps: int
    ) -> None:
        self.recorder, self.rng, self.steps = recorder, rng, steps
        self.core = recorder.track(f"core[{core}]", parent, Role.CORE)
        group = recorder.track("threadgroup (0, 0)", self.core)
        self.simdgroups = [
            recorder.track(f"simdgroup[{i}]", group, Role.SIMDGROUP) for i in range(4)
        ]
        memory = recorder.track("threadgroup memory", self.core)
        self.stages = [
            recorder.track(f"tiles[{i}]", memory, Role.ARRAY, capacity=_TILE)
            for i in range(_STAGES)
        ]
        self.bandwidth = recorder.track("DRAM", self.core, Role.COUNTER, unit="GB/s", capacity=546)
        self.occupancy = recorder.track("simdgroups", self.core, Role.COUNTER, capacity=16)

    def run(self, begin: int) -> int:
        """Record it from `begin` on; returns when it ends."""
        recorder, now = self.recorder, begin
        recorder.counters()(self.occupancy, begin, 4.0)
        recorder.counters()(self.bandwidth, 0, 0.0)
        loaded: dict[int, list[int]] = {}
        for step in range(self.steps + _STAGES - 1):
            ends = []
            parts: dict[int, list[int]] = {}
            for number in range(4):
                end, reference = self._work(number, step, now)
                ends.append(end)
                if reference >= 0:
                    parts.setdefault(int(number >= 2), []).append(reference)
            for consumer in parts.get(1, []):
                for producer in loaded.get(step - _STAGES + 1, []):
                    recorder.flow(k.DATA, producer, consumer)
            loaded[step] = parts.get(0, [])
            now = self._barrier(step, ends)
        now = self._store(now)
        recorder.counters()(self.occupancy, now, 0.0)
        recorder.counters()(self.bandwidth, now, 0.0)
        return now

    def _work(self, number: int, step: int, now: int) -> tuple[int, int]:
        """What a simdgroup does between two barriers. Returns its end and a reference, or -1."""
        loads = number < 2
        tile = step if loads else step - _STAGES + 1
        if not 0 <= tile < self.steps:
            return now, -1
        name = ("load_A_tile", "load_B_tile")[number] if loads else "compute_tile"
        parts = self._load_steps() if loads else self._compute_steps()
        length = sum(duration for _, duration in parts)
        track, line = self.simdgroups[number], (31, 44)[number] if loads else 58
        reference = self.recorder.slice(
            k.PHASE, track, name, now, length, line=line, file="gemm.metal"
        )
        at = now
        for cause, duration in parts:
            self.recorder.slice(
                k.STEP, track, cause, at, duration, cause, line=line + 2, file="gemm.metal"
            )
            at += duration
        stage = self.stages[tile % _STAGES]
        self.recorder.slice(
            k.ARRAY_USE,
            stage,
            f"{'A' if number == 0 else 'B'} tile {tile}" if loads else f"tile {tile}",
            now,
            length,
            epoch=step,
            stage=tile % _STAGES,
            bytes=_TILE // 2,
            access="write" if loads else "read",
        )
        if number == 0:
            self.recorder.counters()(self.bandwidth, now + 40, 120.0 + self.rng.randint(0, 160))
            self.recorder.counters()(self.bandwidth, now + length - 60, 15.0)
        return at, reference

    def _load_steps(self) -> list[tuple[str, int]]:
        level = self.rng.choices(("dram", "slc", "l2"), (5, 2, 3))[0]
        wait = {"dram": 300, "slc": 190, "l2": 110}[level] + self.rng.randint(-30, 40)
        return [("issue", 48), (level, wait), ("issue", 40), ("threadgroup_memory", 36)]

    def _compute_steps(self) -> list[tuple[str, int]]:
        parts = []
        for _ in range(4):
            parts += [("threadgroup_memory", 22), ("issue", 64 + self.rng.randint(-4, 8))]
        return [*parts, ("dependency", 12)]

    def _barrier(self, step: int, ends: list[int]) -> int:
        last = max(ends)
        slowest = ends.index(last)
        for number, end in enumerate(ends):
            if end < last:
                self.recorder.slice(
                    k.BARRIER_WAIT,
                    self.simdgroups[number],
                    "barrier",
                    end,
                    last - end,
                    "barrier",
                    epoch=step,
                    line=72,
                    file="gemm.metal",
                    waiting_for=f"simdgroup[{slowest}]",
                )
        return last + 6

    def _store(self, now: int) -> int:
        ends = []
        for number in (2, 3):
            length = 260 + self.rng.randint(0, 60)
            self.recorder.slice(
                k.PHASE, self.simdgroups[number], "store_C", now, length, line=81, file="gemm.metal"
            )
            ends.append(now + length)
        self.recorder.counters()(self.bandwidth, now, 90.0)
        return max(ends)


def npu(seed: int = 1, *, layers: int = 14) -> Trace:
    """Layers of a model on the NPU: weights come in while the slices work on the layer before."""
    return _Npu(seed).run(layers)


class _Npu:
    _LRAM = 512 * 1024

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.recorder = recorder = Recorder(
            Clock.cycles("SL2610 NPU", 800_000_000), title="mobilenet_v2 int8, first layers"
        )
        self.host = recorder.track("host", role=Role.HOST)
        root = recorder.track("NPU", role=Role.GROUP)
        self.nss = recorder.track("NSS", root, Role.UNIT)
        self.read = recorder.track("XR", root, Role.DMA)
        self.write = recorder.track("XW", root, Role.DMA)
        self.cdma = recorder.track("CDMA", root, Role.DMA)
        self.slices = [recorder.track(f"slice[{i}]", root, Role.UNIT) for i in range(2)]
        self.css = recorder.track("CSS", root, Role.UNIT)
        self.lram = recorder.track("LRAM", root, Role.MEMORY, capacity=self._LRAM)
        self.bus = recorder.track("DDR", root, Role.COUNTER, unit="B/cycle", capacity=8)
        self.task = 0
        self.idle_from = 0

    def run(self, layers: int) -> Trace:
        recorder = self.recorder
        call = recorder.slice(
            k.HOST_CALL, self.host, "torq.execute", 0, 600, receiver="queue", details="1 program"
        )
        recorder.slice(k.DMA, self.cdma, "CSS code", 500, 700, bytes=6144, tensor="code")
        load_end, ready = 600, 1200
        free = [1200, 1200]  # when each slice is free
        areas = (4096, 180_224, 356_352)
        for layer in range(layers):
            half = (140 + self.rng.randint(-40, 20)) * 1024
            start = max(load_end, min(free) - 4000)
            load = self._transfer(self.read, f"weights {layer}", start, half, layer)
            load_end = start + load[1]
            if layer == 0:
                recorder.flow(k.SUBMISSION, call, load[0])
            begin = max(load_end, ready) + 60
            ends = [self._slice(i, layer, begin, load[0]) for i in range(2)]
            ready = max(ends)
            free = ends
            self._allocate(f"layer {layer}", areas[layer % 3], half, start, ready - start)
            self._task(f"load {layer}", start, 180)
            self._task(f"run {layer}", begin - 160, 160)
            if layer % 4 == 3:
                store = self._transfer(self.write, f"output {layer}", ready, 48 * 1024, layer)
                recorder.slice(
                    k.PROCESSOR_PROGRAM,
                    self.css,
                    "softmax" if layer + 1 == layers else "resize",
                    ready,
                    2600,
                    task=self.task,
                    operation="tosa.resize",
                )
                ready += min(store[1], 2600)
        recorder.instant(k.INTERRUPT, self.nss, "done", ready + 40, bits=1)
        recorder.slice(k.HOST_WAIT, self.host, "wait", 620, ready - 400, "device")
        return recorder.finish()

    def _transfer(
        self, track: int, name: str, begin: int, size: int, layer: int
    ) -> tuple[int, int]:
        rate = 4.2 + self.rng.random()
        length = int(size / rate / 4)
        reference = self.recorder.slice(
            k.DMA,
            track,
            name,
            begin,
            length,
            bytes=size,
            source=0x8000_0000 + layer * 0x40000,
            destination=0x1000,
            task=self.task,
            tensor=name,
        )
        self.recorder.counters()(self.bus, begin, rate)
        self.recorder.counters()(self.bus, begin + length, 0.4)
        return reference, length

    def _slice(self, number: int, layer: int, begin: int, load: int) -> int:
        recorder, track = self.recorder, self.slices[number]
        operation = ("conv2d", "depthwise", "add")[layer % 3]
        parts = [("configuration", 120), ("issue", self.rng.randint(4200, 6800))]
        parts += [("producer", self.rng.randint(300, 1500)), ("issue", 1800), ("bus", 260)]
        length = sum(duration for _, duration in parts)
        reference = recorder.slice(
            k.SLICE_PROGRAM,
            track,
            operation,
            begin,
            length,
            task=self.task,
            alu_cycles=length * 2 // 3,
            act_cycles=length // 3,
            macs=length * 256,
            operation=f"tosa.{operation}",
        )
        at = begin
        for cause, duration in parts:
            recorder.slice(k.UNIT_STEP, track, cause, at, duration, cause, task=self.task)
            at += duration
        recorder.flow(k.DATA, load, reference)
        return at

    def _allocate(self, name: str, offset: int, size: int, begin: int, length: int) -> None:
        weights, inside = size * 2 // 3, size // 3
        recorder = self.recorder
        recorder.slice(
            k.ALLOCATION, self.lram, f"{name} weights", begin, length, offset=offset, bytes=weights
        )
        recorder.slice(
            k.ALLOCATION,
            self.lram,
            f"{name} activations",
            begin + length // 4,
            length,
            offset=offset + weights,
            bytes=inside,
        )

    def _task(self, name: str, begin: int, length: int) -> None:
        begin = max(begin, self.idle_from)
        self.idle_from = begin + length
        self.recorder.slice(
            k.TASK,
            self.nss,
            name,
            begin,
            length,
            index=self.task,
            address=0x280 * (self.task % 2),
            operation="tosa.conv2d",
        )
        self.task += 1


def mixture(events: int, seed: int = 1, *, tracks: int = 200, repetitive: bool = True) -> Trace:
    """As many events as asked for: 70 % slices with arguments, 25 % counter points, 5 % flows."""
    rng = np.random.default_rng(seed)
    recorder = Recorder(Clock.cycles("M4 Max GPU", 1_578_000_000), title=f"{events:,} events")
    cores = [recorder.track(f"core[{i}]", role=Role.CORE) for i in range(tracks // 4)]
    rows = [
        recorder.track(f"simdgroup[{j}]", core, Role.SIMDGROUP) for core in cores for j in range(4)
    ]
    slices = int(events * 0.7)
    each = slices // len(rows) // 4  # per track: one phase with three steps in it
    references = [_mixed_track(recorder, rng, row, each, repetitive) for row in rows]
    counters = [
        recorder.track("DRAM", core, Role.COUNTER, unit="GB/s", capacity=546) for core in cores
    ]
    points = int(events * 0.25) // len(counters)
    gap = max(220 * each // points, 2)  # a phase and the gap behind it take 220 ticks or so
    for counter in counters:
        time = np.cumsum(rng.integers(gap // 2, gap * 3 // 2 + 1, points))
        value = rng.integers(0, 546, points).astype(np.float64)
        recorder.counters().extend(track=counter, time=time, value=value)
    _mixed_flows(recorder, references, int(events * 0.05))
    return recorder.finish()


def _mixed_track(
    recorder: Recorder, rng: np.random.Generator, track: int, phases: int, repetitive: bool
) -> NDArray[np.int64]:
    steps = rng.integers(10, 120, (phases, 3))
    gaps = rng.integers(0, 60, phases)
    length = steps.sum(axis=1)
    begin = np.cumsum(length + gaps) - length
    names = [
        ("load_A_tile", "load_B_tile", "compute_tile", "store_C")[i % 4] for i in range(phases)
    ]
    line = rng.integers(20, 90, phases) if repetitive else rng.integers(0, 2**32, phases)
    references = recorder.slices(k.PHASE).extend(
        track=track, name=names, begin=begin, duration=length, line=line, file="gemm.metal"
    )
    causes = ("issue", "dram", "barrier")
    for place, cause in enumerate(causes):
        line = line if repetitive else rng.integers(0, 2**32, phases)
        recorder.slices(k.STEP).extend(
            track=track,
            name=cause,
            begin=begin + steps[:, :place].sum(axis=1),
            duration=steps[:, place],
            cause=cause,
            line=line,
            file="gemm.metal",
        )
    return references


def _mixed_flows(recorder: Recorder, phases: list[NDArray[np.int64]], count: int) -> None:
    """From phases to the next ones of the neighbouring track."""
    each = min(count // len(phases), len(phases[0]) - 1)
    for source, destination in zip(phases, phases[1:] + phases[:1], strict=True):
        recorder.flows(k.DATA).extend(source=source[:each], destination=destination[1 : each + 1])
