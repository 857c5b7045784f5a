"""Fuses multiplications into additions where the source's floating-point mode licenses it.

Done once on the engines' IR, so that every engine, on every host, rounds the same.
"""

from __future__ import annotations

from collections import Counter

from ..ir.nodes import Block, Function, Instruction, Value
from ..ir.operations.floats import FADD, FMA, FMUL, FNEG, FSUB
from ..ir.passes import rewrites

_SUMS = frozenset({FADD, FSUB})


@rewrites
def contract(function: Function) -> None:
    """Replace `a * b + c`, `a * b - c` and `c - a * b` by `llvm.fma`, in place.

    Only where the product has no other use, so that no work is done twice.
    """
    uses: Counter[Value] = Counter()
    for instruction in function.instructions():
        uses.update(instruction.operands)
    uses.update(b.condition for b in function.blocks if b.condition is not None)
    for block in function.blocks:
        _contract_block(block, uses)


def _contract_block(block: Block, uses: Counter[Value]) -> None:
    body: list[Instruction] = []
    for instruction in block.body:
        if instruction.contract and instruction.operation in _SUMS:
            _fuse(instruction, uses, body)
        body.append(instruction)
    block.body = [i for i in body if not (i.operation is FMUL and i.contract and uses[i] == 0)]


def _fuse(sum_: Instruction, uses: Counter[Value], body: list[Instruction]) -> None:
    for position in (1, 0):
        product = sum_.operands[position]
        if not (
            isinstance(product, Instruction)
            and product.operation is FMUL
            and product.contract
            and uses[product] == 1
        ):
            continue
        other = sum_.operands[1 - position]
        left, right = product.operands
        if sum_.operation is FSUB:
            if position == 1:
                left = _negated(left, sum_, body)
            else:
                other = _negated(other, sum_, body)
        uses[product] = 0
        sum_.operation, sum_.operands = FMA, [left, right, other]
        return


def _negated(value: Value, at: Instruction, body: list[Instruction]) -> Instruction:
    negation = Instruction(FNEG, value.type, [value], at.site)
    negation.block = at.block
    body.append(negation)
    return negation
