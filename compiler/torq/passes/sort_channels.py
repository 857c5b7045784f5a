"""Channels in the order that needs the fewest tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, SSAValue

from ...graph.elements import Array, dense_of
from ..hl.attributes import attribute_of
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.operator_of import NoOperator, operator_of
from ..hl.products import Convolution, DepthwiseConvolution, FullyConnected
from ..hl.types import tensor_of
from ..kernels.scales import bits_of_sums
from ..kernels.variants import variants
from ..operators.quantisation import Rescale
from ..operators.tensors import Region
from ..slice.errors import IllegalSliceProgram
from ..slice.scaling import shift_classes
from .base import HlPass, insert
from .orders import Group, groups_of
from .ties import Place, channel_axis, channels_of

_SCALED = (Convolution, DepthwiseConvolution, FullyConnected)
_CYCLES_PER_TASK = 300
"""What a task costs besides its sums: some 1,000 bytes of commands, a start."""
Orders = Mapping[Place, Sequence[int]]
"""Of axes whose elements are in another order: where each one was before."""


class SortChannels(HlPass):
    """Puts channels whose sums are shifted by as many bits side by side.

    A task shifts all its sums alike, and a shift that rounds twice cannot be had by another factor.
    So weights of one scale per channel need a task for each run of channels of one shift. The
    order of channels is free wherever nobody outside sees it: weights follow it on both sides.
    Operators that must have one order, as those on both sides of an addition, get the order that
    is best for the one that wins most; among channels alike for that one, the next best decides.

    Before:
        %w = torq_hl.const {values = dense<[[[[1]]], [[[2]]], [[[3]]], [[[4]]]]>
            : tensor<4x1x1x1xi8>} : tensor<4x1x1x1xi8>
        %b = torq_hl.const {values = dense<[5, 6, 7, 8]> : tensor<4xi32>} : tensor<4xi32>
        %0 = torq_hl.convolution %x, %w, %b
            {rescale = #torq_hl.rescale<[1111111111, 2111111111, 1311111111, 2011111111],
            [38, 39, 38, 39], zp 0, range -128 to 127, double>}
            : (tensor<1x1x2x2xi8, planes>, tensor<4x1x1x1xi8>, tensor<4xi32>)
            -> tensor<1x4x2x2xi8, planes>
        %v = torq_hl.const {values = dense<[[[[1]], [[2]], [[3]], [[4]]]]>
            : tensor<1x4x1x1xi8>} : tensor<1x4x1x1xi8>
        %c = torq_hl.const {values = dense<[9]> : tensor<1xi32>} : tensor<1xi32>
        %1 = torq_hl.convolution %0, %v, %c
            : (tensor<1x4x2x2xi8, planes>, tensor<1x4x1x1xi8>, tensor<1xi32>)
            -> tensor<1x1x2x2xi32, planes>
    After:
        %w = torq_hl.const {values = dense<[[[[1]]], [[[3]]], [[[2]]], [[[4]]]]>
            : tensor<4x1x1x1xi8>} : tensor<4x1x1x1xi8>
        %b = torq_hl.const {values = dense<[5, 7, 6, 8]> : tensor<4xi32>} : tensor<4xi32>
        %0 = torq_hl.convolution %x, %w, %b
            {rescale = #torq_hl.rescale<[1111111111, 1311111111, 2111111111, 2011111111],
            [38, 38, 39, 39], zp 0, range -128 to 127, double>}
            : (tensor<1x1x2x2xi8, planes>, tensor<4x1x1x1xi8>, tensor<4xi32>)
            -> tensor<1x4x2x2xi8, planes>
        %c = torq_hl.const {values = dense<[9]> : tensor<1xi32>} : tensor<1xi32>
        %v = torq_hl.const {values = dense<[[[[1]], [[3]], [[2]], [[4]]]]>
            : tensor<1x4x1x1xi8>} : tensor<1x4x1x1xi8>
        %1 = torq_hl.convolution %0, %v, %c
            : (tensor<1x4x2x2xi8, planes>, tensor<1x4x1x1xi8>, tensor<1xi32>)
            -> tensor<1x1x2x2xi32, planes>
    """

    name: ClassVar[str] = "sort-channels"

    def run(self, block: Block) -> None:
        """Chooses an order for each group, then moves all constants."""
        layers = {channels_of(op.value): layer for op in block.ops if (layer := _layer(op))}
        if not layers:
            return
        orders: dict[Place, list[int]] = {}
        for group in groups_of(block):
            order = _order(group, layers)
            if order is None:
                continue
            for (value, axis), start in group.starts:
                whole = orders.setdefault((value, axis), list(range(tensor_of(value).shape[axis])))
                whole[start : start + group.size] = [start + place for place in order]
        for op in list(block.ops):
            if isinstance(op, Const):
                _move_const(op, orders)
            elif isinstance(op, _SCALED):
                _move_weights(op, orders)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """An operator that scales by channel.

    Attributes:
        classes: by channel; neighbours of one class are scaled by one task.
        unit: channels of a task that are computed at a time.
        cycles: for each unit.
    """

    classes: tuple[int, ...]
    unit: int
    cycles: float

    def cost(self, classes: Sequence[int]) -> float:
        """Cycles of channels in this order."""
        runs = [sum(1 for _ in same) for _, same in groupby(classes)]
        units = sum(-(-run // self.unit) for run in runs)
        return units * self.cycles + len(runs) * _CYCLES_PER_TASK


def _layer(op: Any) -> _Layer | None:
    """What an operation is as a layer; None if it does not scale by channel."""
    if not isinstance(op, _SCALED):
        return None
    scaling = op.field("rescale")
    if not isinstance(scaling, Rescale) or len(scaling.multipliers) == 1:
        return None
    many = len(scaling.multipliers)
    try:
        classes = shift_classes(scaling, many, bits_of_sums(tensor_of(op.operands[0]).dtype, 0))
        operator = operator_of(op)
    except (IllegalSliceProgram, NoOperator):
        return None
    single: Any = changed(operator, rescale=scaling.channels(0, 1))  # type: ignore[call-arg]
    kernels = variants(single)
    if not kernels:
        return None
    axis = channel_axis(op.type)
    units = [dim.best for dim in kernels[0].tile_dims(single) if dim.axis == axis]
    unit = math.lcm(*units) if units else 1
    cycles = kernels[0].cost(single, Region.whole(single.y.shape)) / -(-many // unit)
    return _Layer(classes=tuple(classes), unit=unit, cycles=cycles)


def _order(group: Group, layers: Mapping[Place, _Layer]) -> list[int] | None:
    """The order for a group; None if it is as good as it is."""
    found: list[tuple[float, _Layer, tuple[int, ...]]] = []
    for place, start in group.starts:
        if place in layers:
            layer = layers[place]
            classes = layer.classes[start : start + group.size]
            found.append((layer.cost(sorted(classes)) - layer.cost(classes), layer, classes))
    found.sort(key=lambda one: one[0])
    order = _sorted(group.size, [classes for _, _, classes in found])
    now = sum(layer.cost(classes) for _, layer, classes in found)
    then = sum(layer.cost([classes[i] for i in order]) for _, layer, classes in found)
    return order if then < now else None


def _sorted(size: int, keys: Sequence[Sequence[int]]) -> list[int]:
    """Channels by their first key, those alike by the next one.

    Classes of a key come in such an order that a run goes on in the next block where it can.
    """
    blocks = [list(range(size))]
    for key in keys:
        classes = [sorted({key[channel] for channel in block}) for block in blocks]
        finer = []
        last = -1
        for block, own, following in zip(blocks, classes, [*classes[1:], []], strict=True):
            own.sort(key=lambda one: one != last)
            own[1:] = sorted(own[1:], key=lambda one: one in following)
            finer += [[channel for channel in block if key[channel] == one] for one in own]
            last = own[-1]
        blocks = finer
    return [channel for block in blocks for channel in block]


def _move_const(op: Const, orders: Orders) -> None:
    """Puts a constant into the order of what it is combined with."""
    array, moved = op.array, False
    for axis in range(array.ndim):
        order = orders.get((op.value, axis))
        if order is not None:
            array, moved = array.take(order, axis), True
    if moved:
        op.properties["values"] = _values(array, op)


def _values(array: Array, like: Const) -> DenseIntOrFPElementsAttr:
    return dense_of(np.ascontiguousarray(array), like.type.dtype)


def _move_weights(op: HlOp, orders: Orders) -> None:
    """Puts weights, bias and scales into the order of channels on both sides."""
    made = orders.get(channels_of(op.value))
    read = orders.get(channels_of(op.operands[0]))
    if made is not None:
        op.operands[1] = _taken(op, op.operands[1], made, 0)
        op.operands[2] = _taken(op, op.operands[2], made, 0)
        scaling = op.field("rescale")
        if isinstance(scaling, Rescale) and len(scaling.multipliers) > 1:
            multipliers = tuple(scaling.multipliers[i] for i in made)
            shifts = tuple(scaling.shifts[i] for i in made)
            moved = changed(scaling, multipliers=multipliers, shifts=shifts)
            op.properties["rescale"] = attribute_of(moved)
    if read is not None and not isinstance(op, DepthwiseConvolution):
        op.operands[1] = _taken(op, op.operands[1], read, 1)


def _taken(op: HlOp, value: SSAValue, order: Sequence[int], axis: int) -> SSAValue:
    """A constant with its elements along an axis in this order, in front of an operation."""
    owner = value.owner
    assert isinstance(owner, Const)
    values = _values(owner.array.take(order, axis), owner)
    return insert(op, Const, [], owner.type, way="", values=values)
