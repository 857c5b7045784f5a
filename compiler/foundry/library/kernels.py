"""The library's kernels: what each takes, and over which grid it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

from ..formats import Format
from ..kernels import (
    Compound,
    Declared,
    Epilogue,
    GridOf,
    PolicyStage,
    Standalone,
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

_FOLDER: Final = Path(__file__).parent
_SIMDGROUPS: Final = 8
Ready = tuple[Declared, GridOf]
"""A kernel, and the grid that belongs to it."""


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


def softmax(element: Scalar) -> Ready:
    """`y = softmax(x)` along the last dimension; sums in float."""
    arguments = {
        "x": tensor(element),
        "y": output(element, "x"),
        "columns": derived(uint, _columns),
    }
    return _file("softmax", "softmax", element, arguments), per_row("x")


def rms_norm(element: Scalar, *, epsilon: float = 1e-5) -> Ready:
    """`y = x / sqrt(mean(x * x) + epsilon) * weight` along the last dimension."""
    arguments = {
        "x": tensor(element),
        "weight": tensor(element),
        "y": output(element, "x"),
        "params": _norm_params(epsilon),
    }
    return _file("norms", "rms_norm", element, arguments), per_row("x")


def layer_norm(element: Scalar, *, epsilon: float = 1e-5) -> Ready:
    """`y = (x - mean) / sqrt(variance + epsilon) * weight + bias` along the last dimension."""
    arguments = {
        "x": tensor(element),
        "weight": tensor(element),
        "bias": tensor(element),
        "y": output(element, "x"),
        "params": _norm_params(epsilon),
    }
    return _file("norms", "layer_norm", element, arguments), per_row("x")


def rope(element: Scalar, *, base: float = 10000.0, is_neox: bool = True) -> Ready:
    """Rotates pairs of `x` [tokens, heads, head_size] by `positions` [tokens]."""

    def params(given: Mapping[str, Any]) -> RopeParams:
        tokens, heads, size = given["x"].shape
        return RopeParams(tokens=tokens, heads=heads, head_size=size, base=base, is_neox=is_neox)

    arguments = {
        "x": tensor(element),
        "positions": tensor(int),
        "y": output(element, "x"),
        "params": derived(RopeParams, params),
    }
    pairs = custom(lambda given: (-(-given["x"].size // 512),), (256,))
    return _file("rope", "rope", element, arguments), pairs


def swiglu(element: Scalar) -> Ready:
    """`y = silu(gate) * up`."""
    arguments = {
        "gate": tensor(element),
        "up": tensor(element),
        "y": output(element, "gate"),
        "count": derived(uint, lambda given: given["gate"].size),
    }
    return _file("elementwise", "swiglu", element, arguments), per_element("gate")


def argmax(element: Scalar) -> Ready:
    """The place of the largest along the last dimension; the first of equal ones."""
    arguments = {
        "x": tensor(element),
        "y": output(uint, lambda given: given["x"].shape[:-1]),
        "columns": derived(uint, _columns),
    }
    return _file("selection", "argmax", element, arguments), per_row("x")


def gemv(
    element: Scalar, weights: Format, *, rows: int, epilogue: Sequence[Epilogue] = ()
) -> Ready:
    """`y = epilogue(W x)` for a matrix of `rows` rows, and `x` [..., columns]."""

    def params(given: Mapping[str, Any]) -> GemvParams:
        return GemvParams(rows=rows, columns=_columns(given))

    arguments = {
        "x": tensor(element),
        "y": output(element, lambda given: (*given["x"].shape[:-1], rows)),
        "params": derived(GemvParams, params),
    }
    main = TemplateStage(_text("gemv", element), "gemv", arguments, with_epilogue=True)
    name = "_".join(["gemv", weights.name, *(each.name for each in epilogue)])
    fused = Compound(name, prologue=[PolicyStage(weights)], main=main, epilogue=epilogue)
    groups = -(-rows // _SIMDGROUPS)
    vectors = custom(lambda given: (groups, prod(given["x"].shape[:-1])), (32 * _SIMDGROUPS,))
    return fused, vectors


def embedding(element: Scalar, weights: Format, *, rows: int, columns: int) -> Ready:
    """The rows of a table [rows, columns] that `tokens` names; zeros for numbers beyond it."""
    arguments = {
        "tokens": tensor(uint),
        "y": output(element, lambda given: (*given["tokens"].shape, columns)),
        "params": derived(GemvParams, lambda given: GemvParams(rows=rows, columns=columns)),
    }
    main = TemplateStage(_text("embedding", element), "embedding", arguments)
    fused = Compound(f"embedding_{weights.name}", prologue=[PolicyStage(weights)], main=main)
    groups = -(-columns // 256)
    return fused, custom(lambda given: (groups, given["tokens"].size), (32,))


KERNELS: Final[dict[str, Callable[..., Ready]]] = {
    each.__name__: each
    for each in (softmax, rms_norm, layer_norm, rope, swiglu, argmax, gemv, embedding)
}


def _norm_params(epsilon: float) -> Any:
    return derived(NormParams, lambda given: NormParams(columns=_columns(given), epsilon=epsilon))


def _columns(given: Mapping[str, Any]) -> int:
    return int(given["x"].shape[-1])


def _file(file: str, function: str, element: Scalar, arguments: Mapping[str, Any]) -> Standalone:
    return Standalone(_text(file, element), function, arguments, include=[_FOLDER])


def _text(file: str, element: Scalar) -> str:
    own = (_FOLDER / f"{file}.metal").read_text(encoding="utf-8")
    return f'using T = {element.name};\n#line 1 "{file}.metal"\n{own}'
