"""What must hold of kernels: how many operands they have, and what their stages are passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from .. import element_type as elements
from ..status import invalid_argument
from .records import NONE, Argument, Call, Kernel, Stage
from .staged import MSL, STAGED

_MOST_OPERANDS: Final = 1024
_MOST_STAGES: Final = 64
_MOST_INDICES: Final = 31
"""Of buffers in a kernel of Metal."""
_MOST_FUNCTION_CONSTANT: Final = 65535
_MOST_INLINE: Final = 4096
"""Bytes that Metal takes as constants at one index."""
_THREADGROUP_MEMORY: Final = 32 << 10
_THREADGROUP_ALIGNMENT: Final = 16


def check_kernel(kernel: Kernel) -> None:
    """Raises StatusError for a kernel that does not hold together."""
    counts = (kernel.inputs, kernel.constants, kernel.outputs)
    if not all(0 <= count <= _MOST_OPERANDS for count in counts):
        raise invalid_argument(f"it has {counts} operands")
    if (kernel.format in STAGED) != bool(kernel.stages) or len(kernel.stages) > _MOST_STAGES:
        raise invalid_argument(f"{len(kernel.stages)} stages for the format {kernel.format!r}")
    for number, stage in enumerate(kernel.stages):
        where = f"stage {number} ({stage.entry})"
        for fault in _faults(kernel, stage):
            raise invalid_argument(f"{where}: {fault}")


def check_call(kernel: Kernel, call: Call) -> None:
    """Raises StatusError for a call that has other operands than its kernel takes."""
    given = (len(call.inputs), len(call.constants), len(call.outputs))
    if given != (kernel.inputs, kernel.constants, kernel.outputs):
        raise invalid_argument(f"{kernel.entry} does not take {given} operands")
    sizes = 3 * len(kernel.stages) if kernel.format == MSL else 0
    if (len(call.threadgroups), len(call.threads)) != (sizes, sizes):
        raise invalid_argument(
            f"{kernel.entry} takes {sizes} sizes of grids and {sizes} of threadgroups, not "
            f"{len(call.threadgroups)} and {len(call.threads)}"
        )
    if kernel.format in STAGED and kernel.takes_workspace != (call.workspace != NONE):
        raise invalid_argument(f"{kernel.entry} and its call differ in whether there is workspace")


def _faults(kernel: Kernel, stage: Stage) -> Iterator[str]:
    """What is wrong with a stage."""
    if len(stage.arguments) > _MOST_OPERANDS:
        yield f"{len(stage.arguments)} arguments"
    yield from _memory_faults(kernel, stage)
    yield from _constant_faults(kernel, stage)
    if kernel.format != MSL:
        if stage.function_constants or stage.threadgroup_memory:
            yield "only MSL has function constants and threadgroup memory"
        return
    indices = [each.index for each in stage.function_constants]
    if len(set(indices)) < len(indices) or not all(
        0 <= index <= _MOST_FUNCTION_CONSTANT for index in indices
    ):
        yield f"function constants {indices[:20]}"
    for each in stage.function_constants:
        elements.dtype_of(each.element_type)
    memory = stage.threadgroup_memory
    if len(memory) > _MOST_INDICES or not all(
        0 < size <= _THREADGROUP_MEMORY and not size % _THREADGROUP_ALIGNMENT for size in memory
    ):
        yield f"threadgroup memory of {tuple(memory)[:20]} bytes"


def _memory_faults(kernel: Kernel, stage: Stage) -> Iterator[str]:
    own = kernel.inputs + kernel.outputs
    workspace = own + kernel.constants
    memory = [each for each in stage.arguments if not own <= each.operand < workspace]
    for each in memory:
        if not 0 <= each.operand <= workspace or each.element_type:
            yield f"operand {each.operand} of {workspace} is passed"
        is_offset = each.operand == workspace and own <= each.offset < workspace
        if each.offset != NONE and not is_offset:
            yield f"operand {each.operand} begins where operand {each.offset} says"
    indices = sorted(each.index for each in stage.arguments)
    most = _MOST_INDICES if kernel.format == MSL else _MOST_OPERANDS
    if indices and not 0 <= indices[0] <= indices[-1] < most:
        yield f"indices {indices[:40]}; 0 to {most - 1} are possible"
    taken = [each.index for each in memory]
    if len(set(taken)) < len(taken):
        yield f"two tensors at one of the indices {sorted(taken)}"
    if kernel.format != MSL and sorted(taken) != list(range(len(taken))):
        yield f"buffers {sorted(taken)}, which leave some out"


def _constant_faults(kernel: Kernel, stage: Stage) -> Iterator[str]:
    own = kernel.inputs + kernel.outputs
    constants = [a for a in stage.arguments if own <= a.operand < own + kernel.constants]
    if constants and kernel.format != MSL:
        yield "only MSL takes constants"
    memory = {each.index for each in stage.arguments if each not in constants}
    for each in constants:
        size = elements.dtype_of(each.element_type).itemsize
        if size > 8 or each.index in memory or not 0 <= each.offset <= _MOST_INLINE - size:
            yield f"a constant of {size} bytes at byte {each.offset} of index {each.index}"
        if each.offset % size:
            yield f"a constant of {size} bytes at byte {each.offset}, which is not aligned"
    if _overlap(constants):
        yield "constants that overlap"


def _overlap(constants: Sequence[Argument]) -> bool:
    spans = sorted(
        (each.index, each.offset, each.offset + elements.dtype_of(each.element_type).itemsize)
        for each in constants
    )
    return any(one[0] == next_[0] and one[2] > next_[1] for one, next_ in pairwise(spans))
