"""What a group's kernel is before it is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.symbolic.dims import Dim


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """A group's kernel: `arguments` are the tensors and weights it reads, as the graph has them."""

    entry: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: tuple[Dim, ...] = ()
    """Integers that it takes behind the arguments."""
    model: bytes = b""
    """ONNX: the graph's inputs are the arguments, in their order."""
    mlir: str = ""
    """A function of MLIR instead."""
