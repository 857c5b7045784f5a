"""Which units may work at the same time, by what the command stream and the host waited for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .touch import Run, Touch


class Order:
    """Units at work, those that were when others ended, and what the stream fetched meanwhile."""

    def __init__(self) -> None:
        self._active: dict[str, Run] = {}
        self._ended: list[tuple[Run, list[Run]]] = []
        """Runs that were waited for, with the runs that were under way at that time."""
        self._stream: list[Touch] = []
        self._program = False
        """Whether the host started the NPU, and does not know yet that it is done."""
        self._host: list[Touch] = []
        self._past: list[Touch] = []
        """What host and NPU, but for the units at work, have touched meanwhile."""

    @property
    def is_program_open(self) -> bool:
        """Whether the host started the NPU and does not know yet that it is done."""
        return self._program

    def open_program(self) -> None:
        """The host starts the NPU."""
        self._program = True

    def close_program(self) -> None:
        """The host knows that the NPU is done."""
        self._program = False
        self._host.clear()
        self._past.clear()

    def start(self, unit: str, task: int, address: int) -> Run | None:
        """A unit is started; gives its run before, if nobody waited for that."""
        before = self._active.get(unit)
        if before is not None:
            self._retire([before])
        self._active[unit] = Run(
            unit=unit, task=task, address=address, stream_from=len(self._stream)
        )
        return before

    def join(self, units: Iterable[str]) -> None:
        """The command stream has waited for units."""
        self._retire([self._active.pop(unit) for unit in units if unit in self._active])
        if not self._active:
            self._stream.clear()

    def task_of(self, unit: str, otherwise: int) -> int:
        """The task that started a unit."""
        return self._active[unit].task if unit in self._active else otherwise

    def together(self, touch: Touch) -> list[Touch]:
        """What others touch, or touched, that may happen at the same time as this."""
        mine = self._active.get(touch.unit)
        runs = [run for run in self._active.values() if run.unit != touch.unit]
        if mine is not None:
            runs += [ended for ended, peers in self._ended if _has(peers, mine)]
        found = [other for run in runs for other in run.touches]
        if mine is not None and touch.unit != "NSS":
            found += self._stream[mine.stream_from :]
        return found + (self._past if touch.unit == "HOST" else self._host)

    def remember(self, touch: Touch) -> None:
        """For what may happen at the same time later."""
        mine = self._active.get(touch.unit)
        if self._program and touch.unit in ("HOST", "NSS"):
            (self._host if touch.unit == "HOST" else self._past).append(touch)
        if touch.unit == "NSS":
            if self._active:
                self._stream.append(touch)
        elif mine is not None:
            mine.touches.append(touch)

    def _retire(self, runs: Sequence[Run]) -> None:
        """Keeps runs that are over for as long as others run that nothing put behind them."""
        still = [run for run in self._active.values() if not _has(runs, run)]
        kept = [
            (ended, [peer for peer in peers if not _has(runs, peer)])
            for ended, peers in self._ended
        ]
        kept += [(run, still) for run in runs]
        if self._program:  # Without the states of LRAM by which readers differ from others.
            touches = [touch for run in runs for touch in run.touches]
            self._past += [replace(touch, plan=None, before=None) for touch in touches]
        self._ended = [(ended, peers) for ended, peers in kept if peers]


def _has(runs: Sequence[Run], wanted: Run) -> bool:
    return any(run is wanted for run in runs)
