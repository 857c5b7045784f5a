"""Values of one thread as terms: what an instruction gives, in given iterations of its loops.

What is not known is a symbol. Symbols are shared by threads if the kernel's values are: those of
read-only memory by address, uniform ones by iteration, those of a whole simdgroup by its number.
What is known of a symbol is a fact, which goes with every formula that the symbol is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import bits, is_float
from assay.sim.simt.ir.nodes import Block, BufferRoot, Constant, ConstantRoot, Instruction, Value
from assay.sim.simt.ir.operations.control import PHI, SELECT
from assay.sim.simt.ir.operations.integers import AND, ICMP, OR, XOR
from assay.sim.simt.ir.operations.memory import COMPONENT, LOAD

from .conditions import both, differ, negation, one_of
from .counts import Count, Counts, without_inner
from .facts import Facts
from .kernel import Kernel, is_read_only
from .loops import Induction, Orbit, Rule, Settled, is_falling, of_orbit, rule_of, sources
from .meanings import (
    MEANINGS,
    Reading,
    bounds_of,
    compare,
    put_together,
    read,
    reading_of_comparison,
)
from .memory.pointers import start_of
from .positions import Positions, bounds
from .ranges import Ranges
from .terms import (
    Expression,
    Term,
    add,
    choose,
    clamped,
    constant,
    divide,
    either,
    joined,
    multiply,
    ranged,
    remainder,
    small,
)
from .walks.iterations import Iterations, Key


class Values:
    """What instructions of a kernel give in one thread.

    Args:
        kernel: the kernel.
        thread: which thread.
        facts: takes what is known of symbols.
        ranges: tells which values surely do not wrap.
    """

    def __init__(
        self,
        kernel: Kernel,
        thread: Positions,
        facts: Facts,
        ranges: Ranges,
    ) -> None:
        self.kernel = kernel
        self.thread = thread
        self.facts = facts
        self.ranges = ranges
        self._known: dict[Any, Any] = {}
        self._iterations = Iterations(kernel, thread.name, facts)

    def counts_at(self, block: Block, counts: Counts) -> dict[Loop, Count]:
        """Iterations of the loops around a block, beside those that are given."""
        return self._iterations.at(block, counts)

    # -- values -----------------------------------------------------------------------------------

    def condition(self, value: Value, counts: Counts) -> Expression:
        """A value of one bit as a condition."""
        if isinstance(value, Constant):
            return bool(value.number) if value.number is not None else self._one_bit(value, counts)
        assert isinstance(value, Instruction) and value.block is not None
        known, key = self._iterations.deciding(value.block, counts)
        return self._kept("condition", value, key, lambda: self._condition(value, known))

    def _condition(self, value: Instruction, counts: Counts) -> Expression:
        operands = value.operands
        if value.operation is ICMP:
            if operands[0].type == "i1":
                return self._compared_bits(value, counts)
            reading = reading_of_comparison(value.predicate)
            left, right = (self.read(each, counts, reading, is_compared=True) for each in operands)
            return compare(value.predicate, left, right)
        if value.operation in (AND, OR, XOR):
            join = {AND: both, OR: one_of, XOR: differ}[value.operation]
            return join(*(self.condition(each, counts) for each in operands))
        if value.operation is SELECT:
            test, yes, no = (self.condition(each, counts) for each in operands)
            return both(one_of(negation(test), yes), one_of(test, no))
        return self._one_bit(value, counts)

    def _compared_bits(self, value: Instruction, counts: Counts) -> Expression:
        left, right = (self.condition(each, counts) for each in value.operands)
        unlike = differ(left, right)
        if value.predicate in ("eq", "ne"):
            return unlike if value.predicate == "ne" else negation(unlike)
        one, other = (choose(each, 1, 0) for each in (left, right))
        sign = -1 if value.predicate.startswith("s") else 1  # the only bit is the sign
        return compare(value.predicate, Term(sign * one, 0, 1), Term(sign * other, 0, 1))

    def _one_bit(self, value: Value, counts: Counts) -> Expression:
        return self.read(value, counts, "unsigned").value == 1

    def read(
        self, value: Value, counts: Counts, reading: Reading, *, is_compared: bool = False
    ) -> Term:
        """A value as an operation reads it; without a remainder where it is known not to wrap."""
        term = self.term(value, counts)
        width = bits(value.type)
        if reading == "congruent":
            return term
        least, most = bounds_of(width, reading)
        is_plain = term.lies_in(least, most) or term.lies_outside(least, most)
        if is_plain or not isinstance(value, Instruction):
            return read(term, width, reading)
        if self.ranges.holds(value, reading, is_compared=is_compared):
            return clamped(term, least, most)
        return read(term, width, reading)

    def term(self, value: Value, counts: Counts) -> Term:
        """A term that is congruent to an integer."""
        if isinstance(value, Constant):
            if value.number is None:
                return self._symbol(value, {})
            return small(constant(value.number), bits(value.type))
        assert isinstance(value, Instruction) and value.block is not None, value
        known, key = self._iterations.deciding(value.block, counts)
        found: Term = self._kept("term", value, key, lambda: self._term(value, known))
        return found

    def _kept(self, what: str, of: Value | Block, counts: Key, build: Callable[[], Any]) -> Any:
        """What was built before, or is built now."""
        return self.ranges.kept(self._known, (what, of, counts), build)

    def _term(self, value: Instruction, counts: Counts) -> Term:
        if value.operation is PHI:
            return self._phi(value, counts)
        if value.operation in (LOAD, COMPONENT):
            return self._loaded(value, counts)
        position = self._position(value)
        if position is not None:
            return position
        found = self._computed(value, counts)
        return self._symbol(value, counts) if found is None else found

    def _position(self, value: Instruction) -> Term | None:
        dimension = value.operands[0] if value.operands else None
        if dimension is not None and not isinstance(dimension, Constant):
            return None
        number = dimension.number if isinstance(dimension, Constant) else 0
        return self.thread.term(value.operation, number or 0)

    def _computed(self, value: Instruction, counts: Counts) -> Term | None:
        """By the operation's meaning; None if it has none here."""
        if value.type == "i1" and value.operation in (ICMP, AND, OR, XOR, SELECT):
            return ranged(choose(self.condition(value, counts), 1, 0), 0, 1)
        if value.operation is SELECT:
            yes, no = (self.term(each, counts) for each in value.operands[1:])
            return either(self.condition(value.operands[0], counts), yes, no)
        meaning = MEANINGS.get(value.operation)
        if meaning is None or any(is_float(each.type) for each in value.operands):
            return None
        width = bits(value.operands[0].type)
        terms = tuple(self.read(each, counts, meaning.reading) for each in value.operands)
        if value.operation is OR and self.ranges.are_apart(value):
            return put_together(*terms)
        return meaning.build(width, terms)

    # -- memory -----------------------------------------------------------------------------------

    def _loaded(self, value: Instruction, counts: Counts) -> Term:
        """What is in memory that nobody writes depends on the address alone."""
        load = value.operands[0] if value.operation is COMPONENT else value
        if not isinstance(load, Instruction) or load.operation is not LOAD:
            return self._symbol(value, counts)
        if not is_read_only(load.root, self.kernel.written):
            return self._symbol(value, counts, self._stored(value))
        size = max(bits(load.element) // 8, 1)
        inside = constant(start_of(load.root) + value.index * size)
        at = add(self.read(load.operands[0], counts, "signed"), inside)
        name = load.root.name if load.root is not None else ""
        # Tables of several scopes may have one name.
        where = f"constant.{load.root.start}" if isinstance(load.root, ConstantRoot) else ""
        if isinstance(load.root, BufferRoot):
            where = str(load.root.parameter)
        found = self._of_memory(f"{name}#{where}", load.element, at)
        self.kernel.contents.state(self, load, found, at)
        return found

    def argument(self, name: str, parameter: int, width: int, offset: int = 0) -> Term:
        """An integer at a byte of what an argument refers to; of a wider one, if the kernel reads
        members of a struct together.
        """
        reads = self.kernel.words.get(parameter, frozenset())
        holders = [
            (begin, wide)
            for begin, wide in sorted(reads)
            if begin <= offset and offset + width // 8 <= begin + wide // 8
        ]
        begin, wide = holders[0] if holders and (offset, width) not in reads else (offset, width)
        whole = self._of_memory(f"{name}#{parameter}", f"i{wide}", constant(begin))
        return remainder(divide(whole, 1 << 8 * (offset - begin)), 1 << width)

    def _of_memory(self, name: str, element: str, at: Term) -> Term:
        from .native.building import applied, integer

        width = bits(element)
        if at.constant is not None:
            symbol = integer(f"{name}:{element}[{at.constant}]")
        else:
            symbol = applied(f"{name}:{element}", [at.value])
        term = ranged(symbol, 0, (1 << width) - 1)
        self.facts.state_all(symbol, bounds(term))
        return term

    def _stored(self, value: Value) -> tuple[int, int] | None:
        """Between which numbers what is read of threadgroup memory lies, if that is known."""
        is_read = isinstance(value, Instruction) and value.operation is LOAD
        return self.kernel.stored.get(value.root) if is_read else None  # type: ignore[attr-defined]

    def _first_or_stored(
        self, phi: Instruction, loop: Loop, counts: Counts
    ) -> tuple[int, int] | None:
        """The same of a variable that such a number is put into in each iteration."""
        if sum(each not in loop.blocks for each in loop.header.predecessors) != 1:
            return None
        start, again = sources(phi, loop)
        stored = self._stored(again)
        if stored is None:
            return None
        first = self.read(start, _without(counts, loop), "unsigned")
        if first.least is None or first.most is None:
            return None
        return min(first.least, stored[0]), max(first.most, stored[1])

    # -- what is not known ------------------------------------------------------------------------

    def _symbol(self, value: Value, counts: Counts, between: tuple[int, int] | None = None) -> Term:
        """Any value of the type, or between two; the same for all threads that surely have the
        same.
        """
        symbol = self._free(value, counts)
        term = ranged(symbol, *(between or (0, (1 << bits(value.type)) - 1)))
        self.facts.state_all(symbol, bounds(term))
        return term

    def _place_of(self, loop: Loop) -> int:
        return self.kernel.cfg.index[loop.header]

    def _free(self, value: Value, counts: Counts, loops: Sequence[Loop] | None = None) -> Any:
        """A symbol of which nothing is known but who shares it: in all iterations of the loops
        that are given, or else of those around the value, it is another one.
        """
        from .native.building import applied, integer

        name = f"value.{self.facts.number_of(value)}"
        if loops is None and isinstance(value, Instruction) and value.block is not None:
            loops = self.kernel.around(value.block)
        arguments: list[Expression] = [counts[loop].term.value for loop in loops or ()]
        if not isinstance(value, Instruction) or value in self.kernel.threads.varying:
            if self._is_of_simdgroup(value):
                name = f"{name}.simdgroup"
                arguments.append(self.thread.simdgroup.value)
            elif self.thread.is_one_of_many:
                name = f"{name}.thread"
                arguments.append(self.thread.index.value)
            else:
                name = f"{name}.{self.thread.name}"
        return applied(name, arguments) if arguments else integer(name)

    def _is_of_simdgroup(self, value: Value) -> bool:
        """Whether all lanes of a simdgroup compute a value together and find the same."""
        lanes = self.kernel.lanes
        if not isinstance(value, Instruction) or value in lanes.varying:
            return False
        # While lanes read memory that others write, these may do so.
        return value.block not in lanes.partial and not value.operation.accesses_memory

    # -- variables --------------------------------------------------------------------------------

    def _phi(self, phi: Instruction, counts: Counts) -> Term:
        assert phi.block is not None
        loop = self.kernel.cfg.innermost[phi.block]
        if loop is not None and loop.header is phi.block:
            return self._of_loop(phi, loop, counts)
        return self._merged(phi, counts)

    def _of_loop(self, phi: Instruction, loop: Loop, counts: Counts) -> Term:
        count = counts[loop]
        rule = self.rule(phi, loop)
        if rule is None and sum(s not in loop.blocks for s in loop.header.predecessors) == 1:
            start, again = sources(phi, loop)
            if count.is_first:
                return self.term(start, _without(counts, loop))
            if count.offset > 0:
                earlier = {**without_inner(counts, loop), loop: count.further(-1)}
                return self.term(again, earlier)
        if isinstance(rule, Induction):
            return self._induced(rule, loop, counts)
        if isinstance(rule, Orbit):
            return of_orbit(rule, count.term)
        if isinstance(rule, Settled):
            first = self.term(rule.start, _without(counts, loop))
            return either(count.term.value == 0, first, self.term(rule.after, counts))
        return self._symbol(phi, counts, self._first_or_stored(phi, loop, counts))

    def rule(self, phi: Instruction, loop: Loop) -> Rule | None:
        """How a variable of a loop goes on; None if that is not known."""
        rules = self.kernel.rules
        if phi not in rules:
            rules[phi] = rule_of(phi, loop, self._is_fixed)
        return rules[phi]

    def _is_fixed(self, value: Value) -> bool:
        return isinstance(value, Instruction) and is_read_only(value.root, self.kernel.written)

    def _induced(self, rule: Induction, loop: Loop, counts: Counts) -> Term:
        start = self.term(rule.start, _without(counts, loop))
        for sign, step in rule.steps:
            by = multiply(self.term(step, counts), constant(sign))
            start = add(start, multiply(small(by, bits(step.type)), counts[loop].term))
        return start

    def _merged(self, phi: Instruction, counts: Counts) -> Term:
        """The value of the edge that was taken."""
        assert phi.block is not None
        found = self._chosen(phi, counts)
        if found is not None:
            return found
        # What edges and values are depends on when loops before were left, too.
        symbol = self._free(phi, counts, sorted(counts, key=self._place_of))
        terms = [self.term(value, counts) for value in phi.operands]
        # What was in earlier iterations is asked of the block's own path, not here: loops whose
        # end such a value decides would lead back through all iterations.
        edges = [
            both(self.path(source, counts, before=False), self.taken(source, phi.block, counts))
            for source in phi.block.predecessors
        ]
        taken = [both(edge, symbol == term.value) for edge, term in zip(edges, terms, strict=True)]
        # Another merge may choose this value, or not: then the thread need not come here.
        self.facts.state(symbol, one_of(*taken, negation(one_of(*edges))))
        return replace(joined(*terms), value=symbol)

    def _chosen(self, phi: Instruction, counts: Counts) -> Term | None:
        """A choice by one condition, if the block's two edges come from the sides of one branch."""
        block = phi.block
        assert block is not None
        above = self.kernel.cfg.dominator[block]
        if above is None or above.condition is None or len(phi.operands) != 2:
            return None
        if self.kernel.around(above) != self.kernel.around(block):
            return None
        sides = [self._side(source, above, block) for source in block.predecessors]
        if sorted(sides) != [0, 1]:
            return None
        terms = [self.term(phi.operands[sides.index(side)], counts) for side in (0, 1)]
        return either(self.condition(above.condition, counts), *terms)

    def _side(self, source: Block, above: Block, block: Block) -> int:
        """Which target of a branch leads to a predecessor of a block alone; -1 if not one."""
        if source is above:
            return above.targets.index(block) if above.targets.count(block) == 1 else -1
        walk: Block | None = source
        while walk is not None and walk is not above:
            if walk.predecessors == [above] and above.targets.count(walk) == 1:
                return above.targets.index(walk)
            walk = self.kernel.cfg.dominator[walk]
        return -1

    # -- paths ------------------------------------------------------------------------------------

    def edge(self, source: Block, target: Block, counts: Counts) -> Expression:
        """What holds when a thread goes from one block to another."""
        return both(self.path(source, counts), self.taken(source, target, counts))

    def taken(self, source: Block, target: Block, counts: Counts) -> Expression:
        """What holds when a thread that is at the end of a block goes to another."""
        if source.condition is None or source.targets.count(target) != 1:
            return True
        condition = self.condition(source.condition, counts)
        return condition if source.targets[0] is target else negation(condition)

    def path(self, block: Block, counts: Counts, *, before: bool = True) -> Expression:
        """What holds when a thread comes to a block: conditions of branches that lead to it.

        `before` says that those of the iteration before the block's are asked as well.
        """
        known, key = self._iterations.deciding(block, counts)
        what = "path" if before else "path in iteration"
        return self._kept(what, block, key, lambda: self._path(block, known, before))

    def _path(self, block: Block, counts: Counts, before: bool) -> Expression:
        above = self.kernel.cfg.dominator[block]
        found: Expression = True
        if above is not None:
            found = self.path(above, counts, before=before)
            entering = [s for s in block.predecessors if not self.kernel.cfg.dominates(block, s)]
            if entering == [above]:
                found = both(found, self.taken(above, block, counts))
        loop = self.kernel.cfg.innermost[block]
        if before and loop is not None and loop.header is block and not counts[loop].is_first:
            found = both(found, self._before(loop, counts), *self._not_below_zero(loop, counts))
        return found

    def _not_below_zero(self, loop: Loop, counts: Counts) -> Iterator[Expression]:
        """What counts down to a number that it has to meet is not beyond it: all iterations
        before went on, not just the last.
        """
        for phi in loop.header.phis:
            rule = self.rule(phi, loop)
            if isinstance(rule, Induction) and is_falling(rule):
                term = self.term(phi, counts)
                if not term.lies_in(0, (1 << bits(phi.type)) - 1) and self.ranges.is_proved(
                    phi, "unsigned"
                ):
                    yield term.value >= 0

    def _before(self, loop: Loop, counts: Counts) -> Expression:
        """If this is not the first iteration, the one before came to its end."""
        count = counts[loop]
        (latch,) = (each for each in loop.header.predecessors if each in loop.blocks)
        earlier = {**without_inner(counts, loop), loop: count.further(-1)}
        ended = both(
            self.path(latch, earlier, before=False), self.taken(latch, loop.header, earlier)
        )
        return ended if count.offset > 0 else one_of(count.term.value == 0, ended)


def _without(counts: Counts, loop: Loop) -> dict[Loop, Count]:
    return {each: count for each, count in counts.items() if each is not loop}
