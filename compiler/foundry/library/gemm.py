"""Products of matrices: what each takes, and over which grid it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from ..errors import FoundryError
from ..formats import Format
from ..kernels import (
    Compound,
    Epilogue,
    Grid,
    Output,
    PolicyStage,
    derived,
    per_element,
)
from ..pipelines import MARLIN, Dense, Pipeline, ProductStage, Simdgroups, SumStage, Tile, Weighted
from ..structs import struct
from ..structs.names import FLOAT, HALF, uint, ulong
from ..structs.types import Scalar
from .base import Listed, Ready, columns_of, scalar_of

PLAIN: Final = Pipeline(tile=Tile(64, 64, 32), by=Simdgroups(2, 2), buffers=2)
"""64x64 of a product for four simdgroups, 32 of the sum at a time: 16 KiB of 16-bit numbers."""
_FLOATS: Final = Pipeline(tile=Tile(64, 64, 16), by=Simdgroups(2, 2), buffers=2)
"""As many bytes of floats."""
_MOST: Final = 2**32


@struct
class GemmParams:
    """Of a product [m, n] that sums k numbers."""

    m: uint
    n: uint
    k: uint


@struct
class MatmulParams:
    """The same for many; strides are elements from one matrix to the next, 0 for one for all."""

    m: uint
    n: uint
    k: uint
    a_stride: ulong
    b_stride: ulong


@struct
class StripedParams:
    """Of a product of which `groups` threadgroups take tiles of `slices` slices of k in turn."""

    m: uint
    n: uint
    k: uint
    slices: uint
    groups: uint


def gemm(
    weights: Format,
    rows: int,
    element: Any = float,
    *,
    epilogue: Sequence[Epilogue] = (),
    pipeline: Pipeline | None = None,
    output: Any = None,
    name: str = "gemm",
) -> Ready:
    """`y = epilogue(x W^T)` for a matrix of `rows` rows, and `x` [..., columns].

    Sums are as the pipeline says; `output` is the type of y, that of x when not given. The
    function's name begins with `name`.
    """
    scalar = scalar_of(element)
    pipeline = pipeline or _usual(scalar)

    def shape(given: Mapping[str, Any]) -> tuple[int, ...]:
        return _checked((*given["x"].shape[:-1], rows))

    def params(given: Mapping[str, Any]) -> GemmParams:
        return GemmParams(m=prod(given["x"].shape[:-1]), n=rows, k=columns_of(given, weights))

    stage = ProductStage(
        pipeline=pipeline,
        operands=_weighted(scalar, weights, pipeline),
        output=Output(scalar_of(output or element), shape),
        params=derived(GemmParams, params),
        is_plain=not epilogue,
    )
    whole = "_".join([name, weights.name, *(each.name for each in epilogue)])
    fused = Compound(whole, prologue=[PolicyStage(weights)], main=stage, epilogue=epilogue)

    def grid(given: Mapping[str, Any]) -> Grid:
        return _grid(pipeline, prod(given["x"].shape[:-1]), rows, 1)

    return fused, grid


def marlin(
    weights: Format,
    rows: int,
    element: Any = HALF,
    *,
    form: str = "two_stages",
    epilogue: Sequence[Epilogue] = (),
) -> Ready:
    """`y = epilogue(x W^T)` by a pipeline of `MARLIN`: the same to the bit, whatever its form."""
    if form not in MARLIN:
        raise FoundryError("pipeline-form", f"there is no {form}; there are {', '.join(MARLIN)}")
    pipeline, name = MARLIN[form], f"marlin_{form}"
    return gemm(weights, rows, element, epilogue=epilogue, pipeline=pipeline, name=name)


def striped(
    weights: Format,
    rows: int,
    element: Any = float,
    *,
    slices: int,
    groups: int,
    epilogue: Sequence[Epilogue] = (),
    pipeline: Pipeline | None = None,
) -> tuple[Ready, Ready]:
    """The same in two kernels: products of `slices` slices of k, and their sum.

    The first makes `partials` [slices, ..., rows] in float, by `groups` threadgroups; a slice
    without any tile of k is zeros.
    """
    scalar = scalar_of(element)
    pipeline = pipeline or _usual(scalar)
    if slices < 1 or groups < 1:
        raise FoundryError(
            "pipeline-form", f"{slices} slices by {groups} threadgroups: there is one of each"
        )

    def shape(given: Mapping[str, Any]) -> tuple[int, ...]:
        return _checked((slices, *given["x"].shape[:-1], rows))

    def params(given: Mapping[str, Any]) -> StripedParams:
        *batch, _ = given["x"].shape
        k = columns_of(given, weights)
        return StripedParams(m=prod(batch), n=rows, k=k, slices=slices, groups=groups)

    stage = ProductStage(
        pipeline=pipeline,
        operands=_weighted(scalar, weights, pipeline),
        output=Output(FLOAT, shape),
        params=derived(StripedParams, params),
        is_plain=True,
        is_striped=True,
    )
    first = Compound(f"gemm_striped_{weights.name}", prologue=[PolicyStage(weights)], main=stage)
    last = Compound(
        "_".join(["sum_slices", scalar.name, *(each.name for each in epilogue)]),
        main=SumStage(scalar),
        epilogue=epilogue,
    )
    return (
        (first, lambda given: Grid((groups, 1, 1), (pipeline.threads, 1, 1))),
        (last, per_element("y")),
    )


def matmul(
    element: Any = float,
    *,
    turned: tuple[bool, bool] = (False, False),
    epilogue: Sequence[Epilogue] = (),
    pipeline: Pipeline | None = None,
    output: Any = None,
) -> Ready:
    """`y = epilogue(a b)` for `a` [..., m, k] and `b` [..., k, n], or transposes of them.

    A factor that is `turned` is given transposed: [..., k, m], [..., n, k]. A single matrix on one
    side is multiplied with all of the other.
    """
    scalar = scalar_of(element)
    pipeline = pipeline or _usual(scalar)

    def shape(given: Mapping[str, Any]) -> tuple[int, ...]:
        m, n, _ = _sizes(given, turned)
        return _checked((*_batch(given), m, n))

    def params(given: Mapping[str, Any]) -> MatmulParams:
        m, n, k = _sizes(given, turned)
        a, b = given["a"], given["b"]
        return MatmulParams(m=m, n=n, k=k, a_stride=_stride(a, m * k), b_stride=_stride(b, k * n))

    if pipeline.weights != "tile":
        raise FoundryError(
            "pipeline-form", f"{pipeline.weights} weights are those of a format, read by a policy"
        )
    stage = ProductStage(
        pipeline=pipeline,
        operands=Dense(scalar, turned),
        output=Output(scalar_of(output or element), shape),
        params=derived(MatmulParams, params),
        is_plain=not epilogue,
    )
    name = "_".join(["matmul", scalar.name, *(each.name for each in epilogue)])

    def grid(given: Mapping[str, Any]) -> Grid:
        m, n, _ = _sizes(given, turned)
        return _grid(pipeline, m, n, prod(_batch(given)))

    return Compound(name, main=stage, epilogue=epilogue), grid


def _weighted(element: Scalar, weights: Format, pipeline: Pipeline) -> Weighted:
    is_fused = pipeline.weights == "fused"
    return Weighted(element, weights, is_fused=is_fused, packed_buffers=pipeline.packed_buffers)


def _usual(element: Scalar) -> Pipeline:
    return _FLOATS if element.size > HALF.size else PLAIN


def _grid(pipeline: Pipeline, m: int, n: int, batch: int) -> Grid:
    tile = pipeline.tile
    return Grid((-(-n // tile.n), -(-m // tile.m), batch), (pipeline.threads, 1, 1))


def _sizes(given: Mapping[str, Any], turned: tuple[bool, bool]) -> tuple[int, int, int]:
    """m, n, k. Raises FoundryError for matrices that do not fit."""
    a, b = given["a"].shape, given["b"].shape
    if len(a) < 2 or len(b) < 2:
        raise FoundryError("kernel-call", f"matmul: a {a} and b {b} are to be matrices")
    m, k = a[-2:][::-1] if turned[0] else a[-2:]
    k_of_b, n = b[-2:][::-1] if turned[1] else b[-2:]
    if k != k_of_b:
        raise FoundryError(
            "kernel-call", f"matmul: a {a} has {k} numbers to sum, and b {b} has {k_of_b}"
        )
    return m, n, k


def _batch(given: Mapping[str, Any]) -> tuple[int, ...]:
    """Dimensions in front of both; one of the two may have none. Raises FoundryError."""
    a, b = given["a"].shape[:-2], given["b"].shape[:-2]
    if a and b and a != b:
        raise FoundryError("kernel-call", f"matmul: a has {a} matrices, and b has {b}")
    return tuple(a or b)


def _stride(array: Any, matrix: int) -> int:
    return matrix if array.ndim > 2 else 0


def _checked(shape: tuple[int, ...]) -> tuple[int, ...]:
    if prod(shape) >= _MOST:
        raise FoundryError("kernel-call", f"a product of shape {shape} has over 4 G elements")
    return shape


LISTED: Final = {
    "gemm": Listed(gemm, reads_weights=True, sizes={"rows": 1}),
    "matmul": Listed(matmul),
    **{
        f"marlin_{form}": Listed(
            marlin, reads_weights=True, sizes={"rows": 1, "form": form}, usual="fp4_128"
        )
        for form in MARLIN
    },
}
