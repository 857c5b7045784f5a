"""Whether two threads make the same value, of memory that nobody writes.

Values are compared part by part, as deep as both are made by the same operations: integers as the
solver's terms, what is loaded by its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.sim.simt.ir.llvm_types import bits, is_float
from assay.sim.simt.ir.nodes import Block, Constant, Instruction, Value, is_private
from assay.sim.simt.ir.operations.control import PHI, SELECT
from assay.sim.simt.ir.operations.memory import COMPONENT, LOAD

from ..conditions import both, differ, negation, one_of
from ..counts import Count, Counts
from ..kernel import is_read_only
from ..loops import is_computed
from ..meanings import MEANINGS
from ..memory.polynomials import Polynomial, Product, polynomial
from ..terms import Expression
from ..values import Values
from .followed import followed, turns_to_tell_apart
from .own import Held, held
from .staged import Staged, is_staged

_MOST_FACTORS = 8
_MOST_PRODUCTS = 24
Zeros = dict[frozenset[tuple[Product, int]] | None, Expression | None]
"""By the products of a polynomial, when it is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Maker:
    """A thread in given iterations of loops.

    Attributes:
        at: a block that it is known to come to, or that is only asked about if it does.
    """

    values: Values
    counts: Counts
    at: Block | None

    def surely_comes(self, block: Block) -> bool:
        """Whether it came to a block in these iterations to be where it is."""
        cfg = self.values.kernel.cfg
        walk = self.at
        around = cfg.loops_of(walk) if walk is not None else []
        while walk is not None and walk is not block:
            walk = cfg.dominator[walk]
        return walk is block and all(loop in around for loop in cfg.loops_of(block))


