"""A kernel with all that one dispatch of it takes, and how it is run to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...check.checker import Checker
from .board import Failure, Part, run_parts
from .boxes import Box, Size, boxes_of, check_arguments
from .executable import Executable
from .memory import Memory
from .settings import chosen_fuel
from .worker import Launch


@dataclass(slots=True)
class Grid:
    """One dispatch: `threads` or `threadgroups` are as it was given, the rest follows from it."""

    executable: Executable
    launch: Launch
    boxes: Sequence[Box]
    threads: Size | None
    threadgroups: Size | None

    @classmethod
    def of(
        cls,
        executable: Executable,
        memory: Memory,
        arguments: Sequence[int],
        threads: Size | None,
        threadgroups: Size | None,
        fuel: int | None,
        checker: Checker | None = None,
    ) -> Grid:
        """A grid, with everything as for `dispatch`.

        Raises:
            DispatchError: if the arguments or sizes do not fit.
        """
        check_arguments(executable.program, arguments)
        observers = checker.observers if checker is not None else frozenset()
        if observers != executable.observers:
            executable = executable.program.specialise_shape(executable.shape, observers)
        boxes, groups, grid = boxes_of(executable, threads, threadgroups)
        launch = Launch(memory, arguments, groups, grid, chosen_fuel(fuel))
        return cls(executable, launch, boxes, threads, threadgroups)

    @property
    def is_serial(self) -> bool:
        """Whether its threadgroups must run in order for results to repeat."""
        return self.executable.program.needs.serial

    @property
    def parts(self) -> list[Part]:
        """What there is to run."""
        return [Part(self.launch, box) for box in self.boxes if box.count]

    def run(self, workers: int) -> None:
        """Run all threadgroups.

        Raises:
            KernelFault: if one of them ended so.
        """
        parts = self.parts
        if self.is_serial:
            workers = 1
        if self.launch.observation is None:
            failure = run_parts(parts, workers)
        else:
            failure = _one_by_one(parts, workers)
        if failure is not None:
            self.explain(failure, workers)

    def explain(self, failure: Failure, workers: int) -> None:
        """Raise the first fault in the grid's order, after the grid ran to that failure.

        Returns if the fault shows only in threadgroups that run side by side: then the grid has
        been run to its end without that.

        Raises:
            KernelFault: the fault.
        """
        if any(box.executable.packs > 1 for box in self.boxes):
            boxes, _, _ = boxes_of(self.executable, self.threads, self.threadgroups, packed=False)
            again = _one_by_one([Part(self.launch, box) for box in boxes if box.count], workers)
            if again is None:
                return
            failure = again
        raise failure.fault()


def _one_by_one(parts: Sequence[Part], workers: int) -> Failure | None:
    """Run parts without letting any two of them run at the same time."""
    for part in parts:
        failure = run_parts([part], workers)
        if failure is not None:
            return failure
    return None
