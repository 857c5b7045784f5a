"""What a dispatch that is checked consists of: kernel, sources, contents; and what its fault is."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.sim.check import fault_finding

from ....observe import Watch

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

    from ..device import MTLDevice
    from ..programs.pipeline import MTLComputePipelineState
    from .commands import DispatchCommand


def kernel_of(pipeline: MTLComputePipelineState) -> KernelFunction:
    """The kernel that a pipeline state was made of."""
    return pipeline.kernel


def sources_of(pipeline: MTLComputePipelineState) -> Mapping[str, str]:
    """Texts that a pipeline state's kernel was compiled from, by file name."""
    return pipeline.function.library.compiled.sources()


def argument_contents(
    device: MTLDevice, command: DispatchCommand
) -> dict[str, NDArray[np.uint8] | int]:
    """By argument name a copy of each buffer from its offset on, or bytes of threadgroup memory.

    Arguments that nothing is bound to are left out.
    """
    found: dict[str, NDArray[np.uint8] | int] = {}
    arguments = command.pipeline.kernel.arguments
    for argument, value in zip(arguments, command.arguments, strict=True):
        if argument.kind == "threadgroup":
            found[argument.name] = value
        elif argument.kind == "buffer":
            host, available = device.memory.memory.resolve(value)
            if available:
                # The command buffer keeps the allocation alive while its dispatch begins.
                raw = ctypes.string_at(host, available)
                found[argument.name] = np.frombuffer(raw, np.uint8)
    return found


def report_failure(watch: Watch, error: Exception) -> None:
    """Make a finding of the fault that ended a dispatch; other errors are none."""
    from assay.sim.simt import KernelFault

    if isinstance(error, KernelFault):
        watch.checker.report(fault_finding(error))