@dataclass(slots=True)
class Comparison:
    """Compares what one thread makes with what another one does.

    Attributes:
        mine, other: the two.
        staged: who stored what the other one reads of threadgroup memory; None if nobody is asked.
        definitions: what makes symbols those of such a thread: it goes with every condition.
        zeros: when polynomials are 0, as far as that was asked for.
    """

    mine: Maker
    other: Maker
    staged: Staged | None = None
    definitions: list[Expression] = field(default_factory=list)
    zeros: Zeros = field(default_factory=dict)
    _known: dict[tuple[Value, Value], Expression] = field(default_factory=dict)

    def same(self, mine: Value, other: Value) -> Expression:
        """A condition under which two values are surely the same."""
        key = (mine, other)
        if key not in self._known:
            self._known[key] = False  # what is made of itself is not compared
            self._known[key] = self._same(mine, other)
        return self._known[key]

    def _same(self, mine: Value, other: Value) -> Expression:
        if _bits(mine) != _bits(other):
            return False
        if isinstance(mine, Constant) and isinstance(other, Constant):
            return mine.literal == other.literal or _pattern(mine) == _pattern(other) is not None
        if is_staged(other) and not is_staged(mine):
            return self._stored(mine, other)
        merges = [self._is_merged(each) for each in (mine, other)]
        if all(merges) or (any(merges) and _may_be_unlike_numbers(mine, other)):
            return self._merged(mine, other)
        if isinstance(mine, Instruction) and isinstance(other, Instruction):
            if mine.operation is SELECT and other.operation is SELECT:
                return self._chosen(mine, other)
            if _is_loaded(mine) and _is_loaded(other):
                return self._loaded(mine, other)
            if mine.type != other.type:
                return False
            if is_float(mine.type) or mine.operation not in MEANINGS:
                return self._computed(mine, other)
        return mine.type == other.type and self._number(mine, other)

    def _number(self, mine: Value, other: Value) -> Expression:
        """Integers, as terms."""
        if is_float(mine.type):
            return False
        if mine.type == "i1":
            conditions = (
                each.values.condition(value, each.counts)
                for each, value in ((self.mine, mine), (self.other, other))
            )
            return negation(differ(*conditions))
        one = self.mine.values.term(mine, self.mine.counts).value
        two = self.other.values.term(other, self.other.counts).value
        is_linear = _is_linear(one) and _is_linear(two)
        if is_linear and not (_is_unknown(one) or _is_unknown(two)):
            return one == two
        computed = self._computed(mine, other)
        if is_linear:
            return one_of(one == two, computed)
        zero = self._are_zero(one - two)
        return computed if zero is None else one_of(zero, computed)

    def _are_zero(self, difference: Expression) -> Expression | None:
        whole = polynomial(difference)
        key = None if whole is None else frozenset(whole.products.items())
        if key not in self.zeros:
            self.zeros[key] = _are_zero(whole)
        return self.zeros[key]

    def _is_merged(self, value: Value) -> bool:
        """Whether a value is one of several by the way that led to it."""
        is_phi = isinstance(value, Instruction) and value.operation is PHI
        loops = self.mine.values.kernel.cfg.loops
        return is_phi and not any(loop.header is value.block for loop in loops)  # type: ignore[attr-defined]

    def _merged(self, mine: Value, other: Value) -> Expression:
        """Of all ways that both may have come by, the values are the same; and there is one."""
        ways = [self._ways(self.mine, mine), self._ways(self.other, other)]
        found = [one_of(*(taken for taken, _ in each)) for each in ways]
        found += [
            one_of(negation(both(taken, too)), self.same(value, another))
            for taken, value in ways[0]
            for too, another in ways[1]
        ]
        return both(*found)

    def _ways(self, maker: Maker, value: Value) -> list[tuple[Expression, Value]]:
        """What a value may be, each with what holds then."""
        if not self._is_merged(value):
            return [(True, value)]
        assert isinstance(value, Instruction)
        return [(self._edge(maker, value, at), each) for at, each in enumerate(value.operands)]

    def _edge(self, maker: Maker, phi: Instruction, at: int) -> Expression:
        """What holds if a thread comes to a block by one of its edges."""
        values, block = maker.values, phi.block
        assert block is not None
        above = values.kernel.cfg.dominator[block]
        assert above is not None
        source = block.predecessors[at]
        return both(
            maker.surely_comes(block) or values.path(above, maker.counts),
            self._came(maker, above, source),
            values.taken(source, block, maker.counts),
        )

    def _came(self, maker: Maker, above: Block, block: Block) -> Expression:
        """What holds if a thread comes to a block from one that all ways lead through: of the ways
        one was taken.
        """
        if block is above or any(x.header is block for x in maker.values.kernel.cfg.loops):
            return True
        return one_of(
            *(
                both(
                    self._came(maker, above, source),
                    maker.values.taken(source, block, maker.counts),
                )
                for source in block.predecessors
            )
        )

    def _chosen(self, mine: Instruction, other: Instruction) -> Expression:
        test = self.mine.values.condition(mine.operands[0], self.mine.counts)
        another = self.other.values.condition(other.operands[0], self.other.counts)
        return both(
            negation(differ(test, another)),
            one_of(negation(test), self.same(mine.operands[1], other.operands[1])),
            one_of(test, self.same(mine.operands[2], other.operands[2])),
        )

    def _loaded(self, mine: Instruction, other: Instruction) -> Expression:
        one, two = _load_of(mine), _load_of(other)
        if is_private(one.root) and is_private(two.root):
            return mine.index == other.index and self._held(one, two, mine.index)
        kernel = self.mine.values.kernel
        widths = bits(one.element) == bits(two.element)
        alike = one.root == two.root and widths and mine.index == other.index
        if not alike or not is_read_only(one.root, kernel.written):
            return False
        return self.same(one.operands[0], two.operands[0])

    def _held(self, mine: Instruction, other: Instruction, index: int) -> Expression:
        """What is in arrays of the threads' own: the same was stored, by the same branches."""
        if mine.components == other.components == 1:
            one, two = (
                held(maker.values, load, maker.counts)
                for maker, load in ((self.mine, mine), (self.other, other))
            )
            if one is not None and two is not None:
                return self._same_held(one, two)
        return self._followed(mine, other, index)

    def _followed(self, mine: Instruction, other: Instruction, index: int) -> Expression:
        """The same, one iteration after the other of the loops that the loads are in."""
        try:
            loop, turns = turns_to_tell_apart(self.mine.values, mine, self.mine.counts)
            another, others = turns_to_tell_apart(self.other.values, other, self.other.counts)
        except LookupError:
            return self._followed_in(mine, self.mine.counts, other, self.other.counts, index)
        my_count, its_count = self.mine.counts.get(loop), self.other.counts.get(another)
        if turns != others or my_count is None or its_count is None:
            return False
        turn = my_count.term.value
        cases = []
        for number in range(turns):
            here = {**self.mine.counts, loop: Count(offset=number)}
            there = {**self.other.counts, another: Count(offset=number)}
            same = self._followed_in(mine, here, other, there, index)
            cases.append(one_of(turn != number, same))
        return both(turn >= 0, turn < turns, turn == its_count.term.value, *cases)

    def _followed_in(
        self, mine: Instruction, here: Counts, other: Instruction, there: Counts, index: int
    ) -> Expression:
        one = followed(self.mine.values, mine, index, here)
        two = followed(self.other.values, other, index, there)
        return False if one is None or two is None else self._same_held(one, two)

    def _same_held(self, one: Sequence[Held], two: Sequence[Held]) -> Expression:
        """That of both, what was stored last is the same."""
        if len(one) != len(two):
            return False
        same: Expression = True
        for first, second in zip(reversed(one), reversed(two), strict=True):
            maker, another = (
                Maker(each.values, stored.counts, stored.block)
                for each, stored in ((self.mine, first), (self.other, second))
            )
            equal = self._between(maker, another).same(first.value, second.value)
            same = both(
                negation(differ(first.condition, second.condition)),
                one_of(negation(first.condition), equal),
                one_of(first.condition, same),
            )
        return same

    def _between(self, mine: Maker, other: Maker) -> Comparison:
        """A comparison as part of this one."""
        return Comparison(mine, other, self.staged, self.definitions, self.zeros)

    def _stored(self, mine: Value, other: Value) -> Expression:
        """Of what somebody stored in the same iteration for the other to read."""
        assert isinstance(other, Instruction)
        maker = self.other
        found = self.staged and self.staged.stored(other, maker.values, maker.counts)
        if not found:
            return False
        self.definitions.append(found.definition)
        storing = Maker(found.values, found.counts, found.block)
        return both(found.condition, self._between(self.mine, storing).same(mine, found.value))

    def _computed(self, mine: Value, other: Value) -> Expression:
        """By the same operation, of the same values."""
        if not _are_alike(mine, other):
            return False
        assert isinstance(mine, Instruction) and isinstance(other, Instruction)
        return both(*map(self.same, mine.operands, other.operands))


