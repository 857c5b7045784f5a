"""From a planned schedule to a program: tasks of the NSS, with what they load and store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.hw.torq.notes import Notes, SliceRun, Symbol, TaskNote
from assay.hw.torq.words.commands import NssTask

from ..blocks import Binding, Unpacked, load, load_strided, store_strided
from ..operators.tensors import Layout
from ..slice.tensor import dense
from .commands import Commands
from .network import Network
from .operators import operators_of
from .outside import Outside
from .steps import LoadCode, LoadTile, Plan, RunSlice, Step, StoreTile, Wait
from .storage import Home, Role


def unpacked_program(
    plan: Plan, network: Network, outside: Outside, commands: Commands
) -> Unpacked:
    """The tasks of a network's plan, whose buffers and memory have addresses; its bindings are the
    callers' tensors in their order. Raises ModelError.
    """
    made = _Materialiser(
        plan=plan,
        outside=outside,
        commands=commands,
        sources={job.name: job.source for job in network.jobs},
    )
    for step in plan.steps:
        made.step(step)
    segments = outside.segments(commands)
    return Unpacked(
        tasks=made.tasks,
        segments=segments,
        bindings=[_binding(home, outside.storages[home.storage]) for home in network.callers],
        end=outside.end(segments),
        notes=Notes(
            symbols=_symbols(plan, outside),
            slice_runs=tuple(made.runs),
            operators=operators_of(network, plan),
        ),
    )


def _binding(home: Home, address: int) -> Binding:
    """A tensor of the caller's; one with gaps is bytes to the caller."""
    storage, kind = home.storage, home.kind
    if kind.layout is Layout.ROWS:
        tensor = dense(storage.name, 0, kind.dtype, kind.shape)
    else:
        tensor = dense(storage.name, 0, "int8", (kind.bytes_,))
    return Binding(
        name=storage.name,
        address=address,
        tensor=tensor,
        is_output=storage.role is Role.OUTPUT,
        caller=storage.caller if kind.layout is Layout.ROWS else None,
    )


def _symbols(plan: Plan, outside: Outside) -> tuple[Symbol, ...]:
    """Names of buffers, and of tensors that operators leave in XRAM."""
    places = {
        (buffer.name, address, address + buffer.size): None
        for buffer, address in plan.addresses.items()
    }
    names = [Symbol(name=n, memory="LRAM", start=a, stop=b) for n, a, b in places]
    work = [
        Symbol(name=s.name, memory="XRAM", start=at, stop=at + s.size)
        for s, at in outside.storages.items()
        if s.role is Role.WORK
    ]
    return (*names, *work)


@dataclass(kw_only=True)
class _Materialiser:
    """Takes one step after the other."""

    plan: Plan
    outside: Outside
    commands: Commands
    sources: Mapping[str, str]
    tasks: list[NssTask] = field(default_factory=list)
    runs: list[SliceRun] = field(default_factory=list)

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

    def _moves(self, step: LoadTile | StoreTile) -> None:
        """All transfers of a step, each but the last with a wait."""
        outside, inside = self.outside.storages[step.storage], self.plan.addresses[step.buffer]
        for number, move in enumerate(step.moves):
            if number:
                self._wait(step)
            ends = outside + move.outside, inside + move.inside
            if isinstance(step, LoadTile):
                task = load_strided(step.buffer.name, *ends, move.row, move.loops)
            else:
                task = store_strided(step.buffer.name, *ends[::-1], move.row, move.loops)
            self.tasks.append(_for(task, self.sources.get(step.buffer.job, "")))

    def _load_code(self, run: RunSlice) -> None:
        """Starts to load a run's tasks."""
        size = len(self.commands.of(run).data)
        task = load(run.code.name, self.outside.code[run], self.plan.addresses[run.code], size)
        self.tasks.append(_for(replace(task, dma_xr_wait=False), run.source))

    def _start(self, run: RunSlice) -> None:
        commands = self.commands.of(run)
        self.runs.append(commands.meant)
        at = commands.start
        self.tasks.append(
            NssTask(slc_start=(run.slice_ == 0, run.slice_ == 1), slc_cfg_addr=(at, at))
        )

    def _wait(self, token: LoadTile | StoreTile | RunSlice | LoadCode) -> None:
        """Waits for a unit, as the last thing that the last task does."""
        last = self.tasks[-1]
        if isinstance(token, LoadTile | LoadCode):
            self.tasks[-1] = replace(last, dma_xr_wait=True)
        elif isinstance(token, StoreTile):
            self.tasks[-1] = replace(last, dma_xw_wait=True)
        else:
            first, second = last.slc_wait
            waits = (True, second) if token.slice_ == 0 else (first, True)
            self.tasks[-1] = replace(last, slc_wait=waits)


def _for(task: NssTask, source: str) -> NssTask:
    """A transfer that is made for an operator of the model."""
    return replace(task, note=replace(task.note or TaskNote(), source=source))
