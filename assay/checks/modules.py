"""Checks of Assay modules: those of each device's kernels, and the waits between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.hal import observe
from assay.hal.module.order import Order
from assay.hal.module.staged import MSL
from assay.hal.status import StatusError

from .programs import checked

if TYPE_CHECKING:
    from ..assay_module import AssayModule, ModuleContext
    from ..elements import Array, Value
    from ..reports.report import Report


def check_assay_module(
    module: AssayModule, values: Sequence[Array], report: Report, *, seed: int | None = None
) -> list[Value] | None:
    """Runs a module twice on inputs, the second time over the tensors of the first, while looking.

    Kernels and executables are checked as anywhere; what two devices, or the host and one, do to
    the same memory must be ordered by fences. Where kernels are of MSL, each tensor has memory of
    its own in one more run, so that what goes beyond it is seen. The results, or None if something
    stopped it, which the report tells then.
    """
    with checked(report, seed=seed):
        if any(kernel.format == MSL for kernel in module.opened.module.kernels):
            with module.new_context(apart=True) as context:
                _invoked(module, context, values, report, 1)
        with module.new_context() as context:
            watch = observe.current_watch()
            assert watch is not None  # `checked` has just opened it
            context.context.check_order(Order(watch.checker, module.name))
            return _invoked(module, context, values, report, 2)


def _invoked(
    module: AssayModule, context: ModuleContext, values: Sequence[Array], report: Report, times: int
) -> list[Value] | None:
    """The results of the last of some runs; None if one was stopped, which the report tells."""
    try:
        for _ in range(times):
            results = context.invoke(values)
        return results
    except StatusError as error:
        report.add_obstacle(f"{module.name} was not checked to its end: {error}")
        return None
