"""Softmax of 8-bit integers: exponentials by tables, 1 / their sum by Newton's steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .model import Node
from .state import Convert, State, attribute
from .values import NotForNpu, Real, Tensor, Value
from .writer import Writer

_EXPONENTIAL_BITS = 24
"""Bits of an exponential: two tables of 12 bits each."""
_SUM_BITS = 12
"""Bits of the exponentials that sums do without: so 4096 of them fit."""
_MOST = 1 << _SUM_BITS
_RESULT_BITS = 20
"""Bits behind the point of the results."""
_FORTY_EIGHT_17THS, _THIRTY_TWO_17THS = 1515870810, -1010580540
"""48/17 and -32/17 with 29 bits behind the point: the best straight line to start from."""
_ONE = 1 << 29


def softmax(state: State, node: Node) -> Value:
    """Softmax along an axis."""
    x = state.quantised(node, 0)
    if x.tensor.dtype != "int8":
        raise NotForNpu("a softmax of more than 8 bits")
    shape = x.tensor.shape
    default = -1 if state.model.opset >= 13 or node.domain else 1
    axis = int(attribute(node, "axis", default)) % len(shape)
    if default == 1 and axis != len(shape) - 1:
        raise NotForNpu("a softmax over several axes, as ONNX had it before opset 13")
    if shape[axis] > _MOST:
        raise NotForNpu(f"a softmax of more than {_MOST} numbers")
    return _Softmax(state.writer, x, axis).result()


class _Softmax:
    """Writes the operators of one."""

    def __init__(self, writer: Writer, x: Real, axis: int) -> None:
        self._writer, self._x, self._axis = writer, x, axis

    def result(self) -> Real:
        """Real numbers up to 1, in 32 bits."""
        exponentials = self._exponentials()
        sums = self._reduced("reduce_sum", self._shifted(exponentials, _SUM_BITS))
        zeros = self._unary("clz", sums)
        head = self._binary("sub", zeros, self._number(1))
        reciprocal = self._reciprocal(self._binary("logical_left_shift", sums, head))
        product = self._multiplied(exponentials, reciprocal, 30)
        # The exponentials have 31 bits behind the point, the sums 19, and `head` more.
        down = self._binary("sub", self._number(43 - _RESULT_BITS), zeros)
        made = self._right(product, down)
        return Real(tensor=made, scale=np.asarray(2.0**-_RESULT_BITS))

    def _exponentials(self) -> Tensor:
        """exp(x - the largest), with 31 bits behind the point."""
        wide = self._writer.rescale(self._x.tensor, 1.0, "int32", input_zp=self._x.zero_point)
        below = self._binary("sub", wide, self._reduced("reduce_max", wide))
        # 128 times the difference meets every second entry of a table exactly.
        steps = self._writer.rescale(below, 128.0, "int16")
        places = np.minimum(np.arange(513) - 256, 0)
        values = np.exp(places * self._x.step)
        whole = np.minimum(np.rint(values * (1 << _EXPONENTIAL_BITS)), (1 << _EXPONENTIAL_BITS) - 1)
        integers = whole.astype(np.int64)
        high, low = (self._table(steps, part) for part in (integers >> 12, integers & 0xFFF))
        return self._binary("add", self._binary("logical_left_shift", high, self._number(12)), low)

    def _table(self, x: Tensor, entries: NDArray[np.int64]) -> Tensor:
        table = self._writer.const(entries, "int16")
        value = self._writer.emit("table", [x.value, table], "int32", x.stored)
        return Tensor(value=value, dtype="int32", shape=x.shape, last=x.last)

    def _reciprocal(self, x: Tensor) -> Tensor:
        """1 / x by three of Newton's steps, x being from a half to 1."""
        start = self._multiplied(x, self._number(_THIRTY_TWO_17THS), 31)
        found = self._binary("add", start, self._number(_FORTY_EIGHT_17THS))
        for _ in range(3):
            error = self._binary("sub", self._number(_ONE), self._multiplied(found, x, 31))
            step = self._multiplied(found, error, 31)
            found = self._binary("add", found, self._multiplied(step, self._number(4), 0))
        return found

    def _reduced(self, name: str, x: Tensor) -> Tensor:
        more = {"nan_mode": "#tosa.nan_mode<PROPAGATE>"} if name == "reduce_max" else {}
        axis = self._axis
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        kept = Tensor(value=x.value, dtype=x.dtype, shape=shape, last=x.last)
        place = f"{x.axis(axis)} : i32"
        value = self._writer.emit(name, [x.value], x.dtype, kept.stored, axis=place, **more)
        return Tensor(value=value, dtype=x.dtype, shape=shape, last=x.last)

    def _number(self, value: int) -> Tensor:
        shape = (1,) * len(self._x.tensor.shape)
        made = self._writer.const(np.full(shape, value), "int32")
        return Tensor(value=made, dtype="int32", shape=shape, last=self._x.tensor.last)

    def _unary(self, name: str, x: Tensor) -> Tensor:
        return self._writer.like(x, name)

    def _binary(self, name: str, a: Tensor, b: Tensor) -> Tensor:
        return self._writer.binary(name, a, b)

    def _multiplied(self, a: Tensor, b: Tensor, shift: int) -> Tensor:
        return self._writer.binary("mul", a, b, [self._writer.one(shift, "int8")])

    def _shifted(self, x: Tensor, by: int) -> Tensor:
        return self._right(x, self._number(by))

    def _right(self, x: Tensor, by: Tensor) -> Tensor:
        return self._writer.binary("arithmetic_right_shift", x, by, round="true")


OPERATORS: dict[tuple[str, str], Convert] = {("", "Softmax"): softmax}
"""By domain and name."""
