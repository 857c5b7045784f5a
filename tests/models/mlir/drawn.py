"""TOSA graphs of any operators and types: integers of 8, 16 and 32 bits, bfloat16, truth values.

Only what TOSA defines to the bit is drawn: sums and products of integers that stay within their
types, and no sums of bfloat16 along an axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from .text import Block

T = TypeVar("T")
Choose = Callable[[int], int]
"""A number from 0 up to one less than what is given."""
_MOST_ELEMENTS = 1 << 12
_LIMITS = {"i8": 1 << 7, "i16": 1 << 15, "i32": 1 << 31}
_INTEGERS = tuple(_LIMITS)
_PROPAGATE = "nan_mode = #tosa.nan_mode<PROPAGATE>"


@dataclass(kw_only=True)
class Drawn:
    """A graph in the making; `most` is how large the integers of a value can get."""

    block: Block
    choose: Choose
    values: list[str] = field(default_factory=list)
    most: dict[str, int] = field(default_factory=dict)

    def one_of(self, among: Sequence[T]) -> T:
        """One of several."""
        return among[self.choose(len(among))]

    def value(self, *elements: str) -> str | None:
        """A value of one of these types, or of any."""
        found = [v for v in self.values if not elements or self.element(v) in elements]
        return self.one_of(found[-6:] if self.choose(3) else found) if found else None

    def like(self, x: str) -> str:
        """A value of the same shape and type, perhaps itself."""
        return self.one_of([v for v in self.values if self.block.shapes[v] == self.block.shapes[x]])

    def shape(self, x: str) -> tuple[int, ...]:
        """A value's shape."""
        return self.block.shapes[x][0]

    def element(self, x: str) -> str:
        """A value's type."""
        return self.block.shapes[x][1]

    def made(self, x: str, most: int) -> str:
        """A new value."""
        self.most[x] = most
        return x


def graph(choose: Choose, operators: int) -> str:
    """A graph of about so many operators, with several inputs and outputs."""
    drawn = Drawn(block=Block(choose(1 << 16)), choose=choose)
    shape = (1 + choose(4), 1 + choose(12), 1 + choose(20))
    for number, element in enumerate(("i8", "i16", "i32", "bf16", "i1")):
        name = drawn.block.input(f"%in{number}", shape, element)
        most = 1 << 20 if element == "i32" else _LIMITS.get(element, 1)
        drawn.values.append(drawn.made(name, most))
    inputs = len(drawn.values)
    clamped = drawn.block.op(
        "clamp",
        ["%in2"],
        shape,
        "i32",
        f"min_val = -9999 : i32, max_val = 9999 : i32, {_PROPAGATE}",
    )
    drawn.values[2] = drawn.made(clamped, 9999)
    for _ in range(8 * operators):
        if len(drawn.values) >= operators + inputs:
            break
        made = drawn.one_of(_STEPS)(drawn)
        if made is not None and math.prod(drawn.shape(made)) <= _MOST_ELEMENTS:
            drawn.values.append(made)
    outputs = dict.fromkeys(
        [drawn.values[-1], *(drawn.one_of(drawn.values[inputs:] or [clamped]) for _ in range(3))]
    )
    return drawn.block.text(list(outputs))


def _sum(d: Drawn) -> str | None:
    x = d.value("i32", "bf16")
    if x is None:
        return None
    y = d.like(x)
    most = d.most[x] + d.most[y]
    if d.element(x) == "i32" and most >= _LIMITS["i32"]:
        return None
    return d.made(d.block.op(d.one_of(("add", "sub")), [x, y], d.shape(x), d.element(x)), most)


def _product(d: Drawn) -> str | None:
    x = d.value("i32", "bf16")
    if x is None:
        return None
    y = d.like(x)
    most = d.most[x] * d.most[y]
    if d.element(x) == "i32" and most >= _LIMITS["i32"]:
        return None
    shift = d.block.const(np.zeros(1, np.int8), "i8")
    return d.made(d.block.op("mul", [x, y, shift], d.shape(x), d.element(x)), most)


def _extreme(d: Drawn) -> str | None:
    x = d.value("i8", "i16", "i32", "bf16")
    if x is None:
        return None
    y = d.like(x)
    name = d.one_of(("maximum", "minimum"))
    made = d.block.op(name, [x, y], d.shape(x), d.element(x), _PROPAGATE)
    return d.made(made, max(d.most[x], d.most[y]))


def _bits(d: Drawn) -> str | None:
    x = d.value("i8", "i16", "i32")
    if x is None:
        return None
    name = d.one_of(("bitwise_and", "bitwise_or", "bitwise_xor"))
    made = d.block.op(name, [x, d.like(x)], d.shape(x), d.element(x))
    return d.made(made, _LIMITS[d.element(x)])


def _logic(d: Drawn) -> str | None:
    x = d.value("i1")
    if x is None:
        return None
    if not d.choose(4):
        return d.made(d.block.op("logical_not", [x], d.shape(x), "i1"), 1)
    name = d.one_of(("logical_and", "logical_or", "logical_xor"))
    return d.made(d.block.op(name, [x, d.like(x)], d.shape(x), "i1"), 1)


def _comparison(d: Drawn) -> str | None:
    x = d.value("i8", "i16", "i32", "bf16")
    if x is None:
        return None
    name = d.one_of(("greater", "greater_equal", "equal"))
    return d.made(d.block.op(name, [x, d.like(x)], d.shape(x), "i1"), 1)


def _selection(d: Drawn) -> str | None:
    condition = d.value("i1")
    if condition is None:
        return None
    fitting = [v for v in d.values if d.shape(v) == d.shape(condition) and d.element(v) != "i1"]
    if not fitting:
        return None
    x = d.one_of(fitting)
    y = d.like(x)
    made = d.block.op("select", [condition, x, y], d.shape(x), d.element(x))
    return d.made(made, max(d.most[x], d.most[y]))


