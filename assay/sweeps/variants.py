"""The kernels that a sweep tries: products y = x W^T with weights in a format, and their knobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from assay.compiler.foundry import library
from assay.compiler.foundry.formats import Format
from assay.compiler.foundry.library import Ready
from assay.compiler.foundry.library.gemm import PLAIN
from assay.compiler.foundry.pipelines import MARLIN, Pipeline, Simdgroups, Tile
from assay.compiler.foundry.structs.names import FLOAT, HALF

from .knobs import COLUMNS, FUSED, PRODUCT, Kinds, Value

Make = Callable[..., Ready]
"""`make(weights, rows, element, **knobs)`: the kernel for a matrix of `rows` rows, and its grid."""

SCALARS: Final = {"float": FLOAT, "half": HALF}
"""Numbers of x and y, by name."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to make the kernel, and what can be chosen about it."""

    make: Make
    knobs: Kinds


def _product(base: Pipeline, weights: Format, rows: int, element: Any, **knobs: Value) -> Ready:
    """`gemm` by a pipeline that differs from `base` in what is given."""
    changes: dict[str, Any] = {}
    for name, value in knobs.items():
        match name:
            case "tile":
                changes[name] = Tile(*_sides(value))
            case "simdgroups":
                rows_of, columns = _sides(value)
                changes["by"] = Simdgroups(rows_of, columns)
            case "stages":
                changes["buffers"] = value
            case "accumulator":
                changes[name] = SCALARS[str(value)]
            case _:
                changes[name] = value
    return library.gemm(weights, rows, element, pipeline=replace(base, **changes))


def _fused(weights: Format, rows: int, element: Any, **knobs: Any) -> Ready:
    return library.fused_gemv([weights], [rows], element, **knobs)


def _sides(value: Value) -> list[int]:
    return [int(side) for side in str(value).split("x")]


VARIANTS: Final[Mapping[str, Variant]] = {
    "gemm": Variant(partial(_product, PLAIN), PRODUCT),
    **{form: Variant(partial(_product, pipeline), PRODUCT) for form, pipeline in MARLIN.items()},
    "gemv": Variant(library.gemv, {}),
    "gemv_columns": Variant(library.gemv_columns, COLUMNS),
    "fused_gemv": Variant(_fused, FUSED),
}
"""By name: products by a pipeline (`gemm`, and Marlin's forms), and products with few vectors."""
