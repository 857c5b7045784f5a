"""From a planned schedule to a program: places in XRAM, commands of slices, tasks of the NSS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.notes import Notes, OperatorNote, SliceRun, Symbol, TaskNote
from assay.hw.torq.words.commands import NssTask, SliceTask

from ..blocks import (
    Binding,
    Unpacked,
    data_of,
    image,
    load,
    load_strided,
    noted,
    store_strided,
)
from ..operators.tensors import Layout
from ..slice.lram import ALIGNMENT
from ..slice.tensor import dense
from .network import Network
from .operators import operators_of
from .steps import Buffer, LoadCode, LoadTile, Plan, RunSlice, Spot, Step, StoreTile, Wait
from .storage import Home, Role, Storage

_UNITS = ("SLC0", "SLC1")


def unpacked_program(plan: Plan, network: Network) -> Unpacked:
    """The tasks of a network's plan; its bindings are the callers' tensors in their order."""
    sources = {job.name: job.source for job in network.jobs}
    made = _Materialiser(
        addresses=plan.addresses,
        sources=sources,
        operators=operators_of(network, plan),
    )
    for home in network.callers:
        made.bind(home)
    for step in plan.steps:
        made.step(step)
    return made.unpacked()


@dataclass(kw_only=True)
class _Materialiser:
    """Takes one step after the other."""

    addresses: dict[Buffer, int]
    sources: Mapping[str, str]
    operators: tuple[OperatorNote, ...]
    _xram: int = field(default_factory=lambda: limit("xram_start"))
    _places: dict[Storage, int] = field(default_factory=dict)
    _bindings: list[Binding] = field(default_factory=list)
    _segments: list[tuple[int, bytes]] = field(default_factory=list)
    _kept: dict[bytes, int] = field(default_factory=dict)
    _tasks: list[NssTask] = field(default_factory=list)
    _runs: list[SliceRun] = field(default_factory=list)
    _starts: dict[RunSlice, int] = field(default_factory=dict)
    _meant: dict[RunSlice, SliceRun] = field(default_factory=dict)
    _emitted: dict[int, tuple[Mapping[str, Spot], list[SliceTask]]] = field(default_factory=dict)
    """By slice the places and tasks of its last region."""

    def bind(self, home: Home) -> None:
        """Gives a tensor of the caller's a place; one with gaps is bytes to the caller."""
        storage, kind = home.storage, home.kind
        if kind.layout is Layout.ROWS:
            tensor = dense(storage.name, 0, kind.dtype, kind.shape)
        else:
            tensor = dense(storage.name, 0, "int8", (kind.bytes_,))
        self._bindings.append(
            Binding(
                name=storage.name,
                address=self._place(storage),
                tensor=tensor,
                is_output=storage.role is Role.OUTPUT,
                caller=storage.caller if kind.layout is Layout.ROWS else None,
            )
        )

    def step(self, step: Step) -> None:
        """Adds the tasks of a step."""
        if isinstance(step, Wait):
            self._wait(step.token)
        elif isinstance(step, RunSlice):
            self._start(step)
        elif isinstance(step, LoadCode):
            self._load_code(step.run)
        else:
            self._moves(step)

    def unpacked(self) -> Unpacked:
        """The tasks of all steps so far."""
        symbols = {
            (buffer.name, address, address + buffer.size): None
            for buffer, address in self.addresses.items()
        }
        work = [
            Symbol(name=s.name, memory="XRAM", start=at, stop=at + s.size)
            for s, at in self._places.items()
            if s.role is Role.WORK
        ]
        names = [Symbol(name=n, memory="LRAM", start=a, stop=b) for n, a, b in symbols]
        return Unpacked(
            tasks=self._tasks,
            segments=self._segments,
            bindings=self._bindings,
            end=self._xram,
            notes=Notes(
                symbols=(*names, *work),
                slice_runs=tuple(self._runs),
                operators=self.operators,
            ),
        )

    def _reserve(self, size: int, alignment: int) -> int:
        address = -(-self._xram // alignment) * alignment
        self._xram = address + size
        return address

    def _place(self, storage: Storage) -> int:
        """Where memory in XRAM is."""
        if storage not in self._places:
            if storage.data is not None:
                self._places[storage] = self._keep(storage.data)
            else:
                caller = storage.role is not Role.WORK
                self._places[storage] = self._reserve(
                    storage.size, limit("xram_page") if caller else ALIGNMENT
                )
        return self._places[storage]

    def _keep(self, data: bytes) -> int:
        """Where initialised bytes are; the same bytes are kept once."""
        if data not in self._kept:
            self._kept[data] = self._reserve(len(data), WORD_BYTES)
            self._segments.append((self._kept[data], data))
        return self._kept[data]

    def _moves(self, step: LoadTile | StoreTile) -> None:
        """All transfers of a step, each but the last with a wait."""
        outside, inside = self._place(step.storage), self.addresses[step.buffer]
        for number, move in enumerate(step.moves):
            if number:
                self._wait(step)
            ends = outside + move.outside, inside + move.inside
            if isinstance(step, LoadTile):
                task = load_strided(step.buffer.name, *ends, move.row, move.loops)
            else:
                task = store_strided(step.buffer.name, *ends[::-1], move.row, move.loops)
            self._tasks.append(_for(task, self.sources.get(step.buffer.job, "")))

    def _load_code(self, run: RunSlice) -> None:
        """Starts to load a run's tasks."""
        data = self._encoded(run)
        task = load(run.code.name, self._keep(data), self.addresses[run.code], len(data))
        self._tasks.append(_for(replace(task, dma_xr_wait=False), run.source))

    def _encoded(self, run: RunSlice) -> bytes:
        """A run's tasks for their place, which are noted."""
        address = self.addresses[run.code]
        tasks = self._emit(run)
        words = image(tasks, address)
        data = data_of(words)
        assert len(data) <= run.code.size, (run.source, len(data), run.code.size)
        self._starts[run] = min(words)
        notes = noted(tasks, run.source, words, address)
        self._meant[run] = SliceRun(unit=_UNITS[run.slice_], address=address, tasks=notes)
        return data

    def _emit(self, run: RunSlice) -> list[SliceTask]:
        """The tasks of a run's region; runs of the same region follow each other."""
        places, tasks = self._emitted.get(run.slice_, ({}, []))
        if places is not run.places:
            given = {name: spot.at(self.addresses) for name, spot in run.places.items()}
            tasks = run.kernel.emit(run.op, run.out, given)
            self._emitted[run.slice_] = run.places, tasks
        return tasks[run.first : run.stop]

    def _start(self, run: RunSlice) -> None:
        if run not in self._meant:  # An earlier run's commands do for this one, too.
            self._encoded(run)
        self._runs.append(self._meant[run])
        at = self._starts[run]
        self._tasks.append(
            NssTask(slc_start=(run.slice_ == 0, run.slice_ == 1), slc_cfg_addr=(at, at))
        )

    def _wait(self, token: LoadTile | StoreTile | RunSlice | LoadCode) -> None:
        """Waits for a unit, as the last thing that the last task does."""
        last = self._tasks[-1]
        if isinstance(token, LoadTile | LoadCode):
            self._tasks[-1] = replace(last, dma_xr_wait=True)
        elif isinstance(token, StoreTile):
            self._tasks[-1] = replace(last, dma_xw_wait=True)
        else:
            first, second = last.slc_wait
            waits = (True, second) if token.slice_ == 0 else (first, True)
            self._tasks[-1] = replace(last, slc_wait=waits)


def _for(task: NssTask, source: str) -> NssTask:
    """A transfer that is made for an operator of the model."""
    return replace(task, note=replace(task.note or TaskNote(), source=source))
