"""Modules with an executable of the NPU and a host program that runs it."""

from __future__ import annotations

import re

import numpy as np

from ...status import StatusError
from ...torq.archive import SUFFIX
from ...torq.buffers import described, elements_of, read_by, sizes_of, written_by
from ...torq.commands import FORMAT
from ...torq.driver import TorqDevice
from ...torq.format import Executable
from ...torq.write import write_executable
from .host_program import HostProgram, Tensor, host_program
from .module import write_module

FUNCTION = "main"
"""What IREE's importers call the function of a model."""


def torq_module(executable: Executable, function: str = FUNCTION) -> bytes:
    """A `.vmfb`: the executable, and a program that runs it with tensors for its buffers.

    Buffers that are read are the arguments of `function`, those that are written its results, both
    in the order of their numbers. Raises StatusError for what such a program cannot call.
    """
    kernel = executable.name or function
    inputs, outputs = read_by(executable), written_by(executable)
    both = sorted(set(inputs) & set(outputs))
    if both:
        raise StatusError(
            "UNIMPLEMENTED",
            f"{kernel}: buffer {both[0]} is both read and written; arguments of modules are not",
        )
    count = max((*inputs, *outputs), default=-1) + 1
    places = {number: (True, at) for at, number in enumerate(outputs)}
    places |= {number: (False, at) for at, number in enumerate(inputs)}
    if len(places) != count:
        raise StatusError("INVALID_ARGUMENT", f"{kernel}: some of its {count} buffers has no use")
    definition, number = host_program(
        HostProgram(
            function=function,
            device=TorqDevice.family,
            format=FORMAT,
            executable=write_executable(executable),
            kernel=kernel,
            arguments=tuple(_tensor(executable, number) for number in inputs),
            results=tuple(_tensor(executable, number) for number in outputs),
            bindings=tuple(places[number] for number in range(count)),
        )
    )
    return write_module(definition, {number: re.sub(r"[^\w.-]", "_", kernel) + SUFFIX})


def _tensor(executable: Executable, number: int) -> Tensor:
    size = sizes_of(executable)[number]
    found = elements_of(described(executable, number), size)
    dtype, shape = found or (np.dtype(np.int8), (size,))
    return Tensor(dtype=dtype, shape=shape)
