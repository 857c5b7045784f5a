"""Runs planned kernels on the emulated device."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated import DeviceOptions, MTLBuffer, MTLDevice, MTLFunction, MTLLibrary
from assay.hal.metal.emulated.programs.budget import report_memory
from assay.hal.metal.emulated.resources.undefined import leave_uninitialised
from assay.hal.metal.emulated.tensors.descriptor import ELEMENTS

from .contents import Bytes
from .inputs import Size
from .plan import Bound, Plan
from .scalars import element_of
from .tensors import tensor_of
from .textures import assumed_sampler, assumed_texture

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, ArgumentBufferMember, KernelLibrary

FUEL = 1 << 31
"""Instructions of one simdgroup, unless ASSAY_FUEL says otherwise: some seconds."""

_POINTED_TO = 1 << 16  # bytes of a buffer that an argument buffer's pointer is assumed to lead to
_SHARED = metal.MTLResourceStorageModeShared


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a run left in the buffers by argument name, or what stopped it.

    Bytes that nobody wrote are as in the plan, and not among those that `written` tells.
    """

    given: Mapping[str, _Given]
    error: Exception | None

    @cached_property
    def _left(self) -> Mapping[str, tuple[Bytes, NDArray[np.bool_]]]:
        """Looked at when somebody asks: the buffers may be large."""
        return {name: _left(buffer) for name, buffer in self.given.items()}

    @cached_property
    def buffers(self) -> Mapping[str, Bytes]:
        """Bytes by argument name."""
        return {name: data for name, (data, _) in self._left.items()}

    @cached_property
    def written(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which of them were written."""
        return {name: written for name, (_, written) in self._left.items()}

    @property
    def is_fault(self) -> bool:
        """Whether the kernel itself was stopped, which is a finding already."""
        from assay.sim.simt import KernelFault

        return isinstance(self.error, KernelFault)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Given:
    """A buffer, what the plan has for it, and what is in it instead if that is uninitialised.

    `element` is the size in bytes of what kernels write at once.
    """

    buffer: MTLBuffer
    planned: Bytes
    before: Bytes | None
    element: int


class CannotRun(Exception):
    """A kernel cannot be run at all; `str()` says why."""


@contextmanager
def _refusals() -> Iterator[None]:
    """What Metal refuses cannot be run."""
    try:
        yield
    except metal.MetalError as error:
        raise CannotRun(str(error)) from None


class Runner:
    """One library on a device of its own.

    `fuel` limits the instructions of a simdgroup; if it is None, ASSAY_FUEL or some seconds do.
    """

    def __init__(
        self, library: KernelLibrary, *, chip: str = "m1", fuel: int | None = None
    ) -> None:
        if fuel is None and not os.environ.get("ASSAY_FUEL"):
            fuel = FUEL
        self._device = MTLDevice(DeviceOptions(chip=chip, fuel=fuel))
        self._library = MTLLibrary(self._device, library)
        self._queue = self._device.newCommandQueue()

    def run(self, plan: Plan, seed: int = 0) -> Outcome:
        """One dispatch, and what it left; `seed` chooses what uninitialised memory holds.

        Raises CannotRun.
        """
        with _refusals():
            self._require_memory(plan)
            commands, buffers = self._launch(plan, seed)
        return Outcome(given=buffers, error=_failure(commands))

    def launch(self, plan: Plan) -> Exception | None:
        """One dispatch; what stopped it, if anything did. Raises CannotRun."""
        with _refusals():
            self._require_memory(plan)
            commands, _ = self._launch(plan, 0)
        return _failure(commands)

    def _launch(self, plan: Plan, seed: int) -> tuple[metal.MTLCommandBuffer, dict[str, _Given]]:
        """Run the plan to its end; its command buffer, and the buffers by argument name."""
        function = MTLFunction(self._library, plan.kernel.name, plan.kernel)
        pipeline, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
        if pipeline is None:
            assert error is not None
            raise CannotRun(error.localizedDescription())
        commands = self._queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        buffers = self._bind(encoder, plan, seed)
        grid = plan.grid
        if grid.threads is not None:
            encoder.dispatchThreads_threadsPerThreadgroup_(grid.threads, grid.threadgroup)
        else:
            assert grid.threadgroups is not None
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid.threadgroups, grid.threadgroup)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        return commands, buffers

    def _require_memory(self, plan: Plan) -> None:
        """Refuse what needs too much threadgroup memory. Raises CannotRun."""
        static = plan.kernel.program().static_threadgroup_memory
        total = static + sum(bound.length for bound in plan.bound if bound.data is None)
        limit = self._device.maxThreadgroupMemoryLength()
        if total > limit:
            report_memory(plan.kernel, static, total, limit)
            raise CannotRun(
                f"it needs {total} bytes of threadgroup memory; a threadgroup has {limit}"
            )

    def _bind(
        self, encoder: metal.MTLComputeCommandEncoder, plan: Plan, seed: int
    ) -> dict[str, _Given]:
        """Set every argument; the buffers by argument name."""
        buffers: dict[str, _Given] = {}
        for bound in plan.bound:
            argument = bound.argument
            if argument.kind in ("texture", "sampler"):
                self._bind_resource(encoder, argument, plan.grid.elements)
                continue
            if bound.data is None:
                encoder.setThreadgroupMemoryLength_atIndex_(bound.length, argument.index)
                continue
            buffer = self._buffer(bound, bound.data, seed)
            if argument.members and bound.is_assumed:
                for member in argument.members:
                    self._fill_member(encoder, buffer, member)
            if argument.kind == "tensor":
                encoder.bind_tensor(tensor_of(buffer, argument, bound.shape), argument.index)
            else:
                encoder.setBuffer_offset_atIndex_(buffer, 0, argument.index)
            before = None if bound.is_initialised else _bytes_in(buffer)
            buffers[argument.name] = _Given(
                buffer=buffer, planned=bound.data, before=before, element=_element_size(bound)
            )
        return buffers

    def _bind_resource(
        self, encoder: metal.MTLComputeCommandEncoder, argument: Argument, elements: Size
    ) -> None:
        """Set an assumed texture or sampler, or all of an array of them."""
        for number in range(argument.count):
            index = argument.index + number
            if argument.kind == "sampler":
                encoder.setSamplerState_atIndex_(assumed_sampler(self._device), index)
            else:
                texture = assumed_texture(self._device, argument, elements, seed=index)
                encoder.setTexture_atIndex_(texture, index)

    def _buffer(self, bound: Bound, data: Bytes, seed: int) -> MTLBuffer:
        device = self._device
        if bound.is_initialised:
            buffer = device.newBufferWithBytes_length_options_(data, data.nbytes, _SHARED)
        else:
            buffer = device.newBufferWithLength_options_(data.nbytes, _SHARED)
            leave_uninitialised(buffer, seed)
        buffer.setLabel_(bound.argument.name)
        return buffer

    def _fill_member(
        self,
        encoder: metal.MTLComputeCommandEncoder,
        buffer: MTLBuffer,
        member: ArgumentBufferMember,
    ) -> None:
        """An argument buffer's pointer leads to a buffer, its numbers are small."""
        if member.kind != "buffer":
            return
        target = self._device.newBufferWithLength_options_(_POINTED_TO, _SHARED)
        target.setLabel_(member.name)
        encoder.useResource_usage_(target, metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite)
        words = np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.uint8)
        address = np.array([target.gpuAddress()], "<u8").view(np.uint8)
        words[member.offset : member.offset + 8] = address


def _failure(commands: metal.MTLCommandBuffer) -> Exception | None:
    """What stopped a command buffer that has ended, if anything did."""
    failure = commands.error()
    cause = failure.cause if failure is not None else None
    return cause if isinstance(cause, Exception) else None


def _element_size(bound: Bound) -> int:
    """Bytes of the scalars that a buffer holds; 1 if they are not known or do not fill it."""
    element = element_of(bound.argument.type_name) or ELEMENTS.get(bound.argument.data_type)
    if element is None or bound.length % element.itemsize:
        return 1
    return element.itemsize


def _left(given: _Given) -> tuple[Bytes, NDArray[np.bool_]]:
    """(bytes of a buffer after a run, which of them count as written)."""
    data = _bytes_in(given.buffer)
    if given.before is None:
        return data, np.broadcast_to(np.True_, data.shape)
    written = data != given.before
    # A byte may be written with what is there already; of a whole element that is no chance.
    elements = np.repeat(written.reshape(-1, given.element).any(axis=1), given.element)
    return np.where(elements | (given.element == 1), data, given.planned), written


def _bytes_in(buffer: MTLBuffer) -> Bytes:
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.uint8).copy()
