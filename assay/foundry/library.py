"""The library's kernels, ready to be called: `softmax(half)(x=scores)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.compiler.foundry import library as declared
from assay.compiler.foundry.formats import Format
from assay.compiler.foundry.kernels import Epilogue, tensor
from assay.compiler.foundry.structs.types import Scalar

from .kernel import Kernel


def softmax(element: Any = float, *, device: str = "emulated") -> Kernel:
    """`kernel(x=...)`: softmax along the last dimension; sums in float."""
    return _kernel(declared.softmax(_scalar(element)), device)


def rms_norm(element: Any = float, *, epsilon: float = 1e-5, device: str = "emulated") -> Kernel:
    """`kernel(x=..., weight=...)`: x / sqrt(mean(x * x) + epsilon) * weight."""
    return _kernel(declared.rms_norm(_scalar(element), epsilon=epsilon), device)


def layer_norm(element: Any = float, *, epsilon: float = 1e-5, device: str = "emulated") -> Kernel:
    """`kernel(x=..., weight=..., bias=...)`: the normal form of each row, scaled and shifted."""
    return _kernel(declared.layer_norm(_scalar(element), epsilon=epsilon), device)


def rope(
    element: Any = float,
    *,
    base: float = 10000.0,
    is_neox: bool = True,
    device: str = "emulated",
) -> Kernel:
    """`kernel(x=[tokens, heads, head_size], positions=[tokens])`: rotary positions."""
    return _kernel(declared.rope(_scalar(element), base=base, is_neox=is_neox), device)


def swiglu(element: Any = float, *, device: str = "emulated") -> Kernel:
    """`kernel(gate=..., up=...)`: silu(gate) * up."""
    return _kernel(declared.swiglu(_scalar(element)), device)


def argmax(element: Any = float, *, device: str = "emulated") -> Kernel:
    """`kernel(x=...)`: uint32, the place of the largest along the last dimension."""
    return _kernel(declared.argmax(_scalar(element)), device)


def gemv(
    weights: Format,
    rows: int,
    element: Any = float,
    *,
    epilogue: Sequence[Epilogue] = (),
    device: str = "emulated",
) -> Kernel:
    """`kernel(matrix=..., scales=..., x=[..., columns])`: epilogue(W x), [..., rows]."""
    made = declared.gemv(_scalar(element), weights, rows=rows, epilogue=epilogue)
    return _kernel(made, device)


def embedding(
    weights: Format, rows: int, columns: int, element: Any = float, *, device: str = "emulated"
) -> Kernel:
    """`kernel(matrix=..., scales=..., tokens=...)`: rows of the table; zeros beyond it."""
    made = declared.embedding(_scalar(element), weights, rows=rows, columns=columns)
    return _kernel(made, device)


def _kernel(ready: declared.Ready, device: str) -> Kernel:
    kernel, grid = ready
    return Kernel(kernel, grid=grid, device=device)


def _scalar(element: Any) -> Scalar:
    found = tensor(element).element
    if not isinstance(found, Scalar):
        raise TypeError(f"{found.name} is a vector; the library's kernels take numbers")
    return found
