"""The loop nest of a slice program, written as Python.

    k = SliceKernel("mul")
    with k.each(blocks, FLAT) as v:
        k.load_data(a.at(v * 16))
        k.load_weights(b.at(v * 16))
        k.multiply(elementwise=True)
        k.load_bias(scale)
        k.activate(shift=16)
        k.append(out, count)
    task = k.task()

Every method remembers inside which loops it was called; `task` derives the loops of all agents from
that. A nest has one data load, at most one load of weights and of biases, one ALU operation, one
activation and one store, in this order. Loops that hold both the ALU operation and the activation
run once per filling of PRAM; those inside the ALU's alone add up; those inside the activation's
alone go over what was added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from assay.hw.torq.words.commands import Dim, SliceTask

from ..operators.quantisation import FloatRange, Rescale
from .errors import IllegalSliceProgram
from .loops import PLAIN, Loop
from .tensor import View

COLUMNS_PER_WORD = 3
Nest = tuple[Loop, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A transfer inside `nest`, once for every `every` steps of the innermost loop.

    So many `parts` of a block that has gaps come in one transfer; further gaps are further
    transfers. With `turn` the lanes go down the rows of a block instead of along them.
    """

    view: View
    nest: Nest
    every: int = 1
    parts: int = 1
    turn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What the ALU does in each step of `nest`."""

    nest: Nest
    op0: str
    op1: str
    elementwise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """What the activation unit does in each step of `nest`, `width` results at a time.

    `low` and `high` are limits of the results; of a float kernel, bits of float32. From one step to
    the next are `pitch` words of PRAM, or as many as a step takes if that is 0.
    """

    nest: Nest
    width: int
    mode: str
    shift: int
    zero_point: int
    low: int
    high: int
    rounding: str
    table: tuple[int, ...] | None
    is_float: bool
    sum_bits: int
    pitch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Where results go: at the view's place, or one behind the other into a plane.

    A plane is a number of elements without gaps, or loops (innermost first) that say where they go.
    With `split`, the second half of a transfer goes so many bytes behind the first; with `apart`,
    the second of two elements.
    """

    view: View
    nest: Nest
    width: int
    plane: int | tuple[Dim, ...] | None
    split: int = 0
    apart: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A kernel that moves over a plane: how far it reaches, and which sides are padded."""

    height: int
    width: int
    left: int = 0
    right: int = 0
    top: int = 0
    bottom: int = 0
    pad_left: bool = False
    pad_right: bool = False
    pad_top: bool = False
    pad_bottom: bool = False
    pad_value: int = 0
    stride: int = 1

    @property
    def extra(self) -> int:
        """Pixels that a word has more than are computed at a time, for up to three columns."""
        columns = self.left + 1 + self.right
        return min(-(-columns // self.stride) - 1, COLUMNS_PER_WORD - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What happens to the sums of a nest of one block: whether they are `added` to those that the
    task before has left, and whether they are `kept` for the next one instead of being activated.
    """

    added: bool = False
    kept: bool = False


ALL_SUMS = Sums()


