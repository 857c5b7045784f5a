"""The same operations for kernels that count on where GPUs before M5 keep elements in registers."""

from __future__ import annotations

from ..names import AirFunction
from . import shims

_IN_REGISTERS = "d, left_given, right_given, sums, threads"


def shim_of(function: AirFunction) -> str | None:
    """C++ of an operation on tensors; None for one of which those places are not known."""
    name = function.name.removeprefix(shims.PREFIX)
    if name.startswith(shims.OF_CONVOLUTION) or shims.CONVOLVE.fullmatch(name):
        return None
    run = shims.RUN.fullmatch(name)
    if run:
        in_memory = ["_" in run[part] for part in ("left", "right", "sums")]
        if all(in_memory):
            return shims.shim_of(function)
        if any(in_memory):
            return None
        return _multiplying(function.name, run["left"], run["right"], run["sums"])
    return shims.shim_of(function, "eights::")


def _multiplying(name: str, *kinds: str) -> str | None:
    """A product of what is in registers, whose sums stay there."""
    left, right, sums = map(shims.ELEMENTS.get, kinds)
    if left is None or right is None or sums not in ("float", "int"):
        return None
    taken = (
        f"const descriptor* d, const {left}* left_given, const {right}* right_given, "
        f"{sums}* sums, int threads"
    )
    return shims.function_of(name, "void", taken, f"eights::multiply({_IN_REGISTERS});")
