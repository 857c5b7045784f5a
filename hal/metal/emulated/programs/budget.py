"""Budgets that a kernel or its dispatch exceeds: findings, while a program is checked."""

from typing import TYPE_CHECKING

from assay.sim.check import Finding, Party
from assay.sim.site import Site

from ....observe import current_watch, watch_of_work

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

_CHECK = "budget"
_MEMORY_HINT = (
    "use smaller tiles or a smaller element type, share one array for what is not alive at the "
    "same time, or split the kernel"
)
_GRID_HINT = "split the work over several dispatches, or let each thread do more of it"


def report_memory(kernel: "KernelFunction", static: int, total: int, limit: int) -> None:
    """Make a finding of threadgroup memory: `static` bytes of `total` are the kernel's own."""
    passed = f" and {total - static} B passed by the program" if total > static else ""
    _report(
        kernel,
        "threadgroup-memory",
        f"kernel '{kernel.name}' needs {total} B of threadgroup memory ({static} B declared in "
        f"the kernel{passed}); a threadgroup has {limit} B",
        _MEMORY_HINT,
    )


def report_grid(kernel: "KernelFunction", message: str) -> None:
    """Make a finding of a threadgroup or grid that is too large."""
    _report(kernel, "grid-limits", message, _GRID_HINT)


def _report(kernel: "KernelFunction", kind: str, message: str, hint: str) -> None:
    watch = watch_of_work() or current_watch()
    if watch is None or _CHECK not in watch.checker.checks:
        return
    site = Site(kernel.file, kernel.line, 1, kernel.name)
    watch.checker.report(
        Finding(
            check=_CHECK,
            kind=kind,
            kernel=kernel.name,
            message=message,
            parties=(Party(what="the kernel", site=site),),
            hint=hint,
        )
    )