def _cast(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    source = d.element(x)
    target = d.one_of(("i8", "i16", "i32", "bf16"))
    if source == target or (source == "i1" and target == "bf16"):
        return None
    most = (
        _LIMITS.get(target, 1)
        if source == "bf16"
        else min(d.most[x], _LIMITS.get(target, d.most[x]))
    )
    return d.made(d.block.op("cast", [x], d.shape(x), target), most)


def _unary(d: Drawn) -> str | None:
    x = d.value("i32", "bf16")
    if x is None:
        return None
    kinds = ("abs",) if d.element(x) == "i32" else ("abs", "floor", "ceil", "tanh", "sigmoid")
    if d.element(x) == "i32" and d.most[x] >= _LIMITS["i32"]:
        return None
    made = d.block.op(d.one_of(kinds), [x], d.shape(x), d.element(x))
    return d.made(made, d.most[x])


def _rescale(d: Drawn) -> str | None:
    x = d.value("i8", "i32")
    if x is None:
        return None
    target = d.one_of(("i8", "i16"))
    source = d.element(x)
    operands = [
        x,
        d.block.const(np.array([(1 << 30) + d.choose(1 << 30)]), "i32"),
        d.block.const(np.array([28 + d.choose(12)]), "i8"),
        d.block.const(np.zeros(1, np.int64), source),
        d.block.const(np.array([d.choose(9) - 4 if target == "i8" else 0]), target),
    ]
    fields = (
        "scale32 = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, "
        "input_unsigned = false, output_unsigned = false"
    )
    made = d.block.op("rescale", operands, d.shape(x), target, fields)
    return d.made(made, _LIMITS[target])


def _reduction(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    axis = d.choose(len(d.shape(x)))
    shape = tuple(1 if at == axis else n for at, n in enumerate(d.shape(x)))
    kinds = {"i1": ("all", "any"), "i32": ("max", "min", "sum")}.get(d.element(x), ("max", "min"))
    kind = d.one_of(kinds)
    most = d.most[x] * (d.shape(x)[axis] if kind == "sum" else 1)
    if kind == "sum" and most >= _LIMITS["i32"]:
        return None
    fields = f"axis = {axis} : i32" + (f", {_PROPAGATE}" if kind in ("max", "min") else "")
    return d.made(d.block.op(f"reduce_{kind}", [x], shape, d.element(x), fields), most)


def _places(d: Drawn) -> str | None:
    x = d.value("i8", "i16")
    if x is None or len(d.shape(x)) < 2:
        return None
    axis = d.choose(len(d.shape(x)))
    shape = tuple(n for at, n in enumerate(d.shape(x)) if at != axis)
    made = d.block.op("argmax", [x], shape, "i32", f"axis = {axis} : i32, {_PROPAGATE}")
    return d.made(made, d.shape(x)[axis])


def _reshape(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    count = math.prod(d.shape(x))
    columns = d.one_of([n for n in range(1, count + 1) if count % n == 0])
    return d.made(d.block.reshape(x, (1, count // columns, columns)), d.most[x])


def _transpose(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    order = list(range(len(d.shape(x))))
    for place in range(len(order) - 1):
        other = place + d.choose(len(order) - place)
        order[place], order[other] = order[other], order[place]
    return d.made(d.block.transpose(x, tuple(order)), d.most[x])


def _concat(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    y, axis = d.like(x), d.choose(len(d.shape(x)))
    shape = tuple(2 * n if at == axis else n for at, n in enumerate(d.shape(x)))
    made = d.block.op("concat", [x, y], shape, d.element(x), f"axis = {axis} : i32")
    return d.made(made, max(d.most[x], d.most[y]))


def _reverse(d: Drawn) -> str | None:
    x = d.value()
    assert x is not None
    axis = d.choose(len(d.shape(x)))
    made = d.block.op("reverse", [x], d.shape(x), d.element(x), f"axis = {axis} : i32")
    return d.made(made, d.most[x])


def _gather(d: Drawn) -> str | None:
    x = d.value("i8", "i16", "i32", "bf16")
    if x is None or len(d.shape(x)) != 3:
        return None
    n, rows, columns = d.shape(x)
    count = 1 + d.choose(6)
    indices = np.array([[d.choose(rows) for _ in range(count)] for _ in range(n)], np.int32)
    places = d.block.const(indices, "i32")
    made = d.block.op("gather", [x, places], (n, count, columns), d.element(x))
    return d.made(made, d.most[x])


def _matmul(d: Drawn) -> str | None:
    x = d.value("i8")
    if x is None or len(d.shape(x)) != 3:
        return None
    n, rows, depth = d.shape(x)
    fitting = [v for v in d.values if d.element(v) == "i8" and d.shape(v)[:2] == (n, depth)]
    fitting = [v for v in fitting if len(d.shape(v)) == 3]
    if not fitting:
        return None
    y = d.one_of(fitting)
    zero = d.block.const(np.array([d.choose(7) - 3]), "i8")
    shape = (n, rows, d.shape(y)[2])
    return d.made(d.block.op("matmul", [x, y, zero, zero], shape, "i32"), depth << 15)


_STEPS: tuple[Callable[[Drawn], str | None], ...] = (
    _sum,
    _sum,
    _product,
    _extreme,
    _bits,
    _logic,
    _comparison,
    _comparison,
    _selection,
    _selection,
    _cast,
    _cast,
    _unary,
    _rescale,
    _reduction,
    _places,
    _reshape,
    _transpose,
    _concat,
    _reverse,
    _gather,
    _matmul,
)
