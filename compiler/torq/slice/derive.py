"""From a loop nest to the loops of every agent and the fields of the task."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.words.commands import Dim, Ndl, SliceTask

from .counts import steps_refusal
from .errors import IllegalSliceProgram
from .formats import Lanes, bypass_lanes, is_float, product_lanes
from .held import with_meaning
from .kernel import ALL_SUMS, Nest, SliceKernel, Window
from .loops import FLAT, PLAIN
from .operands import note_of
from .transfers import (
    DATA_BUS,
    ONE_WORD,
    RESULT_BUS,
    block,
    few,
    loads,
    memory,
    steps_inside,
    stride_of,
)

PRAM_WORDS = limit("partial_memory")
ACT_WORDS = limit("activation_lanes_per_slice")
WORD = 4
SHIFT_MODES = ("LSL", "LSR", "ASR")
VECTOR_WORDS = (1, 2, 4, 8, ACT_WORDS)
PLANE_SIDE = limit("plane_side")
MOST_VECTORS = limit("block_vectors")
BIAS_BYTES = (4, 8, 16, 32)
GROUPS = (1, 4, 8, 16)
GROUP_BYTES = (8, 16, 32, 64)
"""Lanes that a word of data can feed."""
GATHERED_BYTES = 32
"""Lanes of each part of a transfer that has several."""
GATHERED_GROUPS = 4
_BEHIND_SUMS = ("DEBR", "ACBW", "ACBR", "DEQW")
"""Agents that do nothing while sums are kept."""
TURNED_ROWS = 8
"""Rows that are turned at a time."""
Part = TypeVar("Part")


def derive(kernel: SliceKernel) -> SliceTask:
    """The task of a complete nest. Raises IllegalSliceProgram."""
    return _Derivation(kernel).task()


class _Derivation:
    def __init__(self, kernel: SliceKernel) -> None:
        self.kernel = kernel
        self.name = kernel.name
        self.data = self._there(kernel.data, "data load")
        self.operation = self._there(kernel.operation, "ALU operation")
        self.activation = self._there(kernel.activation, "activation")
        self.store = self._there(kernel.store_, "store")
        self.lanes = self._lanes()
        shared = 0
        for alu, act in zip(self.operation.nest, self.activation.nest, strict=False):
            if alu is not act:
                break
            shared += 1
        self.blocks = self.operation.nest[:shared]
        self.steps = self.operation.nest[shared:]
        self.outputs = self.activation.nest[shared:]

    def _there(self, part: Part | None, what: str) -> Part:
        if part is None:
            raise IllegalSliceProgram("one of each", f"{self.name}: no {what}")
        return part

    def _lanes(self) -> Lanes:
        data = self.data.view.tensor.dtype
        if self.kernel.weights is None:
            return bypass_lanes(data, self.operation.op1)
        weights = self.kernel.weights.view.tensor.dtype
        lanes = product_lanes(data, weights)
        if lanes is None:
            raise IllegalSliceProgram("formats", f"{self.name}: no product of {data} and {weights}")
        return lanes

    def _illegal(self, rule: str, reason: str) -> IllegalSliceProgram:
        return IllegalSliceProgram(rule, f"{self.name}: {reason}")

    # -- the task -------------------------------------------------------------------------------

    def task(self) -> SliceTask:
        """All agents' loops and all fields."""
        act = self.activation
        low, words = block(self.name, "DEDR", self.data.view, parts=self.data.parts)
        ndls = [self._plane(), *self._data_reads(low, words), *self._weights(), *self._biases()]
        ndls += [*self._data_words(low, words), *self._partial_sums(), self._results()]
        if self.kernel.sums != ALL_SUMS and _product(self.blocks) > 1:
            raise self._illegal("sums", "sums of several blocks are not kept")
        if self.kernel.sums.kept:
            ndls = [ndl for ndl in ndls if ndl.agent not in _BEHIND_SUMS]
        float_data = is_float(self.data.view.tensor.dtype)
        task = SliceTask(
            ndls=tuple(ndls),
            alu_format="BF" if float_data else "I",
            wbus_format="BF" if float_data and self.kernel.weights else "I",
            wmem_format="BF" if float_data and self.kernel.weights else "SI",
            alu_op0_mode=self.operation.op0,
            alu_op1_mode=self.operation.op1,
            alu_d_unsigned=self.lanes.data_unsigned,
            alu_w_unsigned=self.lanes.weight_unsigned,
            act_format="BF" if act.is_float else "I",
            act_mode=act.mode,
            act_lsh=self.lanes.shifts,
            act_sum_bits=act.sum_bits or self.lanes.sum_bits,
            act_rsh=act.shift,
            act_round_mode=act.rounding,
            act_clip_min=act.low,
            act_clip_max=act.high,
            act_zero_point=act.zero_point,
            table=act.table,
            no_p_clear=self.kernel.sums.added,
            no_p_output=self.kernel.sums.kept,
        )
        if self.kernel.window is not None:
            task = _windowed(task, self.kernel.window)
        return replace(task, note=with_meaning(task, note_of(self.kernel, ndls)))

    def _plane(self) -> Ndl:
        window = self.kernel.window
        if window is None:
            return Ndl(agent="REF")
        element = self.data.view.tensor.element
        return Ndl(
            agent="REF",
            high=(
                Dim(count=window.width, stride=element, tag="X"),
                Dim(count=window.height, stride=window.width * element, tag="Y"),
            ),
        )

    # -- data -----------------------------------------------------------------------------------

    def _data_reads(self, low: tuple[Dim, ...], words: tuple[Dim, ...]) -> list[Ndl]:
        data = memory(self.name, "DEDR", self.data, low, words)
        indices = self.kernel.indices
        if indices is None:
            return [data]
        if self.data.nest[: len(indices.nest)] != indices.nest:
            raise self._illegal("indices", "an index must be loaded around the data it is for")
        low, words = block(self.name, "DEDR1", indices.view)
        stream = memory(self.name, "DEDR1", indices, low, words)
        inside = len(data.high) - len(indices.nest)
        return [
            replace(data, sync_nhd=inside),
            replace(stream, agent="DEDR", set=1, sync_mode="P", sync_nhd=1),
        ]

    def _data_words(self, low: tuple[Dim, ...], words: tuple[Dim, ...]) -> list[Ndl]:
        """What goes from the data bus into IRAM and from there to the ALU."""
        view = self.data.view
        element = view.tensor.element
        segments = math.prod(dim.count for dim in words)
        total = segments * loads(self.data)
        reuse = steps_inside(self.operation.nest, self.data.nest)
        window = self.kernel.window
        if window is not None and self.data.every > 1:
            reuse //= self.data.nest[-1].count
        repeats = (Dim(count=self.lanes.data_repeats, tag="I"),)
        shape = (
            *(repeats if self.lanes.data_repeats > 1 else ()),
            Dim(count=element, stride=1, tag="B"),
            *self._lane_shape(low[1].count, segments),
        )
        inner = (Dim(count=reuse, tag="M"),) if reuse > 1 else ()
        return [
            Ndl(
                agent="CEDW",
                low=low,
                high=(
                    *((Dim(count=segments, tag="S"),) if segments > 1 else ()),
                    Dim(count=total // segments, tag="T"),
                ),
            ),
            Ndl(agent="CEDR", low=shape, high=(*inner, Dim(count=total, tag="T"))),
        ]

    def _lane_shape(self, count: int, segments: int) -> tuple[Dim, ...]:
        """How lanes are fed: data of a group, and groups from different parts of IRAM."""
        element = self.data.view.tensor.element
        if self.data.turn:
            part = DATA_BUS // 2
            return (
                Dim(count=TURNED_ROWS, stride=part, tag="D"),
                Dim(count=PRAM_WORDS // TURNED_ROWS // element, stride=element, tag="G"),
            )
        data = Dim(count=self._lanes_taken(count), stride=element, tag="D")
        if self.data.parts > 1:
            part = DATA_BUS // self.data.parts
            return (data, Dim(count=GATHERED_GROUPS, stride=part, tag="G"))
        if segments > 1:
            return (data, Dim(count=segments, stride=DATA_BUS, tag="G"))
        return (data,)

    def _lanes_taken(self, count: int) -> int:
        """Elements that the ALU takes in one step; what is beyond a short word is noise."""
        window = self.kernel.window
        if window is not None:
            count -= window.extra
        unit = self.data.view.tensor.element * self.lanes.data_repeats
        if self.data.parts > 1:
            return GATHERED_BYTES // unit
        for size in GROUP_BYTES:
            if count * unit <= size:
                return size // unit
        raise self._illegal(
            "data", f"{count * unit} bytes at a time; {GROUP_BYTES[-1]} are possible"
        )

    # -- weights and biases ---------------------------------------------------------------------

    def _weights(self) -> list[Ndl]:
        load = self.kernel.weights
        if load is None:
            return []
        view = load.view
        low, words = block(self.name, "DEWR", view)
        if words != ONE_WORD:
            raise self._illegal("weights", "a block of weights has gaps")
        count = math.prod(view.shape) if view.shape else 1
        element = view.tensor.element
        shape = [Dim(count=element, stride=1, tag="B")]
        repeats = self.lanes.weight_repeats
        if self.operation.elementwise and element == 1:
            repeats = self.data.view.tensor.element  # one weight for all bytes of a datum
        if repeats > 1:
            shape.append(Dim(count=repeats, tag="J"))
        if self.operation.elementwise:
            shape.append(Dim(count=count, stride=element, tag="D"))
        elif count not in GROUPS:
            raise self._illegal(
                "weights", f"{count} weights at a time; one of {GROUPS} is possible"
            )
        else:
            shape.append(Dim(count=1, tag="D"))
            if count > 1:
                shape.append(Dim(count=count, stride=element, tag="G"))
        total = loads(load)
        reuse = steps_inside(self.operation.nest, load.nest)
        inner = (Dim(count=reuse, tag="N"),) if reuse > 1 else ()
        return [
            memory(self.name, "DEWR", load, low, words),
            Ndl(agent="CEWW", low=low, high=(Dim(count=total, tag="T"),)),
            Ndl(agent="CEWR", low=tuple(shape), high=(*inner, Dim(count=total, tag="T"))),
        ]

    def _biases(self) -> list[Ndl]:
        load = self.kernel.bias
        if load is None:
            return []
        low, words = block(self.name, "DEBR", load.view)
        size = math.prod(dim.count for dim in low)
        if size not in BIAS_BYTES or words != ONE_WORD:
            raise self._illegal(
                "biases", f"{size} bytes at a time; one of {BIAS_BYTES} is possible"
            )
        pair = 4 if self.activation.is_float else 8
        reuse = steps_inside(self.activation.nest, load.nest)
        total = loads(load)
        unit = (
            Dim(count=pair, stride=1, tag="B"),
            Dim(count=size // pair, stride=pair, tag="D"),
        )
        inner = (Dim(count=reuse, tag="M"),) if reuse > 1 else ()
        return [
            memory(self.name, "DEBR", load, low, words),
            Ndl(agent="ACBW", low=unit, high=(Dim(count=total, tag="T"),)),
            Ndl(agent="ACBR", low=unit, high=(*inner, Dim(count=total, tag="T"))),
        ]

    # -- partial sums and results ---------------------------------------------------------------

    def _partial_sums(self) -> list[Ndl]:
        steps, blocks = _product(self.steps), _product(self.blocks)
        vectors = _product(self.outputs)
        words = self.activation.width * self.lanes.partials
        if self.activation.mode in SHIFT_MODES:
            words = ACT_WORDS  # elements and amounts, packed
        if words not in VECTOR_WORDS:
            raise self._illegal(
                "activation width",
                f"{self.activation.width} results of {self.lanes.partials} words are {words} words "
                f"at a time; {', '.join(map(str, VECTOR_WORDS))} are possible",
            )
        too_many = steps_refusal(steps)
        if too_many:
            raise self._illegal("partial sums", too_many)
        if vectors > MOST_VECTORS:
            raise self._illegal(
                "partial sums", f"{vectors} vectors in a block; {MOST_VECTORS} are possible"
            )
        loops = (Dim(count=steps, tag="N"), Dim(count=blocks, tag="T"))
        # A vector has two words at the least; of a single result the second is not written.
        vector = (
            Dim(count=WORD, stride=1, tag="B"),
            Dim(count=max(words, 2), stride=WORD, tag="D"),
        )
        ndls = [
            Ndl(agent="CEPR", low=vector, high=loops),
            Ndl(agent="CEPW", low=vector, high=loops),
            Ndl(
                agent="ACPR",
                low=vector,
                high=(
                    Dim(count=vectors, stride=(self.activation.pitch or words) * WORD, tag="S"),
                    Dim(count=blocks, tag="T"),
                ),
            ),
        ]
        if self.lanes.partials > 1 and not self.activation.is_float:
            ndls.append(
                Ndl(
                    agent="ACPW",
                    low=(
                        Dim(count=WORD, stride=1, tag="B"),
                        Dim(count=self.lanes.partials, stride=WORD, tag="D"),
                        Dim(
                            count=ACT_WORDS // self.lanes.partials,
                            stride=self.lanes.partials * WORD,
                            tag="G",
                        ),
                    ),
                    high=(Dim(count=vectors * blocks, tag="T"),),
                )
            )
        return ndls

    def _results(self) -> Ndl:
        store = self.store
        element = store.view.tensor.element
        parts = 2 if store.split else 1
        low = [
            Dim(count=element, stride=1, tag="B"),
            Dim(count=store.width // parts, stride=store.apart or element, tag="D"),
        ]
        if store.split:
            low.append(Dim(count=parts, stride=store.split, tag="G"))
        if element * store.width > RESULT_BUS:
            raise self._illegal(
                "store", f"{element * store.width} bytes at a time; {RESULT_BUS} are possible"
            )
        high = [Dim(count=1, tag="G")]
        for loop in reversed(store.nest):
            if store.plane is not None and loop.tag == FLAT:
                high.append(Dim(count=loop.count, tag=FLAT))
            else:
                high.append(Dim(count=loop.count, stride=stride_of(store.view, loop), tag=PLAIN))
        return Ndl(
            agent="DEQW",
            low=tuple(low),
            high=few(self.name, "DEQW", high),
            special=() if store.plane is None else self._stream(store.plane, element),
            base_address=store.view.address,
        )

    def _stream(self, plane: int | tuple[Dim, ...], element: int) -> tuple[Dim, ...]:
        """A plane of pixels one behind the other; a pixel has one or two bytes."""
        if isinstance(plane, tuple):
            return plane
        pixel = min(element, 2)
        count = plane * (element // pixel)
        unit = Dim(count=pixel, stride=1, tag="B")
        if count <= PLANE_SIDE:
            return (unit, Dim(count=count, stride=pixel, tag="X"))
        for rows in range(-(-count // PLANE_SIDE), PLANE_SIDE + 1):
            if count % rows == 0:
                columns = count // rows
                return (
                    unit,
                    Dim(count=columns, stride=pixel, tag="X"),
                    Dim(count=rows, stride=columns * pixel, tag="Y"),
                )
        raise self._illegal(
            "plane", f"{count} pixels are no product of two numbers up to {PLANE_SIDE}"
        )


def _windowed(task: SliceTask, window: Window) -> SliceTask:
    return replace(
        task,
        kernel_left=window.left,
        kernel_right=window.right,
        kernel_top=window.top,
        kernel_bottom=window.bottom,
        pad_left=int(window.pad_left),
        pad_right=int(window.pad_right),
        pad_top=window.top if window.pad_top else 0,
        pad_bottom=window.bottom if window.pad_bottom else 0,
        pad_value=window.pad_value,
        stride=window.stride,
    )


def _product(nest: Nest) -> int:
    return math.prod(loop.count for loop in nest)
