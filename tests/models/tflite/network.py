"""Quantised networks layer by layer: random weights, and scales that fill the range of the type."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tflite

from .writer import Array, Writer

SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID
NONE = tflite.ActivationFunctionType.NONE
RELU = tflite.ActivationFunctionType.RELU
RELU6 = tflite.ActivationFunctionType.RELU6
_WEIGHT_SPREAD = 73.0
"""Standard deviation of whole numbers that are uniform from -127 to 127."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the network: its number, shape, type and quantisation."""

    index: int
    shape: tuple[int, ...]
    dtype: str
    scale: float
    zero: int

    @property
    def spread(self) -> float:
        """Standard deviation that its quantised values are meant to have."""
        return 40.0 if self.dtype == "int8" else 8000.0


class Network:
    """A network of one element type, int8 or int16; layers are appended as they are called."""

    def __init__(self, seed: int, dtype: str = "int8", *, open_batch: bool = False) -> None:
        """`open_batch` leaves the first size of each tensor open."""
        self._open_batch = open_batch
        self.writer = Writer(f"random network {seed}")
        self.random = np.random.default_rng(seed)
        self.dtype = dtype
        self._inputs: list[Tensor] = []
        self._count = 0
        self._layers: dict[tuple[int, float], tuple[int, int]] = {}
        """Weights and bias by the tensor that a layer made and the scale of its input."""

    def input(self, shape: Sequence[int], scale: float = 0.02, zero: int = -3) -> Tensor:
        """A tensor that the caller gives."""
        made = self.activation("input", shape, scale, zero)
        self._inputs.append(made)
        return made

    def finish(self, *outputs: Tensor) -> bytes:
        """The file."""
        return self.writer.finish([t.index for t in self._inputs], [t.index for t in outputs])

    def activation(
        self, kind: str, shape: Sequence[int], scale: float, zero: int, dtype: str = ""
    ) -> Tensor:
        """A tensor that is computed; those of int16 have no zero point."""
        dtype = dtype or self.dtype
        zero = zero if dtype == "int8" else 0
        index = self.writer.tensor(
            self.name(kind),
            shape,
            dtype,
            scales=[scale],
            zeros=[zero],
            signature=(-1, *shape[1:]) if self._open_batch else (),
        )
        return Tensor(index, tuple(shape), dtype, scale, zero)

    def name(self, kind: str) -> str:
        """A name of its own."""
        self._count += 1
        return f"{kind}_{self._count}"

    def numbers(self, kind: str, values: Sequence[int], dtype: str = "int32") -> int:
        """A constant that is not quantised, such as a shape."""
        array = np.array(values, dtype)
        return self.writer.tensor(self.name(kind), array.shape, dtype, value=array)

    def convolution(
        self,
        x: Tensor,
        channels: int,
        kernel: int | tuple[int, int] = 3,
        *,
        stride: int | tuple[int, int] = 1,
        padding: int = SAME,
        dilation: int = 1,
        activation: int = NONE,
    ) -> Tensor:
        """CONV_2D with weights of one scale per output channel."""
        kh, kw = _pair(kernel)
        weights = self._weights((channels, kh, kw, x.shape[3]))
        shape = _windows(x.shape, (kh, kw), _pair(stride), padding, dilation, channels)
        out = self._after(x, "conv", shape, kh * kw * x.shape[3], activation)
        place, bias = self._constants(x, out, weights, 0, kh * kw * x.shape[3])
        self.writer.operator(
            "CONV_2D",
            [x.index, place, bias],
            [out.index],
            version=3,
            options="Conv2DOptions",
            Padding=padding,
            StrideH=_pair(stride)[0],
            StrideW=_pair(stride)[1],
            DilationHFactor=dilation,
            DilationWFactor=dilation,
            FusedActivationFunction=activation,
        )
        return out

    def depthwise(
        self,
        x: Tensor,
        kernel: int | tuple[int, int] = 3,
        *,
        stride: int | tuple[int, int] = 1,
        padding: int = SAME,
        activation: int = NONE,
        multiplier: int = 1,
        dilation: int = 1,
    ) -> Tensor:
        """DEPTHWISE_CONV_2D with weights of one scale per channel."""
        kh, kw = _pair(kernel)
        channels = x.shape[3] * multiplier
        weights = self._weights((1, kh, kw, channels))
        shape = _windows(x.shape, (kh, kw), _pair(stride), padding, dilation, channels)
        out = self._after(x, "depthwise", shape, kh * kw, activation)
        place, bias = self._constants(x, out, weights, 3, kh * kw)
        self.writer.operator(
            "DEPTHWISE_CONV_2D",
            [x.index, place, bias],
            [out.index],
            version=3,
            options="DepthwiseConv2DOptions",
            Padding=padding,
            StrideH=_pair(stride)[0],
            StrideW=_pair(stride)[1],
            DilationHFactor=dilation,
            DilationWFactor=dilation,
            DepthMultiplier=multiplier,
            FusedActivationFunction=activation,
        )
        return out

    def fully_connected(
        self, x: Tensor, outputs: int, activation: int = NONE, *, like: Tensor | None = None
    ) -> Tensor:
        """FULLY_CONNECTED over the last axis, with weights of one scale.

        They are those of the layer that made `like`, if it is given, of an input of x's scale.
        """
        inputs = x.shape[-1]
        keep = len(x.shape) > 2
        out = self._after(x, "dense", (*x.shape[:-1], outputs), inputs, activation)
        if like is not None:
            place, bias = self._layers[like.index, x.scale]
        else:
            weights = self._weights((outputs, inputs))
            place, bias = self._constants(x, out, weights, -1, inputs)
        self._layers[out.index, x.scale] = place, bias
        self.writer.operator(
            "FULLY_CONNECTED",
            [x.index, place, bias],
            [out.index],
            version=5 if keep else 4,
            options="FullyConnectedOptions",
            FusedActivationFunction=activation,
            KeepNumDims=keep,
        )
        return out

    def batch_matmul(self, a: Tensor, b: Tensor, *, transpose_b: bool = False) -> Tensor:
        """BATCH_MATMUL of (..., m, k) and (..., k, n), or (..., n, k) if it is transposed."""
        inner = a.shape[-1]
        columns = b.shape[-2] if transpose_b else b.shape[-1]
        out_scale = a.scale * b.scale * math.sqrt(inner) * b.spread
        out = self.activation("product", (*a.shape[:-1], columns), out_scale, 1)
        self.writer.operator(
            "BATCH_MATMUL",
            [a.index, b.index],
            [out.index],
            version=4,
            options="BatchMatMulOptions",
            AdjY=transpose_b,
        )
        return out

    def pool(
        self, x: Tensor, kernel: int, *, stride: int = 1, padding: int = VALID, op: str = "MAX"
    ) -> Tensor:
        """MAX_POOL_2D or AVERAGE_POOL_2D; the quantisation stays."""
        shape = _windows(x.shape, (kernel, kernel), (stride, stride), padding, 1, x.shape[3])
        out = self.activation("pool", shape, x.scale, x.zero)
        self.writer.operator(
            f"{op}_POOL_2D",
            [x.index],
            [out.index],
            version=2,
            options="Pool2DOptions",
            Padding=padding,
            StrideH=stride,
            StrideW=stride,
            FilterHeight=kernel,
            FilterWidth=kernel,
        )
        return out

    def mean(self, x: Tensor, axes: Sequence[int] = (1, 2), *, keep: bool = False) -> Tensor:
        """MEAN over axes."""
        kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
        shape = kept if keep else [n for i, n in enumerate(x.shape) if i not in axes]
        out = self.activation("mean", shape, x.scale * 0.6, x.zero)
        place = self.numbers("axes", axes)
        self.writer.operator(
            "MEAN",
            [x.index, place],
            [out.index],
            version=2,
            options="ReducerOptions",
            KeepDims=keep,
        )
        return out

    def layer_norm(self, x: Tensor) -> Tensor:
        """Numbers of the last axis less their mean, over their deviation: in seven operators.

        TFLite has no operator for it, and converters write it this way. Factors and offsets by
        number are part of the products behind it.
        """
        axes = (len(x.shape) - 1,)
        centred = self.binary("SUB", x, self.mean(x, axes, keep=True))
        squares = self._lowest("square", x.shape, 50 * centred.scale**2)
        self.writer.operator(
            "MUL", [centred.index, centred.index], [squares.index], version=2, options="MulOptions"
        )
        variance = self._lowest("variance", (*x.shape[:-1], 1), 0.4 * squares.scale)
        place = self.numbers("axes", axes)
        self.writer.operator(
            "MEAN",
            [squares.index, place],
            [variance.index],
            version=2,
            options="ReducerOptions",
            KeepDims=True,
        )
        largest = 1 / math.sqrt(10 * variance.scale)
        inverse = self._lowest("rsqrt", variance.shape, largest / 255)
        self.writer.operator("RSQRT", [variance.index], [inverse.index], version=2)
        out = self.activation("norm", x.shape, 4 / 127, 0)
        self.writer.operator(
            "MUL", [centred.index, inverse.index], [out.index], version=2, options="MulOptions"
        )
        return out

    def _lowest(self, kind: str, shape: Sequence[int], scale: float) -> Tensor:
        """A tensor of numbers that are not negative."""
        return self.activation(kind, shape, scale, -128)

    def binary(self, op: str, a: Tensor, b: Tensor, activation: int = NONE) -> Tensor:
        """ADD, SUB or MUL of tensors that broadcast."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        scale = 1.3 * max(a.scale, b.scale)
        if op == "MUL":
            scale = 1.3 * a.scale * b.scale * a.spread
        out = self.activation(op.lower(), shape, scale, 5)
        fields = {} if op == "MUL" else {"PotScaleInt16": False}
        name = op.title()
        self.writer.operator(
            op,
            [a.index, b.index],
            [out.index],
            version=2,
            options=f"{name}Options",
            FusedActivationFunction=activation,
            **fields,
        )
        return out

    def unary(self, op: str, x: Tensor) -> Tensor:
        """LOGISTIC, TANH, HARD_SWISH, GELU or RELU: one tensor, element by element."""
        fixed = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}
        if x.dtype == "int16":
            fixed = dict.fromkeys(fixed, (1 / 32768, 0))
        scale, zero = fixed.get(op, (x.scale, -100))
        out = self.activation(op.lower(), x.shape, scale, zero)
        options = {"HARD_SWISH": "HardSwishOptions", "GELU": "GeluOptions"}.get(op, "")
        version = {"RELU": 2, "GELU": 2}.get(op, 3 if x.dtype == "int16" else 2)
        version = 1 if op == "HARD_SWISH" else version
        self.writer.operator(op, [x.index], [out.index], version=version, options=options)
        return out

    def softmax(self, x: Tensor) -> Tensor:
        """SOFTMAX over the last axis."""
        scale, zero = (1 / 256, -128) if x.dtype == "int8" else (1 / 32768, 0)
        out = self.activation("softmax", x.shape, scale, zero)
        version = 2 if x.dtype == "int8" else 3
        self.writer.operator(
            "SOFTMAX", [x.index], [out.index], version=version, options="SoftmaxOptions", Beta=1.0
        )
        return out

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """RESHAPE."""
        out = self.activation("reshape", shape, x.scale, x.zero)
        place = self.numbers("shape", shape)
        self.writer.operator(
            "RESHAPE",
            [x.index, place],
            [out.index],
            options="ReshapeOptions",
            NewShape=list(shape),
        )
        return out

    def transpose(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """TRANSPOSE."""
        out = self.activation("transpose", [x.shape[i] for i in order], x.scale, x.zero)
        place = self.numbers("order", order)
        self.writer.operator(
            "TRANSPOSE", [x.index, place], [out.index], version=2, options="TransposeOptions"
        )
        return out

    def concatenation(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """CONCATENATION; parts of another quantisation are requantised."""
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        first = max(parts, key=lambda part: part.scale)
        parts = [self.requantised(part, first) for part in parts]
        out = self.activation("concat", shape, first.scale, first.zero)
        self.writer.operator(
            "CONCATENATION",
            [part.index for part in parts],
            [out.index],
            version=2,
            options="ConcatenationOptions",
            Axis=axis,
        )
        return out

    def requantised(self, x: Tensor, like: Tensor) -> Tensor:
        """QUANTIZE to the quantisation of another tensor, unless it has that already."""
        if (x.scale, x.zero) == (like.scale, like.zero):
            return x
        out = self.activation("quantize", x.shape, like.scale, like.zero)
        self.writer.operator(
            "QUANTIZE", [x.index], [out.index], version=2, options="QuantizeOptions"
        )
        return out

    def slice(self, x: Tensor, start: Sequence[int], sizes: Sequence[int]) -> Tensor:
        """SLICE."""
        out = self.activation("slice", sizes, x.scale, x.zero)
        places = [self.numbers("start", start), self.numbers("sizes", sizes)]
        self.writer.operator(
            "SLICE", [x.index, *places], [out.index], version=2, options="SliceOptions"
        )
        return out

    def pad(self, x: Tensor, widths: Sequence[tuple[int, int]]) -> Tensor:
        """PAD with zeros."""
        shape = [n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)]
        out = self.activation("pad", shape, x.scale, x.zero)
        array = np.array(widths, np.int32)
        place = self.writer.tensor(self.name("widths"), array.shape, "int32", value=array)
        self.writer.operator("PAD", [x.index, place], [out.index], version=2, options="PadOptions")
        return out

    def resize_nearest(self, x: Tensor, factor: int) -> Tensor:
        """RESIZE_NEAREST_NEIGHBOR to `factor` times the rows and columns."""
        n, height, width, channels = x.shape
        sizes = (height * factor, width * factor)
        out = self.activation("resize", (n, *sizes, channels), x.scale, x.zero)
        self.writer.operator(
            "RESIZE_NEAREST_NEIGHBOR",
            [x.index, self.numbers("sizes", sizes)],
            [out.index],
            version=3,
            options="ResizeNearestNeighborOptions",
            HalfPixelCenters=True,
        )
        return out

    def _weights(self, shape: tuple[int, ...]) -> Array:
        return self.random.integers(-127, 128, shape).astype(np.int8)

    def _after(
        self, x: Tensor, kind: str, shape: Sequence[int], terms: int, activation: int
    ) -> Tensor:
        """The result of a sum of `terms` products, for weights of scale 0.01 on average."""
        scale = x.scale * 0.01 * math.sqrt(terms) * _WEIGHT_SPREAD
        zero = -1
        if activation in (RELU, RELU6):
            zero = -128
            scale = scale / 2
        if activation == RELU6:
            scale = 6 / 255
        return self.activation(kind, shape, scale, zero)

    def _constants(
        self, x: Tensor, out: Tensor, weights: Array, axis: int, terms: int
    ) -> tuple[int, int]:
        """Weights and bias; weights of axis -1 have one scale, else one per index."""
        many = 1 if axis < 0 else weights.shape[axis]
        middle = out.scale / (x.scale * math.sqrt(terms) * _WEIGHT_SPREAD)
        scales = (middle * self.random.uniform(0.5, 1.5, many)).astype(np.float32)
        place = self.writer.tensor(
            self.name("weights"),
            weights.shape,
            "int8",
            scales=[float(s) for s in scales],
            axis=max(axis, 0),
            value=weights,
        )
        channels = weights.shape[axis] if axis >= 0 else weights.shape[0]
        spread = x.spread * _WEIGHT_SPREAD * math.sqrt(terms) / 4
        values = self.random.normal(0, spread, channels).astype(np.int64)
        wide = "int64" if self.dtype == "int16" else "int32"
        bias = self.writer.tensor(
            self.name("bias"),
            (channels,),
            wide,
            scales=[float(np.float32(x.scale) * s) for s in scales],
            value=values.astype(wide),
        )
        return place, bias


def _pair(value: int | tuple[int, int]) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)


def _windows(
    shape: Sequence[int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: int,
    dilation: int,
    channels: int,
) -> tuple[int, ...]:
    """The shape of the result of windows over (n, h, w, c)."""
    sizes = []
    for size, taps, step in zip(shape[1:3], kernel, stride, strict=True):
        reach = (taps - 1) * dilation + 1
        sizes.append(-(-size // step) if padding == SAME else (size - reach) // step + 1)
    return (shape[0], *sizes, channels)
