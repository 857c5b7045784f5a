"""The library's kernels: what each takes, and over which grid it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from ..errors import FoundryError
from ..formats import Format, check_columns
from ..kernels import (
    Compound,
    Epilogue,
    PolicyStage,
    TemplateStage,
    custom,
    derived,
    output,
    per_element,
    per_row,
    tensor,
)
from ..structs import struct
from ..structs.names import uint
from ..structs.types import Scalar
from .base import Listed, Ready, columns_of, last_of, scalar_of, standalone, text_of

_SIMDGROUPS: Final = 8


@struct
class NormParams:
    """Of `rms_norm` and `layer_norm`."""

    columns: uint
    epsilon: float


@struct
class RopeParams:
    """Of `rope`; `x` is [tokens, heads, head_size]."""

    tokens: uint
    heads: uint
    head_size: uint
    base: float
    is_neox: bool


@struct
class GemvParams:
    """A matrix [rows, columns]."""

    rows: uint
    columns: uint


def softmax(element: Any = float) -> Ready:
    """`y = softmax(x)` along the last dimension; sums in float."""
    scalar = scalar_of(element)
    arguments = {
        "x": tensor(scalar),
        "y": output(scalar, "x"),
        "columns": derived(uint, last_of),
    }
    return standalone("softmax", "softmax", scalar, arguments), per_row("x")


def rms_norm(element: Any = float, *, epsilon: float = 1e-5) -> Ready:
    """`y = x / sqrt(mean(x * x) + epsilon) * weight` along the last dimension."""
    scalar = scalar_of(element)
    arguments = {
        "x": tensor(scalar),
        "weight": tensor(scalar),
        "y": output(scalar, "x"),
        "params": _norm_params(epsilon),
    }
    return standalone("norms", "rms_norm", scalar, arguments), per_row("x")


def layer_norm(element: Any = float, *, epsilon: float = 1e-5) -> Ready:
    """`y = (x - mean) / sqrt(variance + epsilon) * weight + bias` along the last dimension."""
    scalar = scalar_of(element)
    arguments = {
        "x": tensor(scalar),
        "weight": tensor(scalar),
        "bias": tensor(scalar),
        "y": output(scalar, "x"),
        "params": _norm_params(epsilon),
    }
    return standalone("norms", "layer_norm", scalar, arguments), per_row("x")


def rope(element: Any = float, *, base: float = 10000.0, is_neox: bool = True) -> Ready:
    """Rotates pairs of `x` [tokens, heads, head_size] by `positions` [tokens]."""
    scalar = scalar_of(element)

    def params(given: Mapping[str, Any]) -> RopeParams:
        tokens, heads, size = given["x"].shape
        if size % 2:
            raise FoundryError("kernel-call", f"rope: heads of {size} numbers; they turn in pairs")
        return RopeParams(tokens=tokens, heads=heads, head_size=size, base=base, is_neox=is_neox)

    arguments = {
        "x": tensor(scalar),
        "positions": tensor(int),
        "y": output(scalar, "x"),
        "params": derived(RopeParams, params),
    }
    pairs = custom(lambda given: (-(-given["x"].size // 512),), (256,))
    return standalone("rope", "rope", scalar, arguments), pairs


def swiglu(element: Any = float) -> Ready:
    """`y = silu(gate) * up`."""
    scalar = scalar_of(element)
    arguments = {
        "gate": tensor(scalar),
        "up": tensor(scalar),
        "y": output(scalar, "gate"),
        "count": derived(uint, lambda given: given["gate"].size),
    }
    return standalone("elementwise", "swiglu", scalar, arguments), per_element("gate")


def argmax(element: Any = float) -> Ready:
    """The place of the largest along the last dimension; the first of equal ones."""
    scalar = scalar_of(element)
    arguments = {
        "x": tensor(scalar),
        "y": output(uint, lambda given: given["x"].shape[:-1]),
        "columns": derived(uint, last_of),
    }
    return standalone("selection", "argmax", scalar, arguments), per_row("x")


def gemv_arguments(scalar: Scalar, weights: Format, rows: int) -> dict[str, Any]:
    """What a product of a matrix of `rows` rows with vectors takes."""

    def params(given: Mapping[str, Any]) -> GemvParams:
        return GemvParams(rows=rows, columns=columns_of(given, weights))

    return {
        "x": tensor(scalar),
        "y": output(scalar, lambda given: (*given["x"].shape[:-1], rows)),
        "params": derived(GemvParams, params),
    }


def gemv(
    weights: Format, rows: int, element: Any = float, *, epilogue: Sequence[Epilogue] = ()
) -> Ready:
    """`y = epilogue(W x)` for a matrix of `rows` rows, and `x` [..., columns]."""
    scalar = scalar_of(element)
    arguments = gemv_arguments(scalar, weights, rows)
    main = TemplateStage(text_of("gemv", scalar), "gemv", arguments, with_epilogue=True)
    name = "_".join(["gemv", weights.name, *(each.name for each in epilogue)])
    fused = Compound(name, prologue=[PolicyStage(weights)], main=main, epilogue=epilogue)
    groups = -(-rows // _SIMDGROUPS)
    vectors = custom(lambda given: (groups, prod(given["x"].shape[:-1])), (32 * _SIMDGROUPS,))
    return fused, vectors


def embedding(weights: Format, rows: int, columns: int, element: Any = float) -> Ready:
    """The rows of a table [rows, columns] that `tokens` names; zeros for numbers beyond it."""
    scalar = scalar_of(element)
    check_columns(weights, columns)
    arguments = {
        "tokens": tensor(uint),
        "y": output(scalar, lambda given: (*given["tokens"].shape, columns)),
        "params": derived(GemvParams, lambda given: GemvParams(rows=rows, columns=columns)),
    }
    main = TemplateStage(text_of("embedding", scalar), "embedding", arguments)
    fused = Compound(f"embedding_{weights.name}", prologue=[PolicyStage(weights)], main=main)
    groups = -(-columns // 256)
    return fused, custom(lambda given: (groups, given["tokens"].size), (32,))


LISTED: Final = {
    **{
        each.__name__: Listed(each)
        for each in (softmax, rms_norm, layer_norm, rope, swiglu, argmax)
    },
    "gemv": Listed(gemv, reads_weights=True, sizes={"rows": 1}),
    "embedding": Listed(embedding, reads_weights=True, sizes={"rows": 1, "columns": 256}),
}


def _norm_params(epsilon: float) -> Any:
    return derived(NormParams, lambda given: NormParams(columns=last_of(given), epsilon=epsilon))
