"""The emulated NPU: a 3x3 convolution of 56x56x64 to 64 channels in int8, three ways."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.compiler.torq.kernels.lower import kind, lower
from assay.compiler.torq.operators.products import Convolution, Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.tensors import Layout as Planes
from assay.compiler.torq.operators.tensors import TensorType
from assay.compiler.torq.slice.lram import Lram as Layout
from assay.hw.torq.datapath.interpreter import Interpreter
from assay.hw.torq.datapath.plan import plan_task
from assay.hw.torq.device.device import Device
from assay.hw.torq.facts.registers import registers
from assay.hw.torq.words.commands import NssProgram, NssTask, SliceProgram
from assay.hw.torq.words.decode.stream import read_commands
from assay.hw.torq.words.encode.programs import encode, memory_image

from .measure import Row, median_seconds

INTERPRETER_BAR = 50e6  # MAC/s of one core
FAST_BAR = 1e9  # MAC/s
TIMED_BAR = 2.0  # times the same without DMA, command streams and events
_CHANNELS, _SIDE, _CODE, _DATA = 64, 56, 0x600, 0x1000
_START = registers("slice").address("START.dr")
_HOST_START = ((0x1F0004, 1 << 24), (0x1F0008, 1), (0x1FC004, 1), (0x1F0010, 1))


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure; the NPU is emulated on one thread whatever `threads` says."""
    del threads
    programs, constants = _programs()
    macs = _CHANNELS * _CHANNELS * _SIDE * _SIDE * 9
    slow = median_seconds(_runner(programs, constants, fast=False), max(repetitions // 2, 1))
    quick = median_seconds(_runner(programs, constants, fast=True), repetitions)
    alone = median_seconds(_datapath(programs, constants), repetitions)
    return [
        Row(
            what="conv 3x3 56x56x64->64 int8",
            who="descriptor interpreter, whole NPU",
            seconds=slow,
            rate=f"{macs / slow / 1e6:.0f} M MAC/s",
            bar=f"> {INTERPRETER_BAR / 1e6:g} M MAC/s",
            passed=macs / slow > INTERPRETER_BAR,
        ),
        Row(
            what="",
            who="fast path, slice alone",
            seconds=alone,
            rate=f"{macs / alone / 1e9:.2f} G MAC/s",
            bar=f"> {FAST_BAR / 1e9:g} G MAC/s",
            passed=macs / alone > FAST_BAR,
        ),
        Row(
            what="",
            who="fast path, whole NPU with time",
            seconds=quick,
            rate=f"{macs / quick / 1e9:.2f} G MAC/s",
            ratio=f"{quick / alone:.2f} x the slice alone",
            bar=f"< {TIMED_BAR:g} x",
            passed=quick / alone < TIMED_BAR,
        ),
    ]


def _programs() -> tuple[tuple[NssProgram | SliceProgram, ...], list[tuple[int, bytes]]]:
    """The convolution, the command stream that runs it, and its constants."""
    rng = np.random.default_rng(0)
    layout = Layout(_DATA, 0x80000)
    x = layout.planes("x", "int8", (1, _CHANNELS, _SIDE, _SIDE))
    y = layout.planes("y", "int8", (1, _CHANNELS, _SIDE, _SIDE))
    weights = rng.integers(-128, 128, (_CHANNELS, _CHANNELS, 3, 3)).astype(np.int8)
    operator = Convolution(
        x=kind(x, Planes.PLANES),
        weights=TensorType(dtype="int8", shape=weights.shape),
        y=kind(y, Planes.PLANES),
        padding=Padding(top=1, bottom=1, left=1, right=1),
        rescale=Rescale(multipliers=(1 << 20,), shifts=(32,)),
    )
    values = {"weights": weights, "bias": np.zeros(_CHANNELS, np.int32)}
    tasks = lower(layout, operator, {"x": x, "y": y}, values)
    start = NssTask(slc_start=(True, False), slc_wait=(True, False), slc_cfg_addr=(_CODE, 0))
    constants = [(constant.address, constant.data) for constant in layout.constants]
    constants.append((x.address, rng.integers(0, 256, x.size).astype(np.uint8).tobytes()))
    return (NssProgram(tasks=(start,)), SliceProgram(tasks=tuple(tasks), address=_CODE)), constants


def _device(
    programs: tuple[NssProgram | SliceProgram, ...], constants: list[tuple[int, bytes]], fast: bool
) -> Device:
    device = Device(fast=fast)
    for program in programs:
        for address, word in memory_image(encode(program)).items():
            device.write32(address, word)
    for address, data in constants:
        device.lram.write(address, data)
    return device


def _runner(
    programs: tuple[NssProgram | SliceProgram, ...], constants: list[tuple[int, bytes]], fast: bool
) -> Callable[[], None]:
    """A run of the whole NPU, from the host's start to its interrupt."""
    device = _device(programs, constants, fast)

    def run() -> None:
        for address, value in _HOST_START:
            device.write32(address, value)
        device.wait_irq()
        device.write32(0x1F000C, 1)

    return run


def _datapath(
    programs: tuple[NssProgram | SliceProgram, ...], constants: list[tuple[int, bytes]]
) -> Callable[[], None]:
    """The same tasks, decoded once, on the slice's datapath and nothing else."""
    device = _device(programs, constants, True)
    plans, words = [], dict[int, int]()
    for command in read_commands(device.lram.word, _CODE):
        words |= {command.register + 4 * k: value for k, value in enumerate(command.values)}
        if words.pop(_START, 0):
            plans.append(plan_task(words | {_START: command.values[-1]}, device.lram))
    interpreter = Interpreter()

    def run() -> None:
        for plan in plans:
            interpreter.run(plan, device.lram)

    return run
