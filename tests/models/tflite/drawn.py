"""Networks of any shape: operators chosen one by one, each on some values that came before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .network import NONE, RELU, RELU6, SAME, VALID, Network, Tensor

T = TypeVar("T")
Choose = Callable[[int], int]
"""A number from 0 up to one less than what is given."""
_MOST_ELEMENTS = 1 << 15
_MOST_PRODUCTS = 1 << 22
_UNARIES = ("LOGISTIC", "TANH", "RELU", "HARD_SWISH", "GELU")


@dataclass(kw_only=True)
class Drawn:
    """A network in the making: `values` are all that later operators may read."""

    net: Network
    choose: Choose
    values: list[Tensor] = field(default_factory=list)

    def one_of(self, among: Sequence[T]) -> T:
        """One of several."""
        return among[self.choose(len(among))]

    def value(self, rank: int = 0) -> Tensor | None:
        """A value with so many dimensions, or any; the newest ones come most often."""
        fitting = [v for v in self.values if rank in (0, len(v.shape))]
        recent = fitting[-4:] if self.choose(3) else fitting
        return self.one_of(recent) if recent else None

    def like(self, x: Tensor) -> list[Tensor]:
        """Values of the same shape, and the value itself."""
        return [v for v in self.values if v.shape == x.shape]


def network(choose: Choose, operators: int) -> bytes:
    """A network of about so many operators, of int8 or int16, with several outputs."""
    drawn = Drawn(
        net=Network(choose(1 << 16), "int16" if choose(4) == 3 else "int8"), choose=choose
    )
    for _ in range(1 + choose(2)):
        drawn.values.append(_input(drawn))
    inputs = len(drawn.values)
    for _ in range(8 * operators):
        if len(drawn.values) >= operators + inputs:
            break
        made = _STEPS[choose(len(_STEPS))](drawn)
        if made is not None and _is_usable(made):
            drawn.values.append(made)
    if len(drawn.values) == inputs:
        drawn.values.append(drawn.net.reshape(drawn.values[0], (math.prod(drawn.values[0].shape),)))
    outputs = {drawn.values[-1].index: drawn.values[-1]}
    for _ in range(choose(3)):
        chosen = drawn.one_of(drawn.values[inputs:])
        outputs[chosen.index] = chosen
    return drawn.net.finish(*outputs.values())


def _is_usable(made: Tensor) -> bool:
    """Whether a value is small enough, and has a scale that products of it can have, too."""
    return math.prod(made.shape) <= _MOST_ELEMENTS and 1e-5 < made.scale < 1e4


def _input(drawn: Drawn) -> Tensor:
    choose = drawn.choose
    shape = (1, 1 + choose(20), 1 + choose(20), 1 + choose(24))
    kinds = (shape, shape, shape, shape[1:], (1, shape[1], shape[3]), (shape[1], shape[3] * 4))
    return drawn.net.input(drawn.one_of(kinds))


def _convolution(drawn: Drawn) -> Tensor | None:
    x, choose = drawn.value(4), drawn.choose
    if x is None:
        return None
    kernel = (1 + choose(5), 1 + choose(5)) if choose(2) else drawn.one_of((1, 3))
    taps = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    dilation = 2 if not choose(6) else 1
    padding = drawn.one_of((SAME, SAME, VALID))
    stride = 1 if dilation > 1 else drawn.one_of((1, 1, 2, (1, 2), 3))
    steps = stride if isinstance(stride, tuple) else (stride, stride)
    if not _fits(x, taps, steps, padding, dilation):
        return None
    fields = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "activation": drawn.one_of((NONE, RELU, RELU6)),
    }
    if choose(3) == 0:
        return drawn.net.depthwise(x, kernel, multiplier=drawn.one_of((1, 1, 2)), **fields)
    channels = 1 + choose(40)
    if math.prod(x.shape) * math.prod(taps) * channels > _MOST_PRODUCTS:
        return None
    return drawn.net.convolution(x, channels, kernel, **fields)


def _fits(
    x: Tensor, taps: Sequence[int], steps: Sequence[int], padding: int, dilation: int = 1
) -> bool:
    """Whether the last windows end where a padded plane does, as TOSA wants it."""
    for size, count, step in zip(x.shape[1:3], taps, steps, strict=True):
        room = size - (count - 1) * dilation - 1
        if padding == VALID and (room < 0 or room % step):
            return False
        if padding == SAME and (-(-size // step) - 1) * step < room:
            return False
    return True


def _dense(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None or len(x.shape) < 2 or math.prod(x.shape) > 1 << 13:
        return None
    return drawn.net.fully_connected(x, 1 + drawn.choose(70), drawn.one_of((NONE, RELU)))


def _pool(drawn: Drawn) -> Tensor | None:
    x, choose = drawn.value(4), drawn.choose
    if x is None:
        return None
    kernel, stride = 1 + choose(4), 1 + choose(3)
    padding = drawn.one_of((SAME, VALID))
    if not _fits(x, (kernel, kernel), (stride, stride), padding):
        return None
    return drawn.net.pool(
        x, kernel, stride=stride, padding=padding, op=drawn.one_of(("MAX", "AVERAGE"))
    )


def _binary(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    other = drawn.one_of(drawn.like(x))
    return drawn.net.binary(
        drawn.one_of(("ADD", "ADD", "SUB", "MUL")), x, other, drawn.one_of((NONE, NONE, RELU))
    )


def _unary(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    kinds = _UNARIES if x.dtype == "int8" else _UNARIES[:3]
    return drawn.net.unary(drawn.one_of(kinds), x)


def _softmax(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    return drawn.net.softmax(x) if x is not None and x.dtype == "int8" else None


def _mean(drawn: Drawn) -> Tensor | None:
    x = drawn.value(4)
    return drawn.net.mean(x, keep=bool(drawn.choose(2))) if x is not None else None


def _reshape(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    count = math.prod(x.shape)
    columns = drawn.one_of([n for n in range(1, count + 1) if count % n == 0])
    shapes = ((count // columns, columns), (1, count // columns, columns), (1, 1, count))
    return drawn.net.reshape(x, drawn.one_of((*shapes, (1, count // columns, 1, columns))))


def _transpose(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None or len(x.shape) < 2:
        return None
    order = list(range(len(x.shape)))
    for place in range(len(order) - 1):
        other = place + drawn.choose(len(order) - place)
        order[place], order[other] = order[other], order[place]
    return drawn.net.transpose(x, order)


def _concatenation(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    parts = [x, *(drawn.one_of(drawn.like(x)) for _ in range(1 + drawn.choose(2)))]
    return drawn.net.concatenation(parts, drawn.choose(len(x.shape)))


def _slice(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    starts = [drawn.choose(size) for size in x.shape]
    sizes = [1 + drawn.choose(size - a) for size, a in zip(x.shape, starts, strict=True)]
    return drawn.net.slice(x, starts, sizes)


def _pad(drawn: Drawn) -> Tensor | None:
    x = drawn.value()
    if x is None:
        return None
    return drawn.net.pad(x, [(drawn.choose(3), drawn.choose(3)) for _ in x.shape])


def _resize(drawn: Drawn) -> Tensor | None:
    x = drawn.value(4)
    return drawn.net.resize_nearest(x, 2) if x is not None else None


def _product(drawn: Drawn) -> Tensor | None:
    a = drawn.value(3)
    if a is None:
        return None
    right = [v for v in drawn.values if len(v.shape) == 3 and v.shape[0] == a.shape[0]]
    turned = [v for v in right if v.shape[2] == a.shape[2]]
    if not turned or math.prod(a.shape) > 1 << 12:
        return None
    return drawn.net.batch_matmul(a, drawn.one_of(turned), transpose_b=True)


_STEPS: tuple[Callable[[Drawn], Tensor | None], ...] = (
    _convolution,
    _convolution,
    _convolution,
    _dense,
    _pool,
    _binary,
    _binary,
    _unary,
    _softmax,
    _mean,
    _reshape,
    _transpose,
    _concatenation,
    _slice,
    _pad,
    _resize,
    _product,
)
