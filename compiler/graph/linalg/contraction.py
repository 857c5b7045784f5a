"""Which reductions linalg.generic makes: sums, extremes, logic, and sums of products."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ..tosa import ops
from .generic import Generic

COMBINERS = {
    "arith.addi": "sum",
    "arith.addf": "sum",
    "arith.muli": "product",
    "arith.mulf": "product",
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.maxui": "umax",
    "arith.minui": "umin",
    "arith.maximumf": "max",
    "arith.minimumf": "min",
    "arith.maxnumf": "max",
    "arith.minnumf": "min",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}
"""What an operation of an element and what there is so far makes of all elements."""
_EXTENSIONS = ("arith.extsi", "arith.extf")


@dataclass(frozen=True, slots=True)
class Reduction:
    """What is so far, combined with a value that does not depend on it."""

    kind: str
    value: SSAValue


@dataclass(frozen=True, slots=True)
class Contraction:
    """A sum of products of two inputs, by their numbers."""

    a: int
    b: int


def reduction_of(generic: Generic) -> Reduction | None:
    """The reduction that a body makes, None if it is not one of COMBINERS."""
    last = generic.result.owner
    if not isinstance(last, Operation) or not generic.reduced:
        return None
    kind = COMBINERS.get(ops.name_of(last))
    so_far = generic.init.argument
    if kind is None or so_far not in last.operands or so_far.uses.get_length() != 1:
        return None
    value = last.operands[1 if last.operands[0] is so_far else 0]
    return None if value is so_far else Reduction(kind, value)


def contraction_of(generic: Generic) -> Contraction | None:
    """The sum of products that a body makes, None if it is anything else."""
    found = reduction_of(generic)
    if found is None or found.kind != "sum":
        return None
    product = found.value.owner
    if not isinstance(product, Operation):
        return None
    if ops.name_of(product) not in ("arith.muli", "arith.mulf"):
        return None
    numbers = [_input(generic, value) for value in product.operands]
    if None in numbers or numbers[0] == numbers[1]:
        return None
    assert numbers[0] is not None and numbers[1] is not None
    return Contraction(numbers[0], numbers[1])


def _input(generic: Generic, value: SSAValue) -> int | None:
    """The input that a value is, perhaps made wider."""
    owner = value.owner
    if isinstance(owner, Operation) and ops.name_of(owner) in _EXTENSIONS:
        value = owner.operands[0]
    arguments = [each.argument for each in generic.inputs]
    return arguments.index(value) if value in arguments else None
