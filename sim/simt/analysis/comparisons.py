"""Comparisons that come out the same in all lanes, though what they compare differs.

A loop that strides over an array, `for (i = thread; i < 2048; i += 128)`, is left by all lanes of a
simdgroup at once: they hold 32 numbers from a multiple of 32 on, and no multiple of 32 parts these.
"""

from __future__ import annotations

from ..ir.cfg import Cfg
from ..ir.llvm_types import bits
from ..ir.nodes import Block, Function, Instruction, Value, integer
from ..ir.operations.integers import ICMP
from ..ir.passes import rewrites
from .divergence import Divergence
from .linear import LinearForms
from .linear_form import Form, number_of
from .uniform_facts import power_of_two_part

_MIRRORED = {"ult": "ugt", "ule": "uge", "ugt": "ult", "uge": "ule"}
_MIRRORED |= {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"}
# Those that a number and all others up to the next multiple answer alike if a multiple is compared.
_BELOW = frozenset({"ult", "uge", "slt", "sge"})
_STRICT = {"ule": "ult", "ugt": "uge", "sle": "slt", "sgt": "sge"}


@rewrites
def compare_bases(
    function: Function, cfg: Cfg, divergence: Divergence, linear: LinearForms
) -> bool:
    """Let such comparisons compare what lanes have in common; returns whether there are any."""
    found = False
    for block in cfg.order:
        for instruction in block.body:
            if instruction.operation is ICMP and divergence.is_varying(instruction):
                operands = _common(instruction, block, linear)
                if operands is not None:
                    instruction.predicate, *instruction.operands = operands
                    found = True
    return found


def _common(
    comparison: Instruction, block: Block, linear: LinearForms
) -> tuple[str, Value, Value] | None:
    """The predicate and operands that stand for a comparison in all lanes, if there are any."""
    predicate = comparison.predicate
    left, right = (linear.of(each, block) for each in comparison.operands)
    if left is None or right is None or predicate not in _MIRRORED:
        return None
    if left.is_uniform:
        left, right, predicate = right, left, _MIRRORED[predicate]
    if left.terms or left.guards or right.guards or not right.is_uniform:
        return None
    bound: Value | None = right.base
    if predicate not in _BELOW:
        predicate, bound = _STRICT[predicate], _next(right.base, predicate)
    if bound is None or not _is_apart(left, bound, linear):
        return None
    return predicate, left.base, bound


def _next(bound: Value, predicate: str) -> Value | None:
    """One more than a constant, if that is in the predicate's range."""
    number = number_of(bound)
    if number is None:
        return None
    width = bits(bound.type)
    last = -1 if predicate.startswith("u") else (1 << (width - 1)) - 1
    return None if number == last else integer(bound.type, number + 1)


def _is_apart(form: Form, bound: Value, linear: LinearForms) -> bool:
    """Whether the bound lies between no two lanes' numbers, nor do these wrap."""
    step = power_of_two_part(linear.facts.multiple(form.base))
    room = min(step, 1 << (bits(form.base.type) - 1))
    high = max(form.lanes)
    if min(form.lanes) < 0 or high >= room:
        return False
    return linear.facts.multiple(bound) % (1 << high.bit_length()) == 0
