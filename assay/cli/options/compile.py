"""Options of `assay compile` for the NPU."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError

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

    def chosen(self) -> "Options":
        """The schedule. Raises CommandError."""
        from assay.compiler.torq.schedule.options import SCHEDULES

        if self.schedule not in SCHEDULES:
            known = " and ".join(SCHEDULES)
            raise CommandError(f"--schedule {self.schedule}: there are {known}", code=USAGE)
        found = SCHEDULES[self.schedule]
        return found if self.double_buffer else replace(found, double_buffer=False)
