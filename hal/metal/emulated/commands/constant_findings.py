"""What is wrong with a kernel's constants, as findings of a dispatch that is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.sim.check import Finding, Party
from assay.sim.site import Site

from ....observe import Watch

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.msl.constant_errors import ConstantError

_CHECK = "bounds"
_HINTS = {
    "shift-count": "shift by less than the number of bits; Metal counts modulo that number",
    "division-by-zero": "compare the divisor with 0 first; Metal leaves the result open",
    "constant-index": "compare the index with the number of elements",
}


def report_constants(watch: Watch, kernel: KernelFunction) -> None:
    """Make findings of the compiler's warnings, but of those for which running gave one already."""
    if _CHECK not in watch.checker.checks or not kernel.errors:
        return
    found = {
        (party.site.file, party.site.line)
        for finding in watch.checker.findings
        if finding.check == _CHECK and finding.kernel == kernel.name
        for party in finding.parties
        if finding.kind not in _HINTS
    }
    for error in kernel.errors:
        if error.kind != "constant-index" or (error.file, error.line) not in found:
            watch.checker.report(_finding(kernel, error))


def _finding(kernel: KernelFunction, error: ConstantError) -> Finding:
    site = Site(error.file, error.line, error.column, kernel.name)
    return Finding(
        check=_CHECK,
        kind=error.kind,
        kernel=kernel.name,
        message=error.text,
        parties=(Party(what="the constant", site=site),),
        hint=_HINTS[error.kind],
    )
