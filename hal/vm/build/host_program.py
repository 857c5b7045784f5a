"""A host program for one executable: finds the device, and runs the executable for its caller.

What it asks of the HAL, and in which order, is what IREE's compiler emits for a model of one
dispatch: an initialiser that looks for the device, prepares the executable and records a command
buffer for use again and again; a function that checks its arguments, allocates its results in one
buffer, submits the command buffer with both, and waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ... import element_type as elements
from ...status import StatusError
from ..archive import ModuleDefinition
from ..modules.hal_commands import MOST_BINDINGS
from .function import FunctionWriter, Register
from .parts import Parts

DEVICE_TYPE = "!hal.device"
COMMANDS_TYPE = "!hal.command_buffer"
_ALL_QUEUES = -1
_FOREVER = -1
_ALIGNMENT = 64
"""Of results in their buffer."""
_MEMORY_DEVICE_VISIBLE = 0x10
_MEMORY_DEVICE_LOCAL = 0x30
_USAGE = 0xC03
"""Transfers and shader storage."""
_TRANSFER_AND_DISPATCH = 3
_BARRIER_SOURCE = 0x1C
"""Dispatch, transfer and retiring of commands, ..."""
_BARRIER_TARGET = 0x0D
"""... before issuing, dispatch and transfer of those that follow."""
_INCOMPATIBLE = 18
ALL = -1
"""Instead of a number: all arguments, or all results."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """An argument or a result: dense, in row-major order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def code(self) -> int:
        """The element type as the HAL has it."""
        return elements.code_of(self.dtype)

    def __str__(self) -> str:
        shape = "".join(f"{steps}x" for steps in self.shape)
        return f"tensor<{shape}{elements.text(self.code)}>"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostProgram:
    """What a host program is for.

    Attributes:
        function: its name for callers.
        device, format: the device's family, and the format of executables that it must take.
        executable: the executable's bytes; `kernel` is the name that it is found by.
        bindings: for each binding of the executable the number of an argument, or of a result; or
            ALL of them, one behind the other as `packed` has them. Arguments are copied together.
    """

    function: str
    device: str
    format: str
    executable: bytes
    kernel: str
    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    bindings: tuple[tuple[bool, int], ...]
    """(whether it is a result, its number)."""

    @property
    def declaration(self) -> str:
        """The function's signature in IREE's words."""
        takes, gives = (
            ", ".join(f"%{kind}{number}: {tensor}" for number, tensor in enumerate(tensors))
            for kind, tensors in (("input", self.arguments), ("output", self.results))
        )
        return f"sync func @{self.function}({takes}) -> ({gives})"


def host_program(program: HostProgram) -> tuple[ModuleDefinition, int]:
    """The module, and the number of its read-only data that is the executable.

    Raises StatusError if the executable has more bindings than a dispatch of IREE's HAL takes.
    """
    if len(program.bindings) > MOST_BINDINGS:
        raise StatusError(
            "RESOURCE_EXHAUSTED",
            f"{program.kernel} takes {len(program.bindings)} buffers, and a dispatch of IREE's HAL "
            f"{MOST_BINDINGS} at most: write it as .torq, which needs no host program",
        )
    return _Builder(program).module()


