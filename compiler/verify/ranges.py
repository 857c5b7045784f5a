"""Which values surely do not wrap: proved once for any thread and iteration, then used.

A lemma about an instruction holds wherever it is executed. It is proved from the branches that lead
there, in which only lemmas are used that were proved before; where none is, values are read with
a remainder, which is right whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Block, Constant, Instruction, Value
from assay.sim.simt.ir.operations.control import PHI
from assay.sim.simt.ir.operations.conversions import SEXT, TRUNC
from assay.sim.simt.ir.operations.integers import ADD
from assay.sim.simt.ir.operations.memory import LOAD

from .answers import Obstacle
from .conditions import both, negation
from .counts import Count
from .facts import Facts
from .kernel import Kernel
from .meanings import Reading, bounds_of, masked
from .positions import Positions
from .solver import solve
from .terms import Expression, Term
from .walks.made_of import choices, made_of

if TYPE_CHECKING:
    from .values import Values


_WRAPS: Final = "what is computed here does not wrap"
_SIGN: Final = "what is computed here does not wrap, of numbers that are not negative"
NEGATIVE: Final = "what is read here is not negative"
_INDEX: Final = 32  # bits, at least, of what an index is made narrower to

_Lemma = tuple[Instruction, str]
"""A value, and what is said of it."""


@dataclass(slots=True)
class Lemmas:
    """Lemmas that were tried under the same assumptions, whoever asked for them.

    Attributes:
        proved: those that hold.
        failed: for how many seconds it was tried in vain to prove others.
    """

    proved: set[_Lemma] = field(default_factory=set)
    failed: dict[_Lemma, float] = field(default_factory=dict)

    def under_more(self) -> Lemmas:
        """What is known if more is assumed: all that was proved holds as well."""
        return Lemmas(proved=set(self.proved))


class Ranges:
    """The lemmas of a kernel, each tried when it is first asked for.

    Args:
        kernel: the kernel.
        assumed: what is assumed of launches.
        lenient: whether values are taken not to wrap where that is not proved.
        seconds: for a lemma; most are proved in a hundredth.
        lemmas: what was tried before.

    Attributes:
        taken: values that were taken not to wrap, which a proof then rests on, and how they were
            read: what is read with a sign was taken not to be negative, and to be made of numbers
            that are not.
    """

    def __init__(
        self,
        kernel: Kernel,
        assumed: Callable[[Values], list[Expression]],
        *,
        lenient: bool = False,
        seconds: float = 0.5,
        lemmas: Lemmas | None = None,
    ) -> None:
        self.kernel = kernel
        self.taken: dict[Instruction, Reading] = {}
        self._assumed = assumed
        self._lenient = lenient
        self._seconds = seconds
        self._lemmas = lemmas or Lemmas()
        self._open: set[_Lemma] = set()
        self._missed: set[_Lemma] = set()
        self._meanwhile: dict[Any, tuple[Any, set[_Lemma]]] = {}
        self._any: Values | None = None
        self._corner: Values | None = None

    def holds(self, value: Instruction, reading: Reading, *, is_compared: bool = False) -> bool:
        """Whether what a value's term is surely lies in its type, read so, whenever it is made.

        What is compared may be a check of a range that LLVM made of two: it wraps on purpose.
        """
        if self.is_proved(value, reading):
            return True
        is_taken = self._lenient and not self._open and not _is_part(value)
        if is_taken and reading == "unsigned":
            is_taken = not (_chooses_negative(value) or (is_compared and _is_moved(value)))
        if is_taken and self._can_hold(value, reading):
            if self.taken.get(value) != "signed":
                self.taken[value] = reading
            return True
        return False

    def rests_on(self) -> Iterator[Obstacle]:
        """What was taken to hold, with its places."""
        for value, reading in self.taken.items():
            why = _SIGN if reading == "signed" else _WRAPS
            if value.operation is LOAD:
                why = NEGATIVE
            yield Obstacle(why=why, site=value.site)

    def is_proved(self, value: Instruction, reading: Reading) -> bool:
        """Whether that is proved, and not just taken to hold."""
        return self._proved(value, reading, lambda: self._in_range(value, reading))

    def _can_hold(self, value: Instruction, reading: Reading) -> bool:
        """Whether a value can be in range: what always wraps is not taken not to."""
        never = f"{reading} never"
        return not self._proved(value, never, lambda: self._never_in_range(value, reading))

    def are_apart(self, value: Instruction) -> bool:
        """Whether the operands of an `or` surely have no bit in common, whenever it is made."""
        return self._proved(value, "apart", lambda: self._operands_apart(value))

    def kept(self, known: dict[Any, Any], key: Any, build: Callable[[], Any]) -> Any:
        """What a thread's values have for a key, built if they do not.

        What was read with a remainder only because a lemma was not decided yet is read anew later.
        """
        if key in known:
            return known[key]
        if not self._open:
            known[key] = found = build()
            return found
        mine = (id(known), key)
        if mine not in self._meanwhile:
            found, missed = self._watched(build)
            if not missed:
                known[key] = found
                return found
            self._meanwhile[mine] = found, missed
        found, missed = self._meanwhile[mine]
        self._missed |= missed
        return found

    def _watched(self, build: Callable[[], Any]) -> tuple[Any, set[_Lemma]]:
        """What is built, and which lemmas it would have needed that were not decided."""
        before, self._missed = self._missed, set()
        try:
            found = build()
        finally:
            missed, self._missed = self._missed, before
        return found, missed

    def _proved(self, value: Instruction, what: str, prove: Callable[[], bool]) -> bool:
        key = (value, what)
        if key in self._lemmas.proved:
            return True
        if key in self._open:
            self._missed.add(key)
            return False
        if self._lemmas.failed.get(key, 0) >= self._seconds:
            return False
        self._open.add(key)
        try:
            proved, missed = self._watched(prove)
        finally:
            self._open.discard(key)
            self._meanwhile = {
                each: kept for each, kept in self._meanwhile.items() if key not in kept[1]
            }
        missed.discard(key)
        if proved:
            self._lemmas.proved.add(key)
        elif not missed:
            self._lemmas.failed[key] = self._seconds
        else:  # what failed while others were not decided may succeed with them
            self._missed |= missed
        return bool(proved)

    def _values(self) -> Values:
        """Any thread's values."""
        if self._any is None:
            self._any = self._of("any", "group", Facts(self.kernel.function.instructions()))
        return self._any

    def _corner_values(self) -> Values:
        """Those of a thread in a corner of the same grid."""
        if self._corner is None:
            self._corner = self._of("corner", "cornered", self._values().facts)
        return self._corner

    def _of(self, name: str, group: str, facts: Facts) -> Values:
        from .values import Values

        is_ragged = self.kernel.is_ragged
        place = Positions(name, self.kernel.size, group, is_ragged=is_ragged)
        return Values(self.kernel, place, facts, self)

    def _refuted(self, values: Values, formulas: list[Expression]) -> bool:
        given = [*formulas, *values.thread.facts, *self._assumed(values)]
        found = solve(given, values.facts, self._seconds, shows_numbers=False)
        return found.answer == "no"

    def _in_range(self, value: Instruction, reading: Reading) -> bool:
        values = self._values()
        assert value.block is not None
        loop = self.kernel.cfg.innermost[value.block]
        if value.operation is PHI and loop is not None and loop.header is value.block:
            return self._kept_in_range(value, reading, values)
        counts = values.counts_at(value.block, {})
        outside = _outside(values.term(value, counts), bits(value.type), reading)
        return self._refuted(values, [outside, values.path(value.block, counts)])

    def _never_in_range(self, value: Instruction, reading: Reading) -> bool:
        values = self._values()
        assert value.block is not None
        counts = values.counts_at(value.block, {})
        inside = _inside(values.term(value, counts), bits(value.type), reading)
        path = True if self._is_always_made(value) else values.path(value.block, counts)
        if self._refuted(values, [inside, path]):
            return True
        # In each launch are these threads: what wraps in one of them always does in no launch not.
        missed = negation(both(path, negation(inside)))
        in_loop = self.kernel.cfg.innermost[value.block] is not None
        always = not in_loop and any(
            self._refuted(values, [missed, *corner]) for corner in values.thread.corners()
        )
        return always or self._wraps_in_a_corner(value, reading, path)

    def _wraps_in_a_corner(self, value: Instruction, reading: Reading, path: Expression) -> bool:
        """Whether wherever some thread makes a value, a thread in a corner of the grid does, and it
        wraps there: of loops, in their first iterations.
        """
        values, corner = self._values(), self._corner_values()
        assert value.block is not None
        first = {loop: Count() for loop in self.kernel.around(value.block)}
        counts = corner.counts_at(value.block, first)
        outside = _outside(corner.term(value, counts), bits(value.type), reading)
        wraps = both(corner.path(value.block, counts), outside)
        given = [path, negation(wraps), *corner.thread.facts, *self._assumed(corner)]
        return any(self._refuted(values, [*given, *at]) for at in corner.thread.corners())

    def _is_always_made(self, value: Instruction) -> bool:
        """Whether all ways through the kernel lead to a value; loops are taken to end."""
        block: Block | None = self.kernel.function.blocks[0]
        while block is not None and block is not value.block:
            block = self.kernel.cfg.postdominator[block]
        return block is not None

    def _kept_in_range(self, phi: Instruction, reading: Reading, values: Values) -> bool:
        """By induction: it is in range at first, and after an iteration if it was before."""
        block = phi.block
        assert block is not None
        loop = self.kernel.cfg.innermost[block]
        assert loop is not None
        width = bits(phi.type)
        any_counts = values.counts_at(block, {})
        first = {**any_counts, loop: Count()}
        if not self._refuted(
            values,
            [_outside(values.term(phi, first), width, reading), values.path(block, first)],
        ):
            return False
        (latch,) = (each for each in block.predecessors if each in loop.blocks)
        after = {**any_counts, loop: any_counts[loop].further(1)}
        return self._refuted(
            values,
            [
                _outside(values.term(phi, after), width, reading),
                _inside(values.term(phi, any_counts), width, reading),
                values.edge(latch, block, any_counts),
            ],
        )

    def _operands_apart(self, value: Instruction) -> bool:
        values = self._values()
        assert value.block is not None
        counts = values.counts_at(value.block, {})
        terms = [values.read(each, counts, "unsigned") for each in value.operands]
        path = values.path(value.block, counts)
        return any(
            self._has_none_of(values, one, other.possible, path)
            for one, other in (terms, terms[::-1])
        )

    def _has_none_of(self, values: Values, term: Term, bits: int | None, path: Expression) -> bool:
        """Whether none of some bits can be set in a number."""
        common = None if bits is None else masked(term, bits)
        return common is not None and self._refuted(values, [common.value != 0, path])