def _are_alike(mine: Value, other: Value) -> bool:
    """Whether two values are made by the same operation, of whatever values."""
    return (
        isinstance(mine, Instruction)
        and isinstance(other, Instruction)
        and mine.operation is other.operation
        and is_computed(mine)
        and mine.predicate == other.predicate
        and mine.number == other.number
        and [each.type for each in mine.operands] == [each.type for each in other.operands]
        and mine.contract == other.contract
        and mine.precise == other.precise
        and mine.flags == other.flags
    )


def _bits(value: Value) -> int | str:
    """How many bits a value has; its type if that is no number of bits."""
    try:
        return bits(value.type)
    except (KeyError, ValueError):
        return value.type


def _may_be_unlike_numbers(*values: Value) -> bool:
    """Whether values are better compared by how they are made than as terms."""
    return any(
        is_float(each.type) or (isinstance(each, Instruction) and each.operation is LOAD)
        for each in values
    )


def _pattern(constant: Constant) -> int | None:
    """A constant's bits, as far as they are known."""
    if constant.number is not None:
        return constant.number
    text = constant.literal
    if text.startswith("0xH"):
        return int(text.removeprefix("0xH"), 16)
    return 0 if text == "0.000000e+00" else None


def _are_zero(whole: Polynomial | None) -> Expression | None:
    """A condition under which a sum is 0, without products: rows and columns are, each for itself.
    None if there is none.
    """
    if whole is None or len(whole.products) > _MOST_PRODUCTS:
        return None
    plain = {atom for atom, term in whole.atoms.items() if _is_linear(term)}
    order = {atom: at for at, atom in enumerate(whole.atoms)}
    known: dict[frozenset[tuple[Product, int]], Expression | None] = {}

    def is_zero(part: Polynomial) -> Expression | None:
        key = frozenset(part.products.items())  # by whichever factors it was come to
        if key not in known:
            known[key] = split(part)
        return known[key]

    def split(part: Polynomial) -> Expression | None:
        if all(len(product) <= 1 and plain.issuperset(product) for product in part.products):
            return part.expression() == 0
        factors = sorted(part.factors(), key=order.__getitem__)
        ways = [part.split(each) for each in factors[:_MOST_FACTORS]]
        zeros = [tuple(map(is_zero, each)) for each in ways if each is not None]
        found = [both(*each) for each in zeros if all(x is not None for x in each)]
        return one_of(*found) if found else None

    return is_zero(whole)


def _is_linear(term: Expression) -> bool:
    """Whether a term has no products or quotients of unknowns, at which solvers are slow."""
    import z3

    if isinstance(term, int):
        return True
    from ..native.reading import Reader

    reader = Reader(term.ctx_ref())
    for each in reader.all_parts(term.as_ast()):
        kind = reader.operation(each)
        if kind in (z3.Z3_OP_MUL, z3.Z3_OP_IDIV, z3.Z3_OP_MOD):
            are_known = [reader.is_literal(part) for part in reader.parts(each)]
            if are_known.count(False) > 1 if kind == z3.Z3_OP_MUL else not are_known[1]:
                return False
    return True


def _is_unknown(term: Expression) -> bool:
    """Whether a term has what an operation gives whose meaning the solver is not told."""
    from ..native.reading import Reader

    if isinstance(term, int):
        return False
    reader = Reader(term.ctx_ref())
    return any(
        reader.is_unknown(each) and reader.name(each).startswith("value.")
        for each in reader.all_parts(term.as_ast())
    )


def _is_loaded(value: Instruction) -> bool:
    return value.operation in (LOAD, COMPONENT)


def _load_of(value: Instruction) -> Instruction:
    if value.operation is LOAD:
        return value
    load = value.operands[0]
    assert isinstance(load, Instruction)
    return load
