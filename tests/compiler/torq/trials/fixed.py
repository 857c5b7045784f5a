"""Trials that are the same in every run: odd sizes, channels that fill no group, all types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from assay.compiler.torq.operators.quantisation import Rescale
from tests.compiler.torq import by_hand

from . import elementwise, moves, pooling, products, unary
from . import selection as selections
from .convolutions import Case, convolution, floating
from .pooling import Pool
from .trial import Trial

Makers = Mapping[str, Callable[[], Trial]]
_INTEGERS = elementwise.INTEGERS
_SHORT = ("int8", "int16")
_SHAPE = (3, 5, 7)
_LONG = (2, 421)
"""More than fits a few vectors of any type, and no multiple of one."""
_WIDE = Case(
    dtype="int16", result="int16", channels=260, height=4, width=4, outputs=2, extreme=True
)
"""Sums of 34 bits."""
_CASES = {
    "one group, one vector": Case(channels=2, outputs=4, height=8, width=8),
    "odd sizes and channels": Case(),
    "batch": Case(batch=3, height=5, width=5),
    "1x1": Case(kernel=(1, 1), top=0, left=0, batch=2, outputs=6),
    "2x2, one-sided": Case(kernel=(2, 2)),
    "1x3": Case(kernel=(1, 3), top=0),
    "5x5": Case(kernel=(5, 5), top=2, left=2, height=11),
    "7x7": Case(kernel=(7, 7), top=3, left=3, height=11),
    "many vectors": Case(height=20, width=21, channels=2, outputs=4),
    "narrow plane": Case(height=9, width=1, kernel=(3, 1), left=0),
    "one pixel": Case(height=1, width=1, kernel=(1, 1), top=0, left=0, channels=70),
    "one multiplier": Case(per_channel=False, outputs=7),
    "largest sums": Case(extreme=True, channels=40, height=5, width=5, zero_point=127),
    "int16": Case(dtype="int16"),
    "int16 to int16": Case(dtype="int16", result="int16", batch=2),
    "int16, sums of 34 bits": _WIDE,
    "shifts differ between channels": Case(outputs=9, shifts=(38, 39, 40)),
    "shifts differ widely": Case(outputs=6, shifts=(32, 47, 40)),
    "stride 2": Case(stride=2, top=0, left=1),
    "stride 2, batch": Case(stride=2, top=1, left=0, batch=2, outputs=3),
    "stride 2, 7x7": Case(stride=2, kernel=(7, 7), top=2, left=3),
    "stride 2, 4x4": Case(stride=2, kernel=(4, 4)),
    "stride 2, int16": Case(stride=2, dtype="int16"),
    "depthwise": Case(depthwise=True, channels=8),
    "depthwise, odd channels": Case(depthwise=True, channels=5, batch=2),
    "depthwise 5x5": Case(depthwise=True, channels=4, kernel=(5, 5), top=2, left=2),
    "depthwise 1x1, planes of one word": Case(
        depthwise=True, channels=4, kernel=(1, 1), top=0, left=0, height=4, width=4
    ),
    "depthwise, stride 2": Case(depthwise=True, channels=6, stride=2),
    "depthwise, int16": Case(depthwise=True, channels=6, dtype="int16", result="int16"),
    "depthwise, one multiplier": Case(depthwise=True, channels=7, per_channel=False),
    # Scaled with one shift, these sums would need more than the 64 bits of a product.
    "int16, sums of 34 bits, shifts differ widely": Case(
        dtype="int16",
        result="int16",
        channels=260,
        height=4,
        width=4,
        outputs=2,
        extreme=True,
        shifts=(20, 36),
    ),
}
_FLOATS = {
    "bfloat16, one channel": (Case(channels=1), False),
    "bfloat16, one pixel": (Case(channels=7, kernel=(1, 1), top=0, left=0, batch=2), False),
    "bfloat16, whole numbers": (Case(channels=7), True),
    "bfloat16, stride 2, whole numbers": (Case(stride=2, kernel=(5, 4), batch=2), True),
}
CONVOLUTIONS: Makers = {
    **{name: partial(convolution, case) for name, case in _CASES.items()},
    **{name: partial(floating, case, whole=whole) for name, (case, whole) in _FLOATS.items()},
}

_PRODUCT_SCALES = {"int8": 22, "int16": 40}
PRODUCTS: Makers = {
    **{
        f"fully connected, {dtype}, {n}x{i}x{o}": partial(
            products.fully_connected, n, i, o, dtype, 1, zero_point=zero_point, spread=3
        )
        for dtype, zero_point in (("int8", 7), ("int16", 0))
        for n, i, o in ((1, 1, 1), (2, 37, 67), (3, 5, 128))
    },
    **{
        f"matmul, {a} and {b}": partial(products.matmul, (2, 3, 17, 41), (a, b), 1)
        for a, b in products.TYPES
    },
    **{
        f"matmul, {dtype}, scaled": partial(
            products.matmul,
            (2, 5, 9, 67),
            (dtype, dtype),
            1,
            rescale=Rescale(multipliers=(20_001,), shifts=(shift,)),
        )
        for dtype, shift in _PRODUCT_SCALES.items()
    },
    "matmul, bfloat16": partial(products.float_matmul, (2, 5, 17, 41), 0),
}

_SCALE = Rescale(multipliers=(1_518_500_249,), shifts=(37,), zero_point=-7)
ELEMENTWISE: Makers = {
    **{
        f"{name}, {dtype}": partial(elementwise.combination, name, dtype, _SHAPE, 1)
        for name in elementwise.COMBINATIONS
        for dtype in (elementwise.TYPES if name in ("MAX", "MIN") else _INTEGERS)
    },
    **{
        f"{name}, {dtype} to {result}": partial(elementwise.total, name, dtype, result, _LONG, 1)
        for name in ("add", "sub")
        for dtype in _INTEGERS
        for result in (_INTEGERS if dtype != "int32" else ("int32",))
    },
    **{
        f"{name}, bfloat16": partial(elementwise.total, name, "bfloat16", "bfloat16", _SHAPE, 1)
        for name in ("add", "sub")
    },
    **{
        f"mul, {' and '.join(types)}{', scaled' if scale else ''}": partial(
            elementwise.product, types, scale, _LONG, 1
        )
        for types in elementwise.PRODUCTS
        for scale in ((None, _SCALE) if types[0] != "bfloat16" else (None,))
    },
    **{
        f"add_scaled, {dtype}, {weights}": partial(
            elementwise.scaled_sum, dtype, _LONG, weights, -77_777, shift, 1
        )
        for dtype, shift in (("int8", 45), ("int16", 53))
        for weights in ((1000, 30_000), (-32_768, 32_767))
    },
    **{f"select, {dtype}": partial(selections.select, dtype, _LONG, 1) for dtype in _INTEGERS},
    **{
        f"shift {direction}, {dtype}": partial(selections.shift, direction, dtype, _LONG, 1)
        for direction in by_hand.SHIFTS
        for dtype in _INTEGERS
    },
    **{
        f"shift right, rounding, {dtype}": partial(
            selections.shift, "right_arithmetic", dtype, _LONG, 1, rounding=True
        )
        for dtype in _INTEGERS
    },
}

_SCALES = {"int8": (1 << 30, 30), "int16": (1_234_567_891, 37), "int32": (1_987_654_321, 50)}
UNARY: Makers = {
    **{
        f"{mode}, {dtype}": partial(unary.whole, mode, dtype, _LONG, 1)
        for mode in unary.INTEGER_MODES
        for dtype in _INTEGERS
    },
    **{f"{mode}, bfloat16": partial(unary.floating, mode, _SHAPE, 1) for mode in unary.FLOAT_MODES},
    **{
        f"rescale, {dtype} to {result}, {points}": partial(
            unary.rescale, dtype, result, _LONG, (1 << 30, 30), points, 1
        )
        for dtype, result, points in (
            ("uint8", "int8", (128, 0)),
            ("uint8", "int32", (255, 0)),
            ("int8", "uint8", (-128, 3)),
            ("int32", "uint8", (0, 128)),
        )
    },
    **{
        f"cast, bfloat16 up to {scale} to {dtype}": partial(
            unary.to_integer, dtype, _SHAPE, 1, scale
        )
        for dtype in _INTEGERS
        for scale in (90, 3_000_000_000)
    },
    **{
        f"cast, {dtype} to {result}": partial(unary.to_float, dtype, result, _LONG, 1)
        for dtype in _INTEGERS
        for result in ("bfloat16", "float32")
    },
    **{
        f"rescale, {dtype} to {result}, {points}": partial(
            unary.rescale, dtype, result, _SHAPE, _SCALES[dtype], points, 1
        )
        for dtype in _INTEGERS
        for result in _INTEGERS
        for points in ((0, 0), (-3, 77))
    },
    "copy, bfloat16": partial(unary.whole, "copy", "bfloat16", _LONG, 1),
    **{f"table, {dtype}": partial(unary.table, dtype, _LONG, 1) for dtype in _SHORT},
}

MOVES: Makers = {
    **{
        f"move, {dtype}": partial(moves.move, dtype, (4, 5, 19), (1, 2, 1), 1)
        for dtype in elementwise.TYPES
    },
    **{
        f"transpose, {dtype}, {order}": partial(moves.transpose, dtype, (3, 4, 5), order, 1)
        for dtype in elementwise.TYPES
        for order in ((0, 2, 1), (2, 0, 1))
    },
    "transpose of blocks": partial(moves.transpose_blocks, (2, 64, 96), 0),
    **{
        f"concat, {dtype}, axis {axis}": partial(moves.concat, dtype, (2, 3, 5), axis, (1, 4, 2), 1)
        for dtype in elementwise.TYPES
        for axis in (range(3) if dtype == "int8" else (1,))
    },
    **{
        f"resize, {dtype}, {factors}": partial(moves.resize, dtype, (2, 3, 5, 7), factors, 1)
        for dtype in elementwise.TYPES
        for factors in ((2, 2), (1, 3))
    },
    **{
        f"broadcast, {dtype}": partial(moves.broadcast, dtype, (3, 1, 7, 1), (2, 4, 1, 5), 1)
        for dtype in elementwise.TYPES
    },
    **{
        f"segmentation, {dtype}": partial(moves.segmentation, dtype, (2, 3, 5, 7), 1)
        for dtype in (*_SHORT, "bfloat16")
    },
    **{f"fill, {dtype}": partial(moves.fill, dtype, 77, -5) for dtype in _SHORT},
    **{
        f"gather, {dtype}": partial(moves.gather, dtype, 11, 29, 6, 1)
        for dtype in elementwise.TYPES
    },
}

_POOLS = {
    "3x3, stride 2": Pool(shape=(2, 7, 9, 5), kernel=(3, 3), stride=(2, 2)),
    "3x2, padded": Pool(shape=(1, 6, 5, 67), kernel=(3, 2), stride=(1, 1), pad=(1, 1, 1, 0)),
    "2x2, padded, stride 2": Pool(
        shape=(1, 6, 6, 3), kernel=(2, 2), stride=(2, 2), pad=(1, 1, 1, 1), zero_points=(127, -128)
    ),
    "all in one": Pool(shape=(2, 7, 7, 130), kernel=(7, 7), stride=(1, 1)),
}
POOLING: Makers = {
    **{
        f"{make.__name__}, {name}, {dtype}": partial(make, pool.of(dtype))
        for make in (pooling.max_pool, pooling.avg_pool)
        for name, pool in _POOLS.items()
        for dtype in _SHORT
    },
    **{
        f"{name}, {dtype}, axis {axis}": partial(pooling.reduction, name, dtype, (3, 7, 5), axis, 1)
        for name in pooling.REDUCTIONS
        for dtype in (_INTEGERS if name != "sum" else ("int32",))
        for axis in (range(3) if dtype == "int8" or name == "sum" else (1,))
    },
}

FIXED: dict[str, Makers] = {
    "convolutions": CONVOLUTIONS,
    "products": PRODUCTS,
    "elementwise": ELEMENTWISE,
    "unary": UNARY,
    "moves": MOVES,
    "pooling": POOLING,
}
