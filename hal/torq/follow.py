"""Follows what an executable does as far as its file tells: host actions, NPU tasks, jobs of units.

Nothing is computed: copies move the bytes that the file has, so that command words and slice code
are found where they are executed; what slices, host functions and bindings put in memory is not
known. The result is a graph of jobs, each after those that were waited for before it started.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.hw.torq.device.dma import Transfer, lram_ranges, transfer_of, xram_ranges
from assay.hw.torq.facts.hardware import Hardware, hardware
from assay.hw.torq.facts.registers import WORD_BYTES, Image, registers, spaces
from assay.hw.torq.faults import TorqFault
from assay.hw.torq.words.decode.stream import Command, walk
from assay.hw.torq.words.disassemble import Line, command_lines, disassemble
from assay.hw.torq.words.encode.nss import UNITS, WAIT_CDMA, WAIT_CSS
from assay.hw.torq.words.errors import DecodeError

from .format import BufferType, Executable, HostCopy, StartHost, StartNss
from .known import KnownLram, KnownXram

_LABELS = {"xr": "XR", "xw": "XW", "slc0": "SLC0", "slc1": "SLC1"}
_LARGEST_COPY = 1 << 20
_MOST_ROWS = 1 << 18
BUDGET = 1 << 20
"""Steps that are followed: commands, words of slices, rows of copies; no real file has as many."""
Range = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One run of a unit. `reads` and `writes` are (memory, begin, end); `after` are job numbers.

    `code` is the LRAM address of a slice's command words, and `words` what they were.
    """

    number: int
    unit: str
    action: int
    what: str
    reads: tuple[tuple[str, int, int], ...] = ()
    writes: tuple[tuple[str, int, int], ...] = ()
    after: tuple[int, ...] = ()
    code: int | None = None
    words: tuple[Line, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One run of the NPU's command stream: its words as they were, and why it could not be followed
    further, if so."""

    action: int
    address: int
    tasks: int
    words: tuple[Line, ...]
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """All that was found."""

    jobs: tuple[Job, ...]
    programs: tuple[Program, ...]


def follow(
    executable: Executable, npu: Hardware | None = None, *, budget: int = BUDGET
) -> Followed:
    """What the actions of a checked executable do, up to `budget` steps.

    Raises nothing for a program that is damaged: its `problem` says where it was given up.
    """
    state = _State(executable, npu or hardware(), budget)
    for index, action in enumerate(executable.actions):
        state.action = index
        if isinstance(action, StartNss):
            state.programs.append(_Stream(state, action.address).run())
            if state.budget < 0:
                break
        elif isinstance(action, HostCopy):
            state.host_copy(action)
        elif isinstance(action, StartHost):
            state.host_call(action)
    return Followed(jobs=tuple(state.jobs), programs=tuple(state.programs))


class _State:
    """Memory and the graph while actions are followed."""

    def __init__(self, executable: Executable, npu: Hardware, budget: int) -> None:
        self.lram = KnownLram(npu.lram)
        self.xram = KnownXram(executable.segments)
        self.jobs: list[Job] = []
        self.programs: list[Program] = []
        self.action = 0
        self.budget = budget
        self.running: dict[str, int] = {}
        self._ended: tuple[int, ...] = ()

    def spend(self, steps: int) -> None:
        """Raises DecodeError when more was followed than any real file has."""
        self.budget -= steps
        if self.budget < 0:
            raise DecodeError(0, "this is more than is followed")

    def add(
        self,
        unit: str,
        what: str,
        reads: Sequence[tuple[str, int, int]] = (),
        writes: Sequence[tuple[str, int, int]] = (),
        code: int | None = None,
        words: tuple[Line, ...] = (),
    ) -> int:
        """A job that begins now; gives its number."""
        number = len(self.jobs)
        self.jobs.append(
            Job(
                number=number,
                unit=unit,
                action=self.action,
                what=what,
                reads=tuple(reads),
                writes=tuple(writes),
                after=self._ended,
                code=code,
                words=words,
            )
        )
        return number

    def end(self, numbers: Sequence[int]) -> None:
        """Jobs were waited for: what begins later is after them."""
        if not numbers:
            return
        kept = [
            early
            for early in self._ended
            if not any(self._precedes(early, number) for number in numbers)
        ]
        self._ended = tuple(sorted({*kept, *numbers}))

    def _precedes(self, early: int, late: int) -> bool:
        """Whether a job ended before another began; what a job is after has smaller numbers."""
        waiting, seen = [late], {late}
        while waiting:
            for number in self.jobs[waiting.pop()].after:
                if number == early:
                    return True
                if number > early and number not in seen:
                    seen.add(number)
                    waiting.append(number)
        return False

    def host_copy(self, copy: HostCopy) -> None:
        rows = _rows(copy)
        size = copy.element_bytes
        known = rows is not None and copy.binding_index < 0 and copy.constant_index < 0
        if known and rows is not None and copy.target == BufferType.LRAM:
            for source, target in rows:
                if copy.source == BufferType.XRAM:
                    self.lram.write(target, *self.xram.read(source, size))
                else:
                    self.lram.write(target, np.zeros(size, np.uint8), np.zeros(size, np.bool_))
        elif copy.target == BufferType.XRAM and rows is not None:
            for _, target in rows:
                self.xram.forget(target, size)
        spans = [_span(copy, copy.source_strides), _span(copy, copy.target_strides)]
        number = self.add(
            "HOST",
            f"copy {size} B",
            [(copy.source.name, copy.source_address, copy.source_address + spans[0])],
            [(copy.target.name, copy.target_address, copy.target_address + spans[1])],
        )
        self.end([number])

    def host_call(self, action: StartHost) -> None:
        self.end([self.add("HOST", f"call {action.function}")])


class _Stream:
    """Follows one run of the NPU's command stream."""

    def __init__(self, state: _State, address: int) -> None:
        self.state = state
        self.address = address
        self.image = Image(registers("nss"))
        self.written: dict[int, int] = {}
        self.words: list[Line] = []
        self.tasks = 0

    def run(self) -> Program:
        read = self.state.lram.word
        problem = ""
        try:
            for command in walk(read, self.address):
                self.state.spend(1 + len(command.values))
                self.words += command_lines(read, [command], "nss")
                if command.kind == "CFG":
                    self._write(command)
                elif command.kind == "SYN":
                    self.tasks += 1
                    self._wait(command.mask)
        except (DecodeError, TorqFault) as error:
            problem = str(error)
        return Program(
            action=self.state.action,
            address=self.address,
            tasks=self.tasks,
            words=tuple(self.words),
            problem=problem,
        )

    def _write(self, command: Command) -> None:
        known = registers("nss")
        for index, value in enumerate(command.values):
            address = command.register + WORD_BYTES * index
            self.written[address] = value
            if address in known:
                self.image.words[address] = value
            if address == known.address("NSS.START.xr"):
                self._start_units(value)
            elif address == _address("CDMA.CH0_CMD.enablecmd") and value & 1:
                self._start_cdma()
            elif self._starts_core(address, value):
                self._start("CSS", "task of the core")

    def _starts_core(self, address: int, value: int) -> bool:
        if address == _address("CPU.CTL.reset"):
            return value == 0
        return address == _address("CSS.MBX_IRQ_0.irq") and value == 1

    def _start_units(self, bits: int) -> None:
        for unit in UNITS:
            if not bits >> registers("nss").field(f"NSS.START.{unit}").low & 1:
                continue
            if unit in ("xr", "xw"):
                self._start_dma(_LABELS[unit])
            else:
                self._start_slice(unit)

    def _start_dma(self, channel: str) -> None:
        self.state.spend(self._rows(channel))
        transfer = transfer_of(channel, self.image)
        self.state.spend(transfer.size // 64)
        inside = [("LRAM", *part) for part in lram_ranges(transfer)]
        outside = [("XRAM", *part) for part in xram_ranges(transfer)]
        if channel == "XR":
            self._load(transfer)
            self._start(channel, f"load {transfer.size} B", outside, inside)
        else:
            for begin, end in xram_ranges(transfer):
                self.state.xram.forget(begin, end - begin)
            self._start(channel, f"store {transfer.size} B", inside, outside)

    def _rows(self, channel: str) -> int:
        """How many rows a transfer has. Raises DecodeError for more than are followed."""
        strided = "DMA_XR.SRC" if channel == "XR" else "DMA_XW.DST"
        rows = 1
        for index in range(min(self.image[f"DMA_{channel}.CFG.nd"], 3)):
            rows *= self.image[f"{strided}.DIMS[{index}].DIM_SIZE.n"]
        if rows > _MOST_ROWS:
            raise DecodeError(0, f"{channel} moves {rows} rows, more than is followed")
        return rows

    def _load(self, transfer: Transfer) -> None:
        parts = [self.state.xram.read(begin, end - begin) for begin, end in xram_ranges(transfer)]
        data = np.concatenate([part for part, _ in parts])
        known = np.concatenate([mask for _, mask in parts])
        if not transfer.split:
            self.state.lram.write(transfer.laddr, data, known)
            return
        for index, (begin, _) in enumerate(lram_ranges(transfer)):
            pixels = data.reshape(-1, 2, transfer.pixel)[:, index].ravel()
            masks = known.reshape(-1, 2, transfer.pixel)[:, index].ravel()
            self.state.lram.write(begin, pixels, masks)

    def _start_slice(self, unit: str) -> None:
        index = int(unit[-1])
        code = self.written.get(spaces()["slice"].views[f"slice{index}"], 0) & 0xFFFFFF
        words: tuple[Line, ...] = ()
        what = f"program at {code:#07x}"
        try:
            words = tuple(disassemble(self.state.lram.word, code, "slice"))
            self.state.spend(len(words))
        except DecodeError as error:
            what = f"{what}, not followed: {error}"
        self._start(_LABELS[unit], what, code=code, words=words)

    def _start_cdma(self) -> None:
        size = self.written.get(_address("CDMA.CH0_XSIZE.srcxsize"), 0) & 0xFFFF
        source = self.written.get(_address("CDMA.CH0_SRCADDR.a"), 0)
        target = self.written.get(_address("CDMA.CH0_DESADDR.a"), 0)
        self._start(
            "CDMA",
            f"copy {size} B",
            [("HOST VIEW", source, source + size)],
            [("HOST VIEW", target, target + size)],
        )

    def _start(
        self,
        unit: str,
        what: str,
        reads: Sequence[tuple[str, int, int]] = (),
        writes: Sequence[tuple[str, int, int]] = (),
        code: int | None = None,
        words: tuple[Line, ...] = (),
    ) -> None:
        self.state.running[unit] = self.state.add(unit, what, reads, writes, code, words)

    def _wait(self, mask: int) -> None:
        bits = {
            _LABELS[unit]: registers("nss").field(f"NSS.START.{unit}").low for unit in UNITS
        } | {"CSS": WAIT_CSS, "CDMA": WAIT_CDMA}
        waited = [unit for unit, bit in bits.items() if mask >> bit & 1]
        running = self.state.running
        self.state.end([running.pop(unit) for unit in waited if unit in running])


def _address(name: str) -> int:
    space = name.split(".")[0].lower()
    return spaces()[space].views["stream"] + registers(space).address(name)


def _span(copy: HostCopy, strides: Sequence[int]) -> int:
    steps = zip(copy.shape, strides, strict=True)
    return sum((count - 1) * stride for count, stride in steps) + copy.element_bytes


def _rows(copy: HostCopy) -> list[Range] | None:
    """(source, target) addresses of each element; None when there are too many to follow."""
    total = copy.element_bytes
    for count in copy.shape:
        total *= count
    if total > _LARGEST_COPY:
        return None
    rows = [(copy.source_address, copy.target_address)]
    for count, source, target in zip(
        copy.shape, copy.source_strides, copy.target_strides, strict=True
    ):
        rows = [(s + k * source, t + k * target) for s, t in rows for k in range(count)]
    return rows
