"""Modules with an executable of the NPU and a host program that runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...status import StatusError
from ...torq.archive import SUFFIX
from ...torq.buffers import described, elements_of, read_by, sizes_of, written_by
from ...torq.commands import FORMAT
from ...torq.driver import TorqDevice
from ...torq.format import Executable
from ...torq.write import write_executable
from ..modules.hal_commands import MOST_BINDINGS
from .host_program import ALL, HostProgram, Tensor, host_program, packed
from .module import write_module

FUNCTION = "main"
"""What IREE's importers call the function of a model."""


def torq_module(executable: Executable, function: str = FUNCTION) -> bytes:
    """A `.vmfb`: the executable, and a program that runs it with tensors for its buffers.

    Buffers that are read are the arguments of `function`, those that are written its results, both
    in the order of their numbers. Of more than a dispatch of IREE's HAL takes, arguments are copied
    together before, and the executable has two buffers. Raises StatusError for what such a program
    cannot call.
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
    arguments = tuple(_tensor(executable, number) for number in inputs)
    results = tuple(_tensor(executable, number) for number in outputs)
    bindings = tuple(places[number] for number in range(count))
    if count > MOST_BINDINGS:
        bindings = ((False, ALL), (True, ALL))
        executable = _together(executable, (inputs, outputs), (arguments, results))
    definition, number = host_program(
        HostProgram(
            function=function,
            device=TorqDevice.family,
            format=FORMAT,
            executable=write_executable(executable),
            kernel=kernel,
            arguments=arguments,
            results=results,
            bindings=bindings,
        )
    )
    return write_module(definition, {number: re.sub(r"[^\w.-]", "_", kernel) + SUFFIX})


def _together(
    executable: Executable, numbers: Sequence[Sequence[int]], tensors: Sequence[Sequence[Tensor]]
) -> Executable:
    """The executable with two buffers: all that it reads, and all that it writes."""
    places = {
        number: (buffer, offset)
        for buffer, (each, kinds) in enumerate(zip(numbers, tensors, strict=True))
        for number, offset in zip(each, packed(kinds)[0], strict=True)
    }
    bindings = []
    for binding in executable.bindings:
        buffer, offset = places[binding.number]
        bindings.append(replace(binding, number=buffer, offset=offset + binding.offset))
    return replace(executable, bindings=tuple(bindings))


def _tensor(executable: Executable, number: int) -> Tensor:
    size = sizes_of(executable)[number]
    found = elements_of(described(executable, number), size)
    dtype, shape = found or (np.dtype(np.int8), (size,))
    return Tensor(dtype=dtype, shape=shape)
