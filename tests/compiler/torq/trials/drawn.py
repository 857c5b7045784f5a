"""Trials that hypothesis draws: any shape, type and quantisation that a kernel takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from hypothesis import strategies as st

from assay.compiler.torq.operators.quantisation import Rescale
from tests.compiler.torq import by_hand

from . import elementwise, moves, pooling, products, unary
from . import selection as selections
from .convolutions import Case, convolution, floating
from .pooling import Pool
from .trial import Trial

Makers = st.SearchStrategy[Callable[[], Trial]]
_SEEDS = st.integers(0, 99)
_INTEGERS = st.sampled_from(elementwise.INTEGERS)
_SHORT = st.sampled_from(["int8", "int16"])
_SHAPES = st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(
    lambda shape: int(np.prod(shape)) <= 900
)
_BYTES = st.integers(-128, 127)
_MULTIPLIERS = st.integers(1 << 30, (1 << 31) - 1)


def _any(make: Callable[..., Trial], **arguments: st.SearchStrategy[object]) -> Makers:
    """Calls of `make` that are still to be done, so that a failing one is shown with arguments."""
    return st.builds(partial, st.just(make), **arguments)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    stride = draw(st.sampled_from([1, 1, 2]))
    kernel = (draw(st.integers(stride, 7)), draw(st.integers(stride, 7)))
    spare = (kernel[0] - stride, kernel[1] - stride)
    lefts = [n for n in range(spare[1] + 1) if n <= 3 and kernel[1] - 1 - n <= 3]
    dtype = draw(st.sampled_from(["int8", "int8", "int16"]))
    base = 38 if dtype == "int8" else 30
    return Case(
        batch=draw(st.integers(1, 3)),
        channels=draw(st.integers(1, 6)),
        outputs=draw(st.integers(1, 9)),
        height=draw(st.integers(1, 12)),
        width=draw(st.integers(1, 12)),
        kernel=kernel,
        top=draw(st.integers(0, spare[0])),
        left=draw(st.sampled_from(lefts)),
        stride=stride,
        dtype=dtype,
        result=draw(st.sampled_from(["int8", dtype])),
        zero_point=draw(_BYTES),
        depthwise=draw(st.booleans()),
        shifts=tuple(draw(st.lists(st.integers(base, base + 6), max_size=3))),
        per_channel=draw(st.booleans()),
        extreme=draw(st.sampled_from([False, False, False, True])),
        seed=draw(st.integers(0, 1000)),
    )


def _halves_hold_centre(case: Case) -> bool:
    """With stride 2 the even and the odd half of a kernel must each contain its centre."""
    if case.stride == 1:
        return True
    for border, size in ((case.top, case.kernel[0]), (case.left, case.kernel[1])):
        if (border + 1) // 2 >= (size + 1) // 2 or border // 2 >= size // 2:
            return False
    return True


@st.composite
def _pools(draw: st.DrawFn) -> Pool:
    """Strides leave no rest, and every window has a cell inside."""
    kernel = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    stride = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    outputs = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    pad: list[int] = []
    sizes = []
    for k, s, o in zip(kernel, stride, outputs, strict=True):
        before, after = draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))
        size = (o - 1) * s + k - before - after
        if size < max(k - before, 1) or size < k - after:
            before = after = 0
            size = (o - 1) * s + k
        pad += [before, after]
        sizes.append(size)
    return Pool(
        shape=(draw(st.integers(1, 2)), sizes[0], sizes[1], draw(st.integers(1, 70))),
        kernel=kernel,
        stride=stride,
        pad=(pad[0], pad[1], pad[2], pad[3]),
        dtype=draw(_SHORT),
        zero_points=(draw(_BYTES), draw(_BYTES)),
        seed=draw(_SEEDS),
    )


@st.composite
def _transposes(draw: st.DrawFn) -> Callable[[], Trial]:
    shape = draw(st.lists(st.integers(1, 9), min_size=2, max_size=4))
    order = draw(st.permutations(range(len(shape))))
    return partial(moves.transpose, draw(_INTEGERS), shape, order, draw(_SEEDS))


@st.composite
def _blocks(draw: st.DrawFn) -> Callable[[], Trial]:
    """Of a tensor, all behind some place."""
    shape = draw(st.lists(st.integers(1, 20), min_size=1, max_size=3))
    start = [draw(st.integers(0, n - 1)) for n in shape]
    return partial(moves.move, draw(_INTEGERS), shape, start, draw(_SEEDS))


@st.composite
def _rescales(draw: st.DrawFn) -> Callable[[], Trial]:
    dtype = draw(_INTEGERS)
    shift = {"int8": 31, "int16": 38, "int32": 53}[dtype] + draw(st.integers(0, 3))
    points = (draw(st.integers(-100, 100)), draw(st.integers(-100, 100)))
    scale = (draw(_MULTIPLIERS), shift)
    return partial(
        unary.rescale, dtype, draw(_INTEGERS), draw(_SHAPES), scale, points, draw(_SEEDS)
    )


@st.composite
def _products(draw: st.DrawFn) -> Callable[[], Trial]:
    types = draw(st.sampled_from(elementwise.PRODUCTS))
    shift = draw(st.integers(31, 40))
    scale = Rescale(multipliers=(draw(_MULTIPLIERS),), shifts=(shift,), zero_point=draw(_BYTES))
    scaled = types[0] != "bfloat16" and draw(st.booleans())
    rescale = scale if scaled else None
    return partial(elementwise.product, types, rescale, draw(_SHAPES), draw(_SEEDS))


def _matmul_scale(types: tuple[str, str]) -> Rescale:
    """Keeps sums of up to 40 products within 32 bits."""
    bits = sum(8 if dtype == "int8" else 16 for dtype in types)
    return Rescale(multipliers=(20_001,), shifts=(bits + 6,))


@st.composite
def _matmuls(draw: st.DrawFn) -> Callable[[], Trial]:
    types = draw(st.sampled_from(products.TYPES))
    sizes = tuple(draw(st.integers(1, most)) for most in (2, 6, 40, 70))
    rescale = _matmul_scale(types) if draw(st.booleans()) else None
    return partial(products.matmul, sizes, types, draw(_SEEDS), rescale=rescale)  # type: ignore[arg-type]


@st.composite
def _layers(draw: st.DrawFn) -> Callable[[], Trial]:
    n, i, o = draw(st.integers(1, 3)), draw(st.integers(1, 70)), draw(st.integers(1, 140))
    dtype = draw(_SHORT)
    return partial(
        products.fully_connected,
        n,
        i,
        o,
        dtype,
        draw(_SEEDS),
        zero_point=draw(_BYTES) if dtype == "int8" else 0,
        spread=draw(st.integers(0, 4)),
    )


_FACTORS = st.tuples(st.integers(1, 3), st.integers(1, 3))
_FOUR = st.tuples(*[st.integers(1, 7)] * 4)
_PLANES = st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, 9), st.integers(1, 12))
_FLOAT_CASES = st.builds(
    Case,
    batch=st.integers(1, 2),
    channels=st.integers(1, 5),
    outputs=st.integers(1, 6),
    height=st.integers(2, 9),
    width=st.integers(2, 9),
    stride=st.integers(1, 2),
    seed=_SEEDS,
)
DRAWN: dict[str, Makers] = {
    "conv2d, depthwise_conv2d": _any(convolution, case=_cases().filter(_halves_hold_centre)),
    "conv2d of bfloat16": _any(floating, case=_FLOAT_CASES, whole=st.just(True)),
    "fully_connected": _layers(),
    "matmul": _matmuls(),
    "matmul of bfloat16": _any(
        products.float_matmul,
        sizes=st.tuples(*[st.integers(1, most) for most in (2, 6, 40, 70)]),
        seed=_SEEDS,
    ),
    **{
        f"combine {name}": _any(
            elementwise.combination,
            name=st.just(name),
            dtype=st.sampled_from(
                elementwise.TYPES if name in ("MAX", "MIN") else elementwise.INTEGERS
            ),
            shape=_SHAPES,
            seed=_SEEDS,
        )
        for name in elementwise.COMBINATIONS
    },
    "add, sub": _any(
        elementwise.total,
        name=st.sampled_from(["add", "sub"]),
        dtype=_INTEGERS,
        result=_INTEGERS,
        shape=_SHAPES,
        seed=_SEEDS,
    ),
    "add, sub of bfloat16": _any(
        elementwise.total,
        name=st.sampled_from(["add", "sub"]),
        dtype=st.just("bfloat16"),
        result=st.just("bfloat16"),
        shape=_SHAPES,
        seed=_SEEDS,
    ),
    "mul": _products(),
    "add_scaled": _any(
        elementwise.scaled_sum,
        dtype=_SHORT,
        shape=_SHAPES,
        weights=st.tuples(*[st.integers(-(1 << 15), (1 << 15) - 1)] * 2),
        bias=st.integers(-(1 << 16), 1 << 16),
        shift=st.integers(45, 53),
        seed=_SEEDS,
    ),
    "select": _any(selections.select, dtype=_INTEGERS, shape=_SHAPES, seed=_SEEDS),
    **{
        f"shift {direction}": _any(
            selections.shift,
            direction=st.just(direction),
            dtype=_INTEGERS,
            shape=_SHAPES,
            seed=_SEEDS,
            rounding=st.booleans() if direction == "right_arithmetic" else st.just(False),
        )
        for direction in by_hand.SHIFTS
    },
    **{
        mode: _any(unary.whole, mode=st.just(mode), dtype=_INTEGERS, shape=_SHAPES, seed=_SEEDS)
        for mode in unary.INTEGER_MODES
    },
    **{
        f"{mode} of bfloat16": _any(unary.floating, mode=st.just(mode), shape=_SHAPES, seed=_SEEDS)
        for mode in unary.FLOAT_MODES
    },
    "cast to integers": _any(
        unary.to_integer,
        dtype=_INTEGERS,
        shape=_SHAPES,
        seed=_SEEDS,
        scale=st.sampled_from([1, 90, 20_000, 3_000_000_000]),
    ),
    "cast to floats": _any(
        unary.to_float,
        dtype=_INTEGERS,
        result=st.sampled_from(["bfloat16", "float32"]),
        shape=_SHAPES,
        seed=_SEEDS,
    ),
    "rescale": _rescales(),
    "table": _any(unary.table, dtype=_SHORT, shape=_SHAPES, seed=_SEEDS),
    "move": _blocks(),
    "transpose": _transposes(),
    "concat": _any(
        moves.concat,
        dtype=_INTEGERS,
        shape=st.tuples(*[st.integers(1, 7)] * 3),
        axis=st.integers(0, 2),
        lengths=st.lists(st.integers(1, 6), min_size=1, max_size=3),
        seed=_SEEDS,
    ),
    "resize_nearest": _any(
        moves.resize, dtype=_INTEGERS, shape=_FOUR, factors=_FACTORS, seed=_SEEDS
    ),
    "broadcast": _any(
        moves.broadcast,
        dtype=_INTEGERS,
        shape=st.tuples(*[st.sampled_from([1, 1, 2, 5])] * 4),
        times=st.tuples(*[st.integers(1, 4)] * 4),
        seed=_SEEDS,
    ),
    "segmentation": _any(moves.segmentation, dtype=_SHORT, shape=_PLANES, seed=_SEEDS),
    "fill": _any(moves.fill, dtype=_SHORT, count=st.integers(1, 300), value=_BYTES),
    "gather": _any(
        moves.gather,
        dtype=_INTEGERS,
        rows=st.integers(1, 40),
        columns=st.integers(1, 80),
        count=st.integers(1, 12),
        seed=_SEEDS,
    ),
    "max_pool2d": _any(pooling.max_pool, pool=_pools()),
    "avg_pool2d": _any(pooling.avg_pool, pool=_pools()),
    **{
        f"reduce {name}": _any(
            pooling.reduction,
            name=st.just(name),
            dtype=_INTEGERS if name != "sum" else st.just("int32"),
            shape=st.tuples(*[st.integers(1, 20)] * 3),
            axis=st.integers(0, 2),
            seed=_SEEDS,
        )
        for name in pooling.REDUCTIONS
    },
}
"""By kernel."""
