"""A board: processors, GPUs and NPUs on one clock, with one DRAM.

Each machine is the one that it is alone: the same queues, units and times. On a board their events
happen in one environment, and while they want more bytes per second of DRAM than there are, what
moves them is slowed down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.sim.clock import Environment, Shared
from assay.traces import Trace

from .apple.system import Gpu, HostCall, Overheads, Schedule, Submission
from .board_timeline import BoardTimeline
from .processor import Costs, Processor, processor_costs
from .torq.device.device import Device
from .torq.facts.costs import Machine, sl2610


class Board:
    """Machines that share time and DRAM.

    `gpu` hands work to a GPU, which runs it as soon as time passes. An NPU is driven by its host:
    while that waits for it, everything on the board goes on. `finish` lets the rest happen.

    Args:
        dram: bytes per second that all machines together can have.
        name: the title of its timeline.
    """

    def __init__(self, *, dram: int, name: str = "board") -> None:
        self.environment = Environment()
        self.name = name
        self._used: list[tuple[int, str, int]] = []
        self.dram = Shared(self.environment, "DRAM", dram, watch=self._note)
        self._gpus: dict[str, Gpu] = {}
        self._npus: dict[str, Device] = {}
        self._processors: dict[str, Processor] = {}

    @property
    def tick(self) -> int:
        """The time, in ticks of a picosecond."""
        return self.environment.tick

    def gpu(
        self,
        submissions: Sequence[Submission],
        calls: Sequence[HostCall],
        *,
        costs: Overheads,
        cores: int,
        name: str = "GPU",
    ) -> Gpu:
        """A GPU to which a program hands work from now on; `gpu.schedule()` says when it ran.

        Raises ValueError if a machine of that name is there.
        """
        self._check_new(name)
        gpu = Gpu(
            submissions, costs, cores, name=name, environment=self.environment, dram=self.dram
        )
        self.environment.start(gpu.host(calls))
        self._gpus[name] = gpu
        return gpu

    def npu(self, machine: Machine | None = None, *, name: str = "NPU", **options: Any) -> Device:
        """An NPU; `options` are those of its `Device`.

        Raises ValueError if a machine of that name is there.
        """
        self._check_new(name)
        npu = Device(
            machine or sl2610(), name=name, environment=self.environment, dram=self.dram, **options
        )
        self._npus[name] = npu
        return npu

    def processor(self, costs: Costs | None = None, *, name: str = "CPU") -> Processor:
        """A processor.

        Raises ValueError if a machine of that name is there.
        """
        self._check_new(name)
        made = Processor(self.environment, costs or processor_costs(), name=name, dram=self.dram)
        self._processors[name] = made
        return made

    def finish(self) -> int:
        """Let everything happen that is still to come; the tick at which the last thing did."""
        return self.environment.finish()

    def schedules(self) -> dict[str, Schedule]:
        """When what was handed to the GPUs ran, by their names."""
        return {name: gpu.schedule() for name, gpu in self._gpus.items()}

    def trace(self) -> Trace:
        """All machines on one timeline, with how much of DRAM each one uses."""
        timeline = BoardTimeline(self.name)
        for name, processor in self._processors.items():
            timeline.processor(name, processor.spans)
        for name, gpu in self._gpus.items():
            timeline.gpu(name, gpu.schedule())
        for name, npu in self._npus.items():
            timeline.npu(name, npu)
        timeline.dram(self._used, self.dram.rate, [*self._processors, *self._gpus, *self._npus])
        return timeline.trace()

    def _check_new(self, name: str) -> None:
        if name in {**self._gpus, **self._npus, **self._processors}:
            raise ValueError(
                f"board {self.name!r} has a machine {name!r} already; give another name"
            )

    def _note(self, tick: int, name: str, used: int) -> None:
        self._used.append((tick, name, used))
