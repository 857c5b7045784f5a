"""What any operation of a model computes, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ..models.errors import ModelError
from .elements import Array
from .linalg import tensors
from .linalg.generic import NotUnderstood
from .tosa import evaluate, ops

MEANINGS = {**tensors.MEANINGS, **evaluate.MEANINGS}
"""By the operation's name."""


def result_of(op: Operation, inputs: Sequence[Array]) -> Array:
    """The one result of an operation. Raises ModelError for one that has no meaning here."""
    name = ops.name_of(op)
    if name in tensors.MEANINGS:
        try:
            return tensors.MEANINGS[name](op, inputs)
        except NotUnderstood as error:
            raise ModelError(f"{name}: {error}") from None
    return evaluate.result_of(op, inputs)
