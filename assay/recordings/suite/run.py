"""Runs cases through whichever Metal is imported: Apple's on a Mac, or the emulated one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .case import FLOATS, Case

THREADS: Final = 1024
_THREADGROUP: Final = 256
_SEED: Final = 20
_DTYPES: dict[str, Any] = {
    "bfloat": ml_dtypes.bfloat16,
    "float": np.float32,
    "half": np.float16,
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 65504.0, 1e-7, 1e38)


def run_cases(chosen: Sequence[Case]) -> dict[str, str]:
    """Run cases; those that failed, with the reason."""
    metal: Any = import_module("Metal")
    device = metal.MTLCreateSystemDefaultDevice()
    queue = device.newCommandQueue()
    failed = {}
    for case in chosen:
        why = _run(metal, device, queue, case)
        if why:
            failed[case.name] = why
    return failed


def source_of(case: Case) -> str:
    """The MSL of a case."""
    return (
        f"#include <metal_stdlib>\nusing namespace metal;\n{case.declared}"
        f"kernel void {kernel_of(case)}(device const {case.given}* x [[buffer(0)]],\n"
        f"    device const {case.given}* y [[buffer(1)]], device {case.result}* z [[buffer(2)]],\n"
        f"    {case.parameters} "
        "uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
        f"    {case.given} a = x[i];\n    {case.given} b = y[i];\n    {case.result} r;\n"
        f"    {case.body}\n    z[i] = r;\n}}\n"
    )


def kernel_of(case: Case) -> str:
    """The name of a case's kernel."""
    return case.name.replace("/", "_").replace("-", "_")


def values_of(case: Case) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y: of floats all exponents and special values, of integers all bits and the ends.

    Of a case with a domain, numbers within it.

    Sums and products of a simdgroup are of small numbers, which no order of adding changes, and so
    are atomic ones of floats.
    """
    draw = np.random.default_rng([_SEED, *case.name.encode()])
    dtype = np.dtype(_DTYPES[case.given])
    if case.name.startswith(("simdgroup/", "matrix/", "atomic/add-float")):
        small = draw.integers(0, 3, (2, THREADS)).astype(dtype)
        return small[0], small[1]
    size = dtype.itemsize
    if case.domain:
        within = draw.uniform(-case.domain, case.domain, (2, THREADS)).astype(dtype)
        return within[0], within[1]
    data = draw.integers(0, 256, (2, THREADS * size), np.uint8).view(dtype)
    special: NDArray[Any] = np.array(_SPECIAL, np.float64)
    if case.given in (*FLOATS, "bfloat"):
        with np.errstate(over="ignore"):
            ends = special.astype(dtype)
    else:
        info = np.iinfo(dtype)
        ends = np.array([0, 1, 2, 7, info.max, info.min, info.max - 1, info.min + 1], dtype)
    pairs = np.array(np.meshgrid(ends, ends)).reshape(2, -1)
    data[:, : pairs.shape[1]] = pairs
    return data[0], data[1]


def _lanes(result: str) -> int:
    return 4 if result.endswith("4") else 1


def _run(metal: Any, device: Any, queue: Any, case: Case) -> str:
    """Run a case; why it failed, "" if it did not."""
    options = metal.MTLCompileOptions.new()
    options.setFastMathEnabled_(case.is_fast)
    library, error = device.newLibraryWithSource_options_error_(source_of(case), options, None)
    if library is None:
        return str(error.localizedDescription())
    function = library.newFunctionWithName_(kernel_of(case))
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if state is None:
        return str(error.localizedDescription())
    result = np.zeros((THREADS, _lanes(case.result)), _DTYPES[case.result.rstrip("4")])
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setLabel_(case.name)
    encoder.setComputePipelineState_(state)
    for index, data in enumerate((*values_of(case), result)):
        buffer = device.newBufferWithBytes_length_options_(data.tobytes(), data.nbytes, 0)
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)
    if case.bind is not None:
        case.bind(metal, device, encoder, function)
    size = metal.MTLSizeMake
    encoder.dispatchThreads_threadsPerThreadgroup_(size(THREADS, 1, 1), size(_THREADGROUP, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    error = commands.error()
    return "" if error is None else str(error.localizedDescription())
