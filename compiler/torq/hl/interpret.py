"""Runs a function in NumPy: of a model's operators, of TorqHL, or of both while it is lowered."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...graph.elements import NUMPY, Array
from ...graph.reference import result_of
from ...graph.tosa import evaluate
from . import meaning_elements, meaning_sums
from .operation import HlOp

MEANINGS = {**meaning_sums.MEANINGS, **meaning_elements.MEANINGS}


def interpreted(
    function: FuncOp, inputs: Sequence[Array], seen: evaluate.Seen | None = None
) -> list[Array]:
    """The results for these inputs. Raises ModelError for what has no meaning."""
    return evaluate.run(function, inputs, meaning_of, seen)


def meaning_of(op: Operation, inputs: Sequence[Array]) -> Array:
    """The result of one operation. Raises ValueError if it is not what its type says."""
    if not isinstance(op, HlOp):
        return result_of(op, inputs)
    result = MEANINGS[type(op)](op, inputs)
    kind = op.type
    if result.shape != kind.shape or result.dtype != NUMPY[kind.dtype]:
        raise ValueError(f"{op.name}: {result.shape} of {result.dtype} is not {kind}")
    return result
