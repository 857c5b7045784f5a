"""Reductions that start from elements nobody has set."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ..errors import Problem
from ..tosa import ops
from .generic import NAME

_UNSET = "tensor.empty"
_REASON = (
    f"starts from the elements of {_UNSET}, which are not defined: other machines give other "
    "results; put what linalg.fill gives into outs"
)


def undefined_starts(function: Operation) -> list[Problem]:
    """The operations of a function that read elements of `tensor.empty`.

    What they give is not defined (MLIR: the contents of tensor.empty are unspecified); here the
    elements are zeros.
    """
    return [
        Problem(where=ops.location(op), operator=ops.name_of(op), reason=_REASON)
        for op in _generics(function)
        if _reads_unset(op)
    ]


def _generics(function: Operation) -> Iterator[Operation]:
    return (op for op in function.walk() if ops.name_of(op) == NAME)


def _reads_unset(op: Operation) -> bool:
    arguments = op.regions[0].blocks[0].args
    return any(
        isinstance(value.owner, Operation)
        and ops.name_of(value.owner) == _UNSET
        and argument.first_use is not None
        for value, argument in zip(op.operands, arguments, strict=True)
    )
