"""Runs a case as a program for a Mac would: through the Metal API, whatever its limits say."""

from __future__ import annotations

import math

import numpy as np

from assay.hal.metal import emulated as metal
from assay.sim.check import Checker, Finding

from .cases import Case


def findings_of_program(case: Case, checks: frozenset[str]) -> list[Finding]:
    """What the checks say to a program that dispatches the kernel; it may be refused."""
    checker = Checker(checks)
    with metal.checking(checker):
        try:
            _run(case)
        except metal.MetalError:
            assert checker.findings, f"{case.name}: refused without a finding"
    return list(checker.findings)


def _run(case: Case) -> None:
    device = metal.MTLCreateSystemDefaultDevice()
    source = case.path.read_text()
    library, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_(case.kernel)
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert pipeline is not None, error
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    for index, given in enumerate(case.settings["arguments"].values()):
        length = math.prod(given["shape"]) * np.dtype(given["dtype"]).itemsize
        encoder.setBuffer_offset_atIndex_(device.newBufferWithLength_options_(length, 0), 0, index)
    size = _size(case.settings["threadgroup"])
    if "threads" in case.settings:
        grid = _size(case.settings["threads"])
        encoder.dispatchThreads_threadsPerThreadgroup_(grid, size)
    else:
        grid = _size(case.settings["threadgroups"])
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid, size)
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()


def _size(axes: list[int]) -> metal.MTLSize:
    return metal.MTLSizeMake(*(*axes, 1, 1)[:3])
