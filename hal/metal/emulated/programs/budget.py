"""Budgets that a kernel or its dispatch exceeds: findings, while a program is checked."""

from typing import TYPE_CHECKING

from assay.sim.check import Finding, Party
from assay.sim.site import Site

from ....observe import current_watch, watch_of_work
from ..order.where import line_of_program

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
        line_of_program() if passed else Site(),
    )


def report_grid(kernel: "KernelFunction", message: str) -> None:
    """Make a finding of a threadgroup or grid that is too large."""
    _report(kernel, "grid-limits", message, _GRID_HINT, line_of_program())


def _report(kernel: "KernelFunction", kind: str, message: str, hint: str, asked: Site) -> None:
    """Make a finding at the program's line that asked for too much, or else at the kernel."""
    watch = watch_of_work() or current_watch()
    if watch is None or _CHECK not in watch.checker.checks:
        return
    parties = [Party(what="the kernel", site=Site(kernel.file, kernel.line, 1, kernel.name))]
    if asked.line:
        parties.insert(0, Party(what="asked for by the program", site=asked))
    watch.checker.report(
        Finding(
            check=_CHECK,
            kind=kind,
            kernel=kernel.name,
            message=message,
            parties=tuple(parties),
            hint=hint,
        )
    )
