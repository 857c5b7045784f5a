"""What TOSA's operators with windows, axes and shapes compute, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation

from ..elements import NUMPY, Array, is_float
from ..meaning import moves, pooling, products
from ..meaning.arithmetic import narrowed
from . import ops
from .elementwise import Meaning


def _point(x: Array) -> int:
    value = x.reshape(-1)[0]
    return int(value)


def _zero_points(x: Sequence[Array]) -> dict[str, int]:
    """Those of a product's operands 3 and 4; floats have none."""
    if x[0].dtype.kind not in "iu" or len(x) < 5:
        return {}
    return {"input_zp": _point(x[3]), "weight_zp": _point(x[4])}


def _sums(total: Array, op: Operation) -> Array:
    dtype = ops.dtype(op.results[0])
    return total.astype(NUMPY[dtype]) if is_float(dtype) else narrowed(total, dtype)


def _convolved_by(total: Callable[..., Array]) -> Meaning:
    """The meaning of a convolution whose sums are these, with or without channels summed."""

    def meaning(op: Operation, x: Sequence[Array]) -> Array:
        windows = {
            "pads": ops.integers(op, "pad"),
            "stride": ops.integers(op, "stride"),
            "dilation": ops.integers(op, "dilation"),
        }
        return _sums(total(x[0], x[1], x[2], **windows, **_zero_points(x)), op)

    return meaning


def _transpose_conv2d(op: Operation, x: Sequence[Array]) -> Array:
    rows, columns = ops.shape(op.results[0])[1:3]
    total = products.transposed_convolved(
        x[0],
        x[1],
        x[2],
        out_pads=ops.integers(op, "out_pad"),
        stride=ops.integers(op, "stride"),
        outputs=(rows, columns),
        **_zero_points(x),
    )
    return _sums(total, op)


def _matmul(op: Operation, x: Sequence[Array]) -> Array:
    zeros = [_point(z) for z in x[2:4]] if x[0].dtype.kind in "iu" and len(x) > 3 else [0, 0]
    return _sums(products.matrix_product(x[0], x[1], a_zp=zeros[0], b_zp=zeros[1]), op)


def _max_pool(op: Operation, x: Sequence[Array]) -> Array:
    return pooling.largest(
        x[0],
        ops.dtype(op.operands[0]),
        kernel=ops.integers(op, "kernel"),
        stride=ops.integers(op, "stride"),
        pads=ops.integers(op, "pad"),
    )


def _avg_pool(op: Operation, x: Sequence[Array]) -> Array:
    zeros = [_point(z) for z in x[1:3]] if x[0].dtype.kind in "iu" and len(x) > 2 else [0, 0]
    return pooling.mean(
        x[0],
        ops.dtype(op.operands[0]),
        kernel=ops.integers(op, "kernel"),
        stride=ops.integers(op, "stride"),
        pads=ops.integers(op, "pad"),
        input_zp=zeros[0],
        output_zp=zeros[1],
    )


def _reduce(op: Operation, x: Sequence[Array]) -> Array:
    kind = ops.name_of(op).removeprefix("tosa.reduce_")
    return pooling.reduced(kind, x[0], [ops.integer(op, "axis")], ops.dtype(op.results[0]))


def _argmax(op: Operation, x: Sequence[Array]) -> Array:
    result = np.argmax(x[0], axis=ops.integer(op, "axis"))
    return np.asarray(result).astype(NUMPY[ops.dtype(op.results[0])])


def _concat(op: Operation, x: Sequence[Array]) -> Array:
    return np.concatenate(list(x), axis=ops.integer(op, "axis"))


def _pad(op: Operation, x: Sequence[Array]) -> Array:
    widths = x[1].reshape(-1, 2).astype(np.int64)
    value = x[2].reshape(-1)[0] if len(x) > 2 else np.asarray(0, x[0].dtype)
    return np.pad(x[0], [(int(a), int(b)) for a, b in widths], constant_values=value)


def _reshape(op: Operation, x: Sequence[Array]) -> Array:
    return x[0].reshape(ops.shape(op.results[0]))


def _reverse(op: Operation, x: Sequence[Array]) -> Array:
    return np.flip(x[0], ops.integer(op, "axis"))


def _slice(op: Operation, x: Sequence[Array]) -> Array:
    starts, sizes = (v.reshape(-1).astype(np.int64) for v in x[1:3])
    return x[0][tuple(slice(int(a), int(a + n)) for a, n in zip(starts, sizes, strict=True))]


def _tile(op: Operation, x: Sequence[Array]) -> Array:
    return np.tile(x[0], [int(n) for n in x[1].reshape(-1)])


def _transpose(op: Operation, x: Sequence[Array]) -> Array:
    return np.transpose(x[0], ops.integers(op, "perms"))


def _gather(op: Operation, x: Sequence[Array]) -> Array:
    return moves.gathered(x[0], x[1])


def _scatter(op: Operation, x: Sequence[Array]) -> Array:
    return moves.scattered(x[0], x[1], x[2])


def _resize(op: Operation, x: Sequence[Array]) -> Array:
    scale, offset = ([int(n) for n in v.reshape(-1)] for v in x[1:3])
    outputs = ops.shape(op.results[0])[1:3]
    if ops.word(op, "mode") == "NEAREST_NEIGHBOR":
        return moves.resized_nearest(x[0], outputs, scale, offset)
    return moves.resized_bilinear(x[0], outputs, scale, offset, ops.dtype(op.results[0]))


def _identity(op: Operation, x: Sequence[Array]) -> Array:
    return x[0]


MEANINGS: dict[str, Meaning] = {
    "tosa.conv2d": _convolved_by(products.convolved),
    "tosa.depthwise_conv2d": _convolved_by(products.convolved_by_channel),
    "tosa.transpose_conv2d": _transpose_conv2d,
    "tosa.matmul": _matmul,
    "tosa.max_pool2d": _max_pool,
    "tosa.avg_pool2d": _avg_pool,
    **dict.fromkeys(
        [f"tosa.reduce_{kind}" for kind in ("sum", "product", "max", "min", "all", "any")], _reduce
    ),
    "tosa.argmax": _argmax,
    "tosa.concat": _concat,
    "tosa.pad": _pad,
    "tosa.reshape": _reshape,
    "tosa.reverse": _reverse,
    "tosa.slice": _slice,
    "tosa.tile": _tile,
    "tosa.transpose": _transpose,
    "tosa.gather": _gather,
    "tosa.scatter": _scatter,
    "tosa.resize": _resize,
    "tosa.identity": _identity,
}
"""By the operator's name."""
