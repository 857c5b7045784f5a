"""Integers that are a uniform value plus a pattern over the lanes.

Most index arithmetic is of this kind: the thread's position times a stride plus a loop counter.
Such a value needs no vector: one scalar and a pattern known at compile time stand for it, and a
memory access at such an offset becomes plain vector loads instead of a gather.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from ..ir.cfg import Cfg
from ..ir.llvm_types import bits, is_float
from ..ir.nodes import Block, Function, Instruction, Value, integer
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.conversions import SEXT, TRUNC, ZEXT
from ..ir.operations.integers import ADD, AND, ASHR, LSHR, MUL, OR, SHL, SUB, UDIV, UREM, XOR
from ..ir.operations.operation import Operation
from ..ir.passes import rewrites
from ..ir.shape import Shape
from .divergence import Divergence, escapes
from .known_positions import KnownPositions
from .linear_form import IOTA, ZEROS, Form, Guard, Pattern, number_of
from .linear_positions import POSITIONS, Positions
from .uniform_facts import power_of_two_part

_MAX_TERMS = 2
_SHIFTS = frozenset({LSHR, ASHR})


class LinearForms(Positions):
    """Finds the forms of a function's varying integers and adds the scalars they need."""

    def __init__(
        self,
        function: Function,
        cfg: Cfg,
        divergence: Divergence,
        shape: Shape,
        lanes: Pattern = IOTA,
        groups: Pattern = ZEROS,
    ) -> None:
        super().__init__(shape, lanes, groups)
        self.known = KnownPositions(shape)
        self.cfg = cfg
        self.divergence = divergence
        self.forms: dict[Value, Form] = {}
        self.refused: set[Instruction] = set()  # phis whose pattern changes around the loop
        self.multiples: dict[Instruction, int] = {}  # what a phi's base is a multiple of, so far
        if cfg.reducible:
            while not self._attempt():
                pass
            self._apply()

    def of(self, value: Value, user: Block) -> Form | None:
        """The form that a value has where `user` uses it."""
        if is_float(value.type) or escapes(value, user, self.cfg):
            return None
        if not self.divergence.is_varying(value):
            return self.uniform(value)
        return self.forms.get(value)

    # -- one attempt over all blocks --------------------------------------------------------------

    def _attempt(self) -> bool:
        self.forms = {}
        self.added = {}
        self.phi_bases: list[tuple[Instruction, Instruction]] = []
        for block in self.cfg.order:
            for phi in block.phis:
                self._start_phi(phi, block)
            for instruction in block.body:
                self.anchor = instruction
                if instruction in self.divergence.varying and not is_float(instruction.type):
                    form = self._form(instruction, block) or self._of_positions(instruction)
                    if form is not None and len(form.terms) <= _MAX_TERMS:
                        self.forms[instruction] = form
        return self._finish_phis()

    def _start_phi(self, phi: Instruction, block: Block) -> None:
        if (
            phi not in self.divergence.varying
            or is_float(phi.type)
            or block in self.divergence.joins
            or phi in self.refused
        ):
            return
        for value, source in zip(phi.operands, block.predecessors, strict=True):
            if self.cfg.index[source] < self.cfg.index[block]:
                form = self.of(value, source)
                if form is None or form.guards:
                    return
                base = Instruction(PHI, phi.type, [], phi.site)
                base.block = block
                entry = power_of_two_part(self.facts.multiple(form.base))
                self.facts.assumed[base] = self.multiples.setdefault(phi, entry)
                self.forms[phi] = Form(base, form.lanes, form.terms, (), False, False)
                self.phi_bases.append((phi, base))
                return

    def _finish_phis(self) -> bool:
        good = True
        for phi, base in self.phi_bases:
            assert phi.block is not None
            mine = self.forms[phi]
            for value, source in zip(phi.operands, phi.block.predecessors, strict=True):
                form = self.of(value, source)
                if (
                    form is None
                    or form.guards
                    or form.lanes != mine.lanes
                    or form.terms != mine.terms
                    or not all(self._is_outside(t, phi.block) for t, _ in form.terms)
                ):
                    self.refused.add(phi)
                    good = False
                    break
                base.operands.append(form.base)
                number = self.facts.multiple(form.base)
                if number % self.multiples[phi]:
                    self.multiples[phi] = power_of_two_part(math.gcd(number, self.multiples[phi]))
                    good = False
        return good

    def _is_outside(self, value: Value, block: Block) -> bool:
        """Whether a term keeps its value while the loops around the block run."""
        if not isinstance(value, Instruction):
            return True
        return value.block is not None and not any(
            value.block in loop.blocks for loop in self.cfg.loops_of(block)
        )

    def _apply(self) -> None:
        for _, base in self.phi_bases:
            assert base.block is not None
            base.block.phis.append(base)
        for block in self.cfg.order:
            body: list[Instruction] = []
            for instruction in block.body:
                body += self.added.get(instruction, [])
                body.append(instruction)
            block.body = body

    # -- forms of operations ----------------------------------------------------------------------

    def _form(self, instruction: Instruction, block: Block) -> Form | None:
        operation = instruction.operation
        if operation in POSITIONS:
            return POSITIONS[operation](self, instruction)
        handler = _HANDLERS.get(operation)
        if handler is None:
            return None
        operands = [form for o in instruction.operands if (form := self.of(o, block)) is not None]
        if len(operands) < len(instruction.operands):
            return None
        if all(form.is_uniform and not form.guards for form in operands):
            return self.uniform(self._new(operation, instruction.type, *(f.base for f in operands)))
        return handler(self, instruction, operands)

    def _of_positions(self, instruction: Instruction) -> Form | None:
        """The form of what a thread computes from its positions alone, in whatever way."""
        type = instruction.type
        found = self.known.pattern(instruction, self.lanes) if bits(type) > 1 else None
        if found is None:
            return None
        start, step, lanes = found
        base = self._new(MUL, "i32", self._simdgroup(), integer("i32", step))
        if bits(type) != bits("i32"):
            base = self._new(ZEXT if bits(type) > bits("i32") else TRUNC, type, base)
        base = self._new(ADD, type, base, integer(type, start))
        highest = start + step * (self.shape.simdgroups - 1) + max(lanes)
        small = step >= 0 and highest < 1 << (min(bits(type), bits("i32")) - 1)
        return Form(base, lanes) if small else None

    def add(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """`a + b`, and `a | b` where no bit is in both."""
        left, right = operands
        if instruction.operation is OR and not (
            "disjoint" in instruction.flags or self._disjoint(left, right)
        ):
            return self._bitwise(instruction, operands)
        sign = -1 if instruction.operation is SUB else 1
        terms = dict(left.terms)
        for value, pattern in right.terms:
            old = terms.get(value, self._zeros)
            terms[value] = tuple(a + sign * b for a, b in zip(old, pattern, strict=True))
        kept = tuple((value, pattern) for value, pattern in terms.items() if any(pattern))
        lanes = tuple(a + sign * b for a, b in zip(left.lanes, right.lanes, strict=True))
        exact = instruction.operation is OR
        form = Form(
            self._new(SUB if sign < 0 else ADD, instruction.type, left.base, right.base),
            lanes,
            kept,
            left.guards + right.guards,
        )
        return self._exactness(instruction, form, operands, exact)

    def _exactness(
        self, instruction: Instruction, form: Form, operands: list[Form], exact: bool = False
    ) -> Form:
        fits = form.terms == () and self.facts.fits(form.base, form.lanes)
        unsigned = all(f.unsigned for f in operands) and self._stays_unsigned(instruction, form)
        signed = all(f.signed for f in operands) and _stays_signed(form)
        return replace(
            form,
            unsigned=fits or (unsigned and (exact or "nuw" in instruction.flags)),
            signed=fits or (signed and (exact or "nsw" in instruction.flags)),
        )

    def _stays_unsigned(self, instruction: Instruction, form: Form) -> bool:
        """Whether the base of a form cannot wrap where no lane's value does.

        `nuw` is a promise for lanes that use the value: in `t - d` lane 0's may be below zero, and
        with it the base.
        """
        if instruction.operation is SUB:
            return not form.terms and max(form.lanes) <= 0
        rising = all(min(pattern) >= 0 for _, pattern in form.terms) and min(form.lanes) >= 0
        # Terms are read as signed.
        return rising and all(
            self.facts.upper(value) < 1 << (bits(value.type) - 1) for value, _ in form.terms
        )

    def _disjoint(self, left: Form, right: Form) -> bool:
        for big, small in ((left, right), (right, left)):
            if big.terms or small.terms or number_of(small.base) is None:
                continue
            known = number_of(small.base) or 0
            high = known + max(small.lanes)
            if known + min(small.lanes) < 0 or any(big.lanes):
                continue
            if self.facts.multiple(big.base) % (1 << max(high, 0).bit_length()) == 0:
                return True
        return False

    def multiply(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """`a * b` where one is uniform, and `a << constant`."""
        left, right = operands
        if left.is_uniform:
            left, right = right, left
        if not right.is_uniform:
            return None
        factor = right.base
        if instruction.operation is SHL:
            amount = number_of(factor)
            if (
                amount is None
                or not operands[1].is_uniform
                or not 0 <= amount < bits(left.base.type)
            ):
                return None
            if left is not operands[0]:
                return None
            factor = integer(instruction.type, 1 << amount)
        base = self._new(MUL, instruction.type, left.base, factor)
        known = number_of(factor)
        if known is not None:
            form = Form(
                base,
                tuple(lane * known for lane in left.lanes),
                tuple((v, tuple(p * known for p in pattern)) for v, pattern in left.terms),
                left.guards + right.guards,
            )
        else:
            if left.terms:
                return None
            form = Form(base, self._zeros, ((factor, left.lanes),), left.guards + right.guards)
        return self._exactness(instruction, form, operands)

    def _bitwise(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        left, right = operands
        mask = number_of(right.base)
        if mask is None or not right.is_uniform or left.terms or left.guards:
            return None
        known = number_of(left.base)
        width = bits(instruction.type)
        op = _BITWISE[instruction.operation]
        if known is not None:
            values = [op((known + lane) % (1 << width), mask % (1 << width)) for lane in left.lanes]
            return _constants(instruction.type, values)
        low, high = min(left.lanes), max(left.lanes)
        step = self.facts.multiple(left.base)
        if low < 0 or high >= min(step, 1 << (width - 1)) or step & (step - 1):
            return None
        # The base has zeros where the lanes have bits.
        if instruction.operation is AND:
            base = self._new(AND, instruction.type, left.base, right.base)
        elif 0 <= mask < step:
            base = left.base
        else:
            return None
        return Form(base, tuple(op(lane, mask % (1 << width)) for lane in left.lanes))

    def shift_right(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """`a >> constant` and division by a constant, where no lane borrows from the base."""
        left, right = operands
        amount = number_of(right.base)
        if amount is None or not right.is_uniform or left.terms or left.guards:
            return None
        if instruction.operation in _SHIFTS:
            if not 0 <= amount < bits(instruction.type):
                return None
            divisor = 1 << amount
        else:
            divisor = amount
        if divisor <= 0 or not self._no_carry(left):
            return None
        if instruction.operation is ASHR and not self.facts.fits(left.base, left.lanes):
            return self._shift_signed(left, amount)
        if instruction.operation is UREM:
            return self._remainder(left, divisor)
        return self._divide(left, divisor)

    def _shift_signed(self, form: Form, amount: int) -> Form | None:
        """`a >> constant` of what may be negative; the base has zeros where the lanes have bits."""
        type, high = form.base.type, max(form.lanes)
        if high >> (bits(type) - 1):
            return None
        step = self.facts.multiple(form.base)
        alike = (1 << amount) % (high + 1) == 0 and step % (high + 1) == 0
        if step % (1 << amount) and not alike:
            return None
        base = self._new(ASHR, type, form.base, integer(type, amount))
        return Form(base, tuple(lane >> amount for lane in form.lanes))

    def _no_carry(self, form: Form) -> bool:
        """Whether adding the lanes' numbers to the base cannot wrap."""
        step = power_of_two_part(self.facts.multiple(form.base))
        inside = min(form.lanes) >= 0 and max(form.lanes) < min(step, 1 << bits(form.base.type))
        return inside or self.facts.fits(form.base, form.lanes)

    def truncate(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """A narrower integer keeps its form, modulo less."""
        (form,) = operands
        if form.guards:
            return None
        terms = tuple((self._new(TRUNC, instruction.type, v), p) for v, p in form.terms)
        base = self._new(TRUNC, instruction.type, form.base)
        fits = not terms and self.facts.fits(base, form.lanes)
        return Form(base, form.lanes, terms, (), fits, fits)

    def extend(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """A wider integer has the same form if the narrow one did not wrap."""
        (form,) = operands
        # What is not negative may be read as signed, though its base alone may be negative.
        plain = instruction.operation is ZEXT and "nneg" not in instruction.flags
        kind: Literal["zext", "sext"] = "zext" if plain else "sext"
        exact = form.unsigned if kind == "zext" else form.signed
        if bits(form.base.type) == 1:
            return None
        terms = tuple((self._new(SEXT, instruction.type, v), p) for v, p in form.terms)
        guards = form.guards if exact else (*form.guards, Guard(kind, form))
        base = self._new(ZEXT if plain else SEXT, instruction.type, form.base)
        return Form(base, form.lanes, terms, guards)

    def choose(self, instruction: Instruction, operands: list[Form]) -> Form | None:
        """A uniform choice of two values with one pattern."""
        condition, left, right = operands
        if not condition.is_uniform or (left.lanes, left.terms) != (right.lanes, right.terms):
            return None
        base = self._new(SELECT, instruction.type, condition.base, left.base, right.base)
        both = left.guards + right.guards
        return Form(
            base,
            left.lanes,
            left.terms,
            both,
            left.unsigned and right.unsigned,
            left.signed and right.signed,
        )


def _stays_signed(form: Form) -> bool:
    """Whether the base cannot wrap where no lane's value does, unless that is almost too large."""
    return max(form.lanes) - min(form.lanes) < 1 << max(bits(form.base.type) - 2, 0)


def _constants(type: str, values: list[int]) -> Form:
    """The form of numbers, read as unsigned, that are known for all lanes."""
    half = 1 << (bits(type) - 1)
    if max(values) < half or half == 1:
        return Form(integer(type, 0), tuple(values))
    lanes = tuple(value - 2 * half if value >= half else value for value in values)
    return Form(integer(type, 0), lanes, unsigned=False)


@rewrites
def add_linear_forms(
    function: Function,
    cfg: Cfg,
    divergence: Divergence,
    shape: Shape,
    lanes: Pattern = IOTA,
    groups: Pattern = ZEROS,
) -> LinearForms:
    """The forms of a function's varying integers, whose scalars are added to it.

    Vectors hold these lanes, of the threadgroups that are so many further in x.
    """
    return LinearForms(function, cfg, divergence, shape, lanes, groups)


_Handler = Callable[[LinearForms, Instruction, list[Form]], Form | None]
_HANDLERS: dict[Operation, _Handler] = {
    ADD: LinearForms.add,
    SUB: LinearForms.add,
    OR: LinearForms.add,
    MUL: LinearForms.multiply,
    SHL: LinearForms.multiply,
    AND: LinearForms._bitwise,
    XOR: LinearForms._bitwise,
    LSHR: LinearForms.shift_right,
    ASHR: LinearForms.shift_right,
    UDIV: LinearForms.shift_right,
    UREM: LinearForms.shift_right,
    TRUNC: LinearForms.truncate,
    ZEXT: LinearForms.extend,
    SEXT: LinearForms.extend,
    SELECT: LinearForms.choose,
}

_BITWISE: dict[Operation, Callable[[int, int], int]] = {
    AND: lambda a, b: a & b,
    OR: lambda a, b: a | b,
    XOR: lambda a, b: a ^ b,
}
