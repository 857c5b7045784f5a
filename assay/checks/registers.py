"""Kernels that need more registers than a thread may have, by an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits
from assay.sim.check import Finding, Party
from assay.sim.check.kinds import KINDS

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

_KIND = "registers"
# Functions in the place of tensor operations: loops here, whose registers say nothing of a GPU's.
_TENSORS = b"5metal8__tensor"


def register_finding(
    kernel: KernelFunction, most: int | None = None, *, who: str = "a thread has"
) -> Finding | None:
    """That a thread of the kernel needs more than `most` registers of 32 bits, if it does.

    Without `most` the limit is the GPU's, beyond which values are kept in memory: a warning, as the
    estimate knows nothing of the GPU's own compiler; of kernels with tensor operations it says
    nothing. `who` says in words whose limit it is.
    """
    limit = limits().registers_per_thread if most is None else most
    program = kernel.program()
    if most is None and _TENSORS in program.bitcode:
        return None
    estimate = program.registers
    if estimate.registers <= limit:
        return None
    return Finding(
        check=KINDS[_KIND].check,
        kind=_KIND,
        kernel=kernel.name,
        message=f"kernel '{kernel.name}' needs about {estimate.registers} registers; {who} {limit}",
        parties=(Party(what="most values are alive", site=estimate.site),),
        hint="keep fewer values alive at once: smaller tiles per thread, or less unrolling",
        severity="warning" if most is None else "error",
    )
