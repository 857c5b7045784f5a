"""From a program made of slice tasks to an executable in the vendor's format."""

from __future__ import annotations

from assay.compiler.torq import blocks
from assay.compiler.torq.blocks import Program
from assay.hw.torq.facts.hardware import HardwareError, hardware

from ..status import StatusError
from .format import (
    BLOCK_BYTES,
    Binding,
    BufferInfo,
    BufferType,
    ElementType,
    Executable,
    HostCopy,
    Segment,
    StartNss,
    WaitNss,
)

_TYPES = {
    "bool": ElementType.I1,
    "int8": ElementType.I8,
    "uint8": ElementType.I8,
    "int16": ElementType.I16,
    "int32": ElementType.I32,
    "bfloat16": ElementType.BF16,
    "float32": ElementType.F32,
}


def pack(program: Program, name: str) -> Executable:
    """An executable whose bindings are the program's, in their order, for its hardware."""
    start = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.LRAM,
        source_address=program.first_block,
        target_address=0,
        source_strides=(),
        target_strides=(),
        shape=(),
        element_bytes=BLOCK_BYTES,
    )
    runs = [_run(program, address) for address in program.starts]
    return Executable(
        name=name,
        segments=tuple(
            Segment(address=address, size=len(data), data=data)
            for address, data in program.segments
        ),
        bindings=tuple(
            Binding(
                number=number,
                address=binding.address,
                offset=0,
                size=binding.size,
                read_only=not binding.is_output,
                write_only=binding.is_output,
            )
            for number, binding in enumerate(program.bindings)
        ),
        actions=(start, *(action for run in runs for action in (run, WaitNss()))),
        buffers=tuple(_buffer(number, binding) for number, binding in enumerate(program.bindings)),
        hw_id=_hw_id(program.notes.hardware),
        notes=program.notes,
    )


def _run(program: Program, address: int) -> StartNss:
    return StartNss(
        address=address,
        slice0=program.uses_slices[0],
        slice1=program.uses_slices[1],
        dma_in=True,
        dma_out=any(binding.is_output for binding in program.bindings),
    )


def _hw_id(made_for: str) -> int:
    try:
        return hardware(made_for).hw_id if made_for else 0
    except HardwareError as error:
        raise StatusError("INVALID_ARGUMENT", f"its notes: {error}") from error


def _buffer(number: int, binding: blocks.Binding) -> BufferInfo:
    tensor = binding.tensor
    dtype, shape = binding.caller or (tensor.dtype, tensor.shape)
    return BufferInfo(
        number=number,
        allocated=-1,
        deallocated=-1,
        last_use=-1,
        buffer_type=BufferType.XRAM,
        address=binding.address,
        size=tensor.size,
        shape=shape,
        element_type=_TYPES[dtype],
        strides=tensor.strides if shape == tensor.shape else (),
    )
