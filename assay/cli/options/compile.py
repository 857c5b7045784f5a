"""Options of `assay compile` for the NPU."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError
from .shared import TorqHardware

if TYPE_CHECKING:
    from assay.compiler.torq.schedule.options import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleOptions:
    """How a program for the NPU is scheduled."""

    schedule: Annotated[
        str,
        typer.Option(
            help="For the NPU: [bold]overlap[/bold], transfers beside slices and tensors kept in "
            "LRAM, or [bold]vendor[/bold], layer by layer on one slice as the vendor's compiler "
            "does."
        ),
    ] = "overlap"
    double_buffer: Annotated[
        bool, typer.Option(help="For the NPU: whether transfers and slices work at the same time.")
    ] = True
    program_blocks: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="For the NPU: the most blocks of commands in a program, each of which the host "
            "starts and waits for; 0 for one program with all.",
        ),
    ] = 0
    torq_hw: TorqHardware = None

    def chosen(self) -> "Options":
        """The schedule. Raises CommandError."""
        from assay.compiler.torq.schedule.options import SCHEDULES
        from assay.hw.torq.facts.hardware import HardwareError, hardware

        if self.schedule not in SCHEDULES:
            known = " and ".join(SCHEDULES)
            raise CommandError(f"--schedule {self.schedule}: there are {known}", code=USAGE)
        found = SCHEDULES[self.schedule]
        if not self.double_buffer:
            found = replace(found, double_buffer=False)
        found = replace(found, program_blocks=self.program_blocks)
        if self.torq_hw is None:
            return found
        try:
            hardware(self.torq_hw)
        except HardwareError as error:
            raise CommandError(f"--torq-hw: {error}", code=USAGE) from error
        return replace(found, hardware=self.torq_hw)
