"""Checks of Assay modules: those of each device's kernels, and the waits between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.hal import observe
from assay.hal.module.order import Order
from assay.hal.status import StatusError

from .programs import checked

if TYPE_CHECKING:
    from ..assay_module import AssayModule
    from ..elements import Array, Value
    from ..reports.report import Report


def check_assay_module(
    module: AssayModule, values: Sequence[Array], report: Report, *, seed: int | None = None
) -> list[Value] | None:
    """Runs a module twice on inputs, the second time over the tensors of the first, while looking.

    Kernels and executables are checked as anywhere; what two devices, or the host and one, do to
    the same memory must be ordered by fences. The results, or None if something stopped it, which
    the report tells then.
    """
    with checked(report, seed=seed), module.new_context() as context:
        watch = observe.current_watch()
        assert watch is not None  # `checked` has just opened it
        context.context.check_order(Order(watch.checker, module.name))
        try:
            context.invoke(values)
            return context.invoke(values)
        except StatusError as error:
            report.add_obstacle(f"{module.name} was not checked to its end: {error}")
            return None