def _chooses_negative(value: Instruction) -> bool:
    """Whether a choice gives a number that has its highest bit, and for which nothing wraps."""
    return any(map(_is_negative, made_of(value, choices)))


def _is_negative(value: Value) -> bool:
    """Whether a number has its highest bit as it stands, or may be a bit by its sign."""
    if isinstance(value, Constant):
        return bool((value.number or 0) >> (bits(value.type) - 1))
    if not isinstance(value, Instruction) or value.operation is not SEXT:
        return False
    return value.operands[0].type == "i1"


def _is_moved(value: Instruction) -> bool:
    """Whether a value is another one less a constant."""
    return value.operation is ADD and any(
        isinstance(each, Constant) and _is_negative(each) for each in value.operands
    )


def _is_part(value: Instruction) -> bool:
    """Whether some bits of a number are meant, as by `x % 2`, rather than all of an index.

    One bit by its sign is -1 or 0, whatever it is.
    """
    if value.type == "i1":
        return True
    return value.operation is TRUNC and bits(value.type) < _INDEX


def _outside(term: Term, width: int, reading: Reading) -> Expression:
    least, most = bounds_of(width, reading)
    if term.constant is not None:
        return not least <= term.constant <= most
    return negation(_inside(term, width, reading))


def _inside(term: Term, width: int, reading: Reading) -> Expression:
    least, most = bounds_of(width, reading)
    return both(term.value >= least, term.value <= most)