class _Builder:
    def __init__(self, program: HostProgram) -> None:
        self.program = program
        self.parts = Parts("module")
        self.device = self.parts.new_global()
        self.commands = self.parts.new_global()
        self.offsets, self.result_bytes = packed(program.results)
        # One buffer is allocated: results, and behind them arguments that are copied together.
        self.together, argument_bytes = packed(program.arguments)
        self.argument_start = _aligned(self.result_bytes)
        self.argument_bytes = argument_bytes if (False, ALL) in program.bindings else 0
        has_both = self.argument_start + self.argument_bytes
        self.allocated = has_both if self.argument_bytes else self.result_bytes

    def module(self) -> tuple[ModuleDefinition, int]:
        self.add_initialiser()
        self.add_function()
        return self.parts.module(), self.parts.data(self.program.executable)

    def add_initialiser(self) -> None:
        writer = self.parts.function("0v_v")
        device = self.find_device(writer)
        self.store(writer, DEVICE_TYPE, self.device, device)
        (executable,) = writer.call(
            "executable.create",
            device,
            writer.i64(_ALL_QUEUES),
            self.text(writer, self.program.format),
            writer.data(self.parts.data(self.program.executable)),
            writer.null(),
        )
        self.store(writer, COMMANDS_TYPE, self.commands, self.record(writer, device, executable))
        writer.do("return", [])
        self.parts.add("__init", writer)

    def find_device(self, writer: FunctionWriter) -> Register:
        """The first device of the family that takes such executables; fails if there is none."""
        (count,) = writer.call("devices.count")
        index, one = writer.new("i"), writer.i32(1)
        writer.do("const.i32.zero", index)
        loop, body, ask, following, missing, found = (writer.block() for _ in range(6))
        writer.do("br", loop)
        writer.at(loop)
        writer.do("cond_br", writer.get("i", "cmp.lt.i32.s", index, count), body, missing)
        writer.at(body)
        (device,) = writer.call("devices.get", index)
        is_family = self.has(writer, device, "hal.device.id", self.program.device)
        writer.do("cond_br", is_family, ask, following)
        writer.at(ask)
        takes = self.has(writer, device, "hal.executable.format", self.program.format)
        writer.do("cond_br", takes, found, following)
        writer.at(following)
        writer.do("add.i32", index, one, index)
        writer.do("br", loop)
        writer.at(missing)
        target = f'#hal.executable.target<"{self.program.device}", "{self.program.format}">'
        writer.do(
            "fail",
            writer.i32(_INCOMPATIBLE),
            "HAL device `__device_0` not found or unavailable: "
            f'#hal.device.target<"{self.program.device}", [{target}]>',
        )
        writer.at(found)
        return device

    def has(self, writer: FunctionWriter, device: Register, category: str, key: str) -> Register:
        """Whether a device knows a property and says yes."""
        known, value = writer.call(
            "device.query.i64", device, self.text(writer, category), self.text(writer, key)
        )
        is_set = writer.get("i", "cmp.nz.i64", value)
        return writer.get("i", "and.i32", known, is_set)

    def record(self, writer: FunctionWriter, device: Register, executable: Register) -> Register:
        """A command buffer that runs the executable on a table of the caller's buffers."""
        program, nothing = self.program, writer.i64(0)
        slots = len(program.arguments) + bool(self.allocated)
        (commands,) = writer.call(
            "command_buffer.create",
            device,
            writer.i32(0),
            writer.i32(_TRANSFER_AND_DISPATCH),
            writer.i64(_ALL_QUEUES),
            writer.i32(slots),
        )
        (kernel,) = writer.call(
            "executable.lookup.function", executable, self.text(writer, program.kernel)
        )
        if self.argument_bytes:
            self.copy_together(writer, commands)
        one = writer.i32(1)
        references = [self.reference(writer, *binding) for binding in program.bindings]
        grid = (one, one, one)
        writer.call(
            "command_buffer.dispatch", commands, executable, kernel, *grid, nothing, [], references
        )
        self.wait(writer, commands)
        writer.call("command_buffer.finalize", commands)
        return commands

    def wait(self, writer: FunctionWriter, commands: Register) -> None:
        """Record that what follows comes after what is before."""
        writer.call(
            "command_buffer.execution_barrier",
            commands,
            writer.i32(_BARRIER_SOURCE),
            writer.i32(_BARRIER_TARGET),
            writer.i64(0),
        )

    def copy_together(self, writer: FunctionWriter, commands: Register) -> None:
        """Record copies of all arguments into the buffer that is allocated."""
        for number, (tensor, offset) in enumerate(
            zip(self.program.arguments, self.together, strict=True)
        ):
            writer.call(
                "command_buffer.copy_buffer",
                commands,
                writer.i32(number),
                writer.i32(len(self.program.arguments)),
                writer.null(),
                writer.i64(0),
                writer.null(),
                writer.i64(self.argument_start + offset),
                writer.i64(tensor.size),
                writer.i64(0),
            )
        self.wait(writer, commands)

    def reference(
        self, writer: FunctionWriter, is_result: bool, number: int
    ) -> tuple[Register, ...]:
        """A binding of the dispatch: results are parts of the last slot's buffer."""
        slot = len(self.program.arguments) if is_result or number == ALL else number
        if number == ALL:
            offset = 0 if is_result else self.argument_start
            size = self.result_bytes if is_result else self.argument_bytes
        else:
            offset = self.offsets[number] if is_result else 0
            tensors = self.program.results if is_result else self.program.arguments
            size = tensors[number].size
        place = writer.i64(offset), writer.i64(size)
        return writer.i32(0), writer.i32(slot), writer.null(), *place

    def add_function(self) -> None:
        program = self.program
        takes, gives = ("r" * len(each) or "v" for each in (program.arguments, program.results))
        writer = self.parts.function(f"0{takes}_{gives}")
        device = self.load(writer, DEVICE_TYPE, self.device)
        commands = self.load(writer, COMMANDS_TYPE, self.commands)
        table = self.checked_arguments(writer, device)
        nothing, everywhere = writer.i64(0), writer.i64(_ALL_QUEUES)
        before = writer.null()
        storage = writer.null()
        if self.allocated:
            (before,) = writer.call("fence.create", device, nothing)
            (storage,) = writer.call(
                "device.queue.alloca",
                device,
                everywhere,
                writer.null(),
                before,
                nothing,
                writer.i32(_MEMORY_DEVICE_LOCAL),
                writer.i32(_USAGE),
                writer.i64(self.allocated),
                nothing,
            )
            table.append((storage, nothing, writer.i64(self.allocated)))
        (done,) = writer.call("fence.create", device, nothing)
        writer.call(
            "device.queue.execute.indirect",
            device,
            everywhere,
            before,
            done,
            commands,
            nothing,
            table,
        )
        (status,) = writer.wait("fence.await", writer.i32(_FOREVER), nothing, [(done,)])
        failed, finished = writer.block(), writer.block()
        writer.do("cond_br", status, failed, finished)
        writer.at(failed)
        writer.do("fail", status, "failed to wait on timepoint")
        writer.at(finished)
        views = [self.view(writer, storage, number) for number in range(len(program.results))]
        writer.do("return", views)
        declared = {"iree.abi.declaration": program.declaration}
        self.parts.add(program.function, writer, declared)

    def checked_arguments(
        self, writer: FunctionWriter, device: Register
    ) -> list[tuple[Register, ...]]:
        """The buffers of the arguments, whose types, shapes and memory are checked."""
        table: list[tuple[Register, ...]] = []
        for number, (view, tensor) in enumerate(
            zip(writer.arguments, self.program.arguments, strict=True)
        ):
            size, kind = writer.i64(tensor.size), writer.i32(tensor.code)
            writer.call(
                "buffer_view.assert",
                view,
                self.text(writer, f"input{number}"),
                kind,
                writer.i32(elements.DENSE_ROW_MAJOR),
                _dims(writer, tensor),
            )
            (buffer,) = writer.call("buffer_view.buffer", view)
            (allocator,) = writer.call("device.allocator", device)
            writer.call(
                "buffer.assert",
                buffer,
                self.text(writer, "tensor"),
                allocator,
                size,
                writer.i32(_MEMORY_DEVICE_VISIBLE),
                writer.i32(_USAGE),
            )
            table.append((buffer, writer.i64(0), size))
        return table

    def view(self, writer: FunctionWriter, storage: Register, number: int) -> Register:
        """A result out of the buffer of all."""
        tensor = self.program.results[number]
        (view,) = writer.call(
            "buffer_view.create",
            storage,
            writer.i64(self.offsets[number]),
            writer.i64(tensor.size),
            writer.i32(tensor.code),
            writer.i32(elements.DENSE_ROW_MAJOR),
            _dims(writer, tensor),
        )
        return view

    def text(self, writer: FunctionWriter, text: str) -> Register:
        return writer.data(self.parts.text(text))

    def store(self, writer: FunctionWriter, kind: str, place: int, register: Register) -> None:
        writer.do("global.store.ref", place, self.parts.type(kind), register)

    def load(self, writer: FunctionWriter, kind: str, place: int) -> Register:
        return writer.get("r", "global.load.ref", place, self.parts.type(kind))


def _dims(writer: FunctionWriter, tensor: Tensor) -> list[tuple[Register]]:
    return [(writer.i64(steps),) for steps in tensor.shape]


def packed(tensors: Sequence[Tensor]) -> tuple[tuple[int, ...], int]:
    """Where each tensor is in a buffer of all, and the bytes of that."""
    offsets = []
    end = 0
    for tensor in tensors:
        offsets.append(_aligned(end))
        end = offsets[-1] + tensor.size
    return tuple(offsets), end


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT
