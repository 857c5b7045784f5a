"""Copies between places of any strides: transpose, concat, broadcast, resize, segmentation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from assay.hw.torq.words.commands import SliceTask

from ..slice.errors import IllegalSliceProgram
from ..slice.formats import limits
from ..slice.kernel import SliceKernel
from ..slice.loops import Index
from ..slice.tensor import Tensor, View

LANES = 16
"""Elements that the activation unit passes on at a time."""
Axis = tuple[int, int, int]
"""Steps, and bytes from one to the next in source and target."""


def move(name: str, source: View, target: View) -> list[SliceTask]:
    """Tasks that copy a block to another of the same shape, element by element.

    Runs that are contiguous on both sides go up to 16 elements at a time; a stride of 0 in the
    source repeats. Raises IllegalSliceProgram.
    """
    if source.shape != target.shape or source.tensor.dtype != target.tensor.dtype:
        raise IllegalSliceProgram(
            "shapes",
            f"{name}: {source.shape} of {source.tensor.dtype} to {target.shape} of "
            f"{target.tensor.dtype}",
        )
    source = replace(source, tensor=source.tensor.bits)
    target = replace(target, tensor=target.tensor.bits)
    element = source.tensor.element
    axes = _merged(
        [
            axis
            for axis in zip(source.shape, source.strides, target.strides, strict=True)
            if axis[0] > 1
        ]
    )
    run = 1
    if axes and axes[-1][1:] == (element, element):
        run = axes.pop()[0]
    tasks = []
    done = 0
    for width in _widths(run):
        count = (run - done) // width
        tasks.append(_task(name, source, target, axes, done * element, count, width))
        done += count * width
    return tasks


def _widths(run: int) -> list[int]:
    """Elements at a time: as many as possible, then what is left of a run."""
    widths = [LANES] if run >= LANES else []
    rest = run % LANES
    while rest:
        widths.append(1 << (rest.bit_length() - 1))
        rest -= widths[-1]
    return widths


def _merged(axes: list[Axis]) -> list[Axis]:
    """Neighbouring axes as one where one goes on as the other ends, on both sides."""
    merged: list[Axis] = []
    for axis in axes:
        if merged:
            count, source, target = merged[-1]
            if source == axis[0] * axis[1] and target == axis[0] * axis[2]:
                merged[-1] = (count * axis[0], axis[1], axis[2])
                continue
        merged.append(axis)
    return merged


def _task(
    name: str,
    source: View,
    target: View,
    axes: Sequence[Axis],
    offset: int,
    count: int,
    width: int,
) -> SliceTask:
    element = source.tensor.element
    low, high = limits(source.tensor.dtype)
    k = SliceKernel(name)
    with ExitStack() as nest:
        read, write = Index({}, offset), Index({}, offset)
        for steps, from_, to in (*axes, (count, width * element, width * element)):
            loop = nest.enter_context(k.each(steps))
            read, write = read + loop * from_, write + loop * to
        # The activation unit takes two words at the least; of a single one the second is dropped.
        k.load_data(source.at(read).with_block((width, element)))
        k.combine("BOR")
        k.activate(width=width, low=low, high=high)
        k.store(target.at(write).with_block((width, element)))
    return k.task()


def transpose(x: Tensor, output: Tensor, order: Sequence[int]) -> list[SliceTask]:
    """Tasks for output dimension i = x dimension order[i]. Raises IllegalSliceProgram."""
    if sorted(order) != list(range(len(x.shape))):
        raise IllegalSliceProgram("transpose", f"{tuple(order)} is no order of {x.shape}")
    turned = View(
        tensor=x,
        place=Index(),
        shape=tuple(x.shape[axis] for axis in order),
        strides=tuple(x.strides[axis] for axis in order),
    )
    return move("transpose", turned, _whole(output))


def concat(parts: Sequence[Tensor], output: Tensor, axis: int) -> list[SliceTask]:
    """Tasks that put tensors one behind the other along an axis. Raises IllegalSliceProgram."""
    tasks: list[SliceTask] = []
    start = 0
    for part in parts:
        view = View(
            tensor=output,
            place=Index({}, start * output.strides[axis]),
            shape=part.shape,
            strides=output.strides,
        )
        tasks += move("concat", _whole(part), view)
        start += part.shape[axis]
    if start != output.shape[axis]:
        raise IllegalSliceProgram(
            "shapes", f"concat: parts of {start} in all to {output.shape[axis]} along axis {axis}"
        )
    return tasks


def resize_nearest(x: Tensor, output: Tensor, factors: tuple[int, int]) -> list[SliceTask]:
    """Tasks that repeat rows and columns of x (n, h, w, c) so many times.

    Raises IllegalSliceProgram.
    """
    n, h, w, c = x.shape
    down, right = factors
    if output.shape != (n, h * down, w * right, c):
        raise IllegalSliceProgram("shapes", f"resize: {x.shape} times {factors} to {output.shape}")
    source = View(
        tensor=x,
        place=Index(),
        shape=(n, h, down, w, right, c),
        strides=(x.strides[0], x.strides[1], 0, x.strides[2], 0, x.strides[3]),
    )
    rows, columns = output.strides[1], output.strides[2]
    target = View(
        tensor=output,
        place=Index(),
        shape=source.shape,
        strides=(
            output.strides[0],
            rows * down,
            rows,
            columns * right,
            columns,
            output.strides[3],
        ),
    )
    return move("resize", source, target)


def broadcast(x: Tensor, output: Tensor) -> list[SliceTask]:
    """Tasks that repeat x along the axes in which it has one step. Raises IllegalSliceProgram."""
    pairs = list(zip(x.shape, output.shape, strict=True))
    if any(mine not in (1, wanted) for mine, wanted in pairs):
        raise IllegalSliceProgram("shapes", f"broadcast: {x.shape} to {output.shape}")
    repeated = View(
        tensor=x,
        place=Index(),
        shape=output.shape,
        strides=tuple(
            0 if mine == 1 else stride for (mine, _), stride in zip(pairs, x.strides, strict=True)
        ),
    )
    return move("broadcast", repeated, _whole(output))


def _whole(tensor: Tensor) -> View:
    return View(tensor=tensor, place=Index(), shape=tensor.shape, strides=tensor.strides)