class SliceKernel:
    """One loop nest; see the module."""

    def __init__(self, name: str, window: Window | None = None, sums: Sums = ALL_SUMS) -> None:
        self.name = name
        self.window = window
        self.sums = sums
        self.data: Load | None = None
        self.weights: Load | None = None
        self.bias: Load | None = None
        self.indices: Load | None = None
        self.operation: Operation | None = None
        self.activation: Activation | None = None
        self.store_: Store | None = None
        self._nest: Nest = ()

    @contextmanager
    def each(
        self, count: int, tag: str = PLAIN, data: tuple[Dim, ...] = (), transfers: int = 0
    ) -> Iterator[Loop]:
        """A loop of `count` steps around what follows; `data`, `transfers` as `Loop` has them."""
        if count < 1:
            raise IllegalSliceProgram("loop", f"{self.name}: a loop of {count} steps")
        loop = Loop(count, tag, data, transfers)
        self._nest = (*self._nest, loop)
        yield loop
        self._nest = self._nest[:-1]

    def load_data(self, view: View, *, every: int = 1, parts: int = 1, turn: bool = False) -> None:
        """Bring a block to the ALU's data side, once for every `every` steps of the inner loop."""
        self._once("data load", self.data)
        self.data = Load(view=view, nest=self._nest, every=every, parts=parts, turn=turn)

    def load_indices(self, view: View) -> None:
        """Bring one offset in bytes (int16), which is added to the data's place, per step."""
        self._once("index load", self.indices)
        self.indices = Load(view=view, nest=self._nest)

    def load_weights(self, view: View) -> None:
        """Bring a block to the ALU's weight side."""
        self._once("weight load", self.weights)
        self.weights = Load(view=view, nest=self._nest)

    def load_bias(self, view: View) -> None:
        """Bring one or four pairs {bias, scale} to the activation unit."""
        self._once("bias load", self.bias)
        self.bias = Load(view=view, nest=self._nest)

    def multiply(self, op1: str = "ACC", *, elementwise: bool = False) -> None:
        """Multiply data with weights and combine the products with what is in PRAM.

        One weight meets the whole block of data, several meet it once each, or, `elementwise`,
        each its own datum.
        """
        if self.weights is None:
            raise IllegalSliceProgram("operands", f"{self.name}: a product needs weights")
        self._operate("MUL", op1, elementwise)

    def combine(self, op1: str = "ACC") -> None:
        """Combine data with what is in PRAM, without weights."""
        self._operate("DBYP", op1, False)

    def _operate(self, op0: str, op1: str, elementwise: bool) -> None:
        self._once("ALU operation", self.operation)
        if self.data is None:
            raise IllegalSliceProgram("operands", f"{self.name}: the ALU has no data")
        self.operation = Operation(nest=self._nest, op0=op0, op1=op1, elementwise=elementwise)

    def activate(
        self,
        *,
        width: int,
        low: int,
        high: int,
        shift: int = 0,
        zero_point: int = 0,
        mode: str = "ACT",
        rounding: str = "NTP",
        table: tuple[int, ...] | None = None,
        is_float: bool = False,
        sum_bits: int = 0,
        pitch: int = 0,
    ) -> None:
        """Take the next `width` results: bias, scale, shift, zero point, limits; or other modes."""
        self._once("activation", self.activation)
        self.activation = Activation(
            nest=self._nest,
            width=width,
            mode=mode,
            shift=shift,
            zero_point=zero_point,
            low=low,
            high=high,
            rounding=rounding,
            table=table,
            is_float=is_float,
            sum_bits=sum_bits,
            pitch=pitch,
        )

    def activate_scaled(
        self,
        *,
        width: int,
        scaling: Rescale,
        shift: int = 0,
        mode: str = "ACT",
        table: tuple[int, ...] | None = None,
        sum_bits: int = 0,
    ) -> None:
        """Take the next `width` results, with the zero point and the limits of `scaling`.

        Its multipliers are the factors that come with the biases, for this `shift`.
        """
        self.activate(
            width=width,
            shift=shift,
            zero_point=scaling.zero_point,
            low=scaling.low,
            high=scaling.high,
            mode=mode,
            rounding="DBL" if scaling.double_round else "NTP",
            table=table,
            sum_bits=sum_bits,
        )

    def activate_float(
        self,
        *,
        width: int,
        limits: FloatRange,
        narrow: bool = False,
        mode: str = "ACT",
        rounding: str = "NTP",
    ) -> None:
        """Take the next `width` results of a float kernel: bias, limits; or other modes.

        `narrow`: they are bfloat16 as they came, not float32 sums.
        """
        low, high = limits.bits
        self.activate(
            width=width,
            low=low,
            high=high,
            mode=mode,
            rounding=rounding,
            is_float=True,
            sum_bits=16 if narrow else 0,
        )

    def store(self, view: View, *, split: int = 0, apart: int = 0) -> None:
        """Write the results to where the view is; with `split`, half of them so far behind it;
        with `apart`, the second of two.
        """
        self._store(view, None, split, apart)

    def append(self, view: View, plane: int | tuple[Dim, ...]) -> None:
        """Write the results behind the last ones, until a plane is full (see `Store`).

        The place within the plane follows from the loops tagged `FLAT`; what goes beyond is
        dropped. The view's own place says where the plane starts.
        """
        self._store(view, plane)

    def _store(
        self, view: View, plane: int | tuple[Dim, ...] | None, split: int = 0, apart: int = 0
    ) -> None:
        self._once("store", self.store_)
        if self.activation is None or self.activation.nest != self._nest:
            raise IllegalSliceProgram("store", f"{self.name}: store where the activation is")
        self.store_ = Store(
            view=view,
            nest=self._nest,
            width=self.activation.width,
            plane=plane,
            split=split,
            apart=apart,
        )

    def _once(self, what: str, there: object) -> None:
        if there is not None:
            raise IllegalSliceProgram("one of each", f"{self.name}: a second {what}")

    def task(self) -> SliceTask:
        """The task that runs the nest. Raises IllegalSliceProgram."""
        from .derive import derive

        return derive(self)

    @property
    def cycles(self) -> int:
        """How long the task takes, from the counts of its loops alone."""
        from .counts import cycles

        return cycles(self)
