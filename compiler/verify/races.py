"""Whether two threads can access the same bytes without anything that orders the two."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from assay.sim.check import layout
from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    BufferRoot,
    Constant,
    Instruction,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
)
from assay.sim.simt.ir.operations.marks import ACCESS_KIND
from assay.sim.simt.ir.operations.memory import STORE
from assay.sim.site import Site

from .accesses import action, address, length
from .answers import (
    UNKNOWN_ARRAY,
    UNKNOWN_TARGET,
    Answer,
    Counterexample,
    Obstacle,
    answer,
)
from .conditions import both, negation, one_of
from .copies import Copies, copies_of, kind_of
from .counts import Counts
from .intervals import MEM_DEVICE, MEM_THREADGROUP, Interval, State, intervals
from .kernel import Kernel
from .memory.delinearise import Span, overlap
from .memory.pointers import buffers_behind, is_of_tables
from .memory.same_reads import same_reads
from .memory.same_values import are_alike, may_differ
from .memory.tallies import tallied
from .study import Study
from .terms import Expression
from .walks.lock_step import not_in_lock_step
from .walks.skipped import skipped
from .walks.visits import Visit, began, place, reached

THREADGROUP = "threadgroup races"
BUFFERS = "buffer races"
THREADGROUP_SPACES = (0, 3)  # of computed addresses: any, and threadgroup memory
_CONSTANT_SPACES = (2, 6)  # memory of an argument may be another's, too
_DEVICE_SPACES = (0, 1, *_CONSTANT_SPACES)
_UNKNOWN = "which copies are waited for is not known"
_TEXTURES = "textures that are written are not followed"


Which = Callable[[Instruction, Instruction], bool]
"""Of which two accesses it is asked whether they meet."""


def one_writes(one: Instruction, other: Instruction) -> bool:
    """Whether one of two accesses is a write."""
    return one.operation.writes_memory or other.operation.writes_memory


def of_stores(places: Collection[frozenset[Site]]) -> Which:
    """Those that both write, at some pairs of places."""

    def is_asked(one: Instruction, other: Instruction) -> bool:
        both_write = one.operation.writes_memory and other.operation.writes_memory
        return both_write and frozenset((one.site, other.site)) in places

    return is_asked


def of_reads(sites: Collection[Site]) -> Which:
    """Those of which one reads, at some places, and the other writes."""

    def is_asked(one: Instruction, other: Instruction) -> bool:
        return any(
            read.site in sites and read.operation.reads_memory and write.operation.writes_memory
            for read, write in ((one, other), (other, one))
        )

    return is_asked


def threadgroup_races(study: Study, which: Which = one_writes) -> Answer:
    """Whether two threads of a threadgroup race for its memory by some pairs of accesses."""
    kernel = study.kernel
    found = _Search(study, _is_of_threadgroup, which)
    found.obstacles += unknown_arrays(kernel)
    found.run(intervals(kernel, MEM_THREADGROUP), MEM_THREADGROUP)
    return found.answer(THREADGROUP)


def buffer_races(within: Study, between: Study) -> Answer:
    """Whether two threads of a grid race for a buffer.

    Args:
        within: two threads of one threadgroup, which barriers order.
        between: two threads of different threadgroups, which nothing orders.
    """
    kernel = within.kernel
    found = _Search(between, lambda root: isinstance(root, BufferRoot))
    found.obstacles += unknown_buffers(kernel)
    visits = tuple((block, State()) for block in kernel.cfg.order)
    found.run([Interval(None, {}, visits)])
    if within.effort.is_for_proofs and (found.examples or found.obstacles):
        return answer(BUFFERS, found.cases, found.examples, found.obstacles)
    inside = races_within(within)
    examples = [*found.examples, *inside.counterexamples]
    cases, obstacles = found.cases + inside.cases, [*found.obstacles, *inside.obstacles]
    return replace(answer(BUFFERS, cases, examples, obstacles), in_order=inside.in_order)


def may_meet(study: Study, which: Which) -> bool:
    """Whether there are accesses to a threadgroup's memory of some pairs between two barriers."""
    found = _Search(study, _is_of_threadgroup, which)
    return any(
        next(found.pairs(each), None) is not None
        for each in intervals(study.kernel, MEM_THREADGROUP)
    )


def _is_of_threadgroup(root: Root | None) -> bool:
    return isinstance(root, THREADGROUP_ROOTS)


def races_within(study: Study, which: Which = one_writes) -> Answer:
    """Whether two threads of one threadgroup race for a buffer by some pairs of accesses."""
    found = _Search(study, lambda root: isinstance(root, BufferRoot), which)
    found.run(intervals(study.kernel, MEM_DEVICE), MEM_DEVICE)
    return found.answer(BUFFERS)


class _Search:
    """Looks for races of two threads for memory behind some roots."""

    def __init__(
        self, study: Study, belongs: Callable[[Root | None], bool], which: Which = one_writes
    ) -> None:
        self.study = study
        self.belongs = belongs
        self.which = which
        self.copies = copies_of(study)
        self.examples: list[Counterexample] = []
        self.obstacles: list[Obstacle] = [*self.copies.obstacles]
        self._before = study.cases
        self._seen: set[frozenset[Instruction]] = set()

    @property
    def cases(self) -> int:
        """Questions that were asked."""
        return self.study.cases - self._before

    def answer(self, about: str) -> Answer:
        """What was found."""
        found = answer(about, self.cases, self.examples, self.obstacles)
        return replace(found, in_order=frozenset(self.study.in_order))

    def run(self, intervals: Iterable[Interval], flag: int = 0) -> None:
        """Look through intervals between barriers with a flag, until there are examples enough."""
        for interval in intervals:
            for one, other in self.pairs(interval):
                if self.study.effort.is_enough(self.examples, self.obstacles):
                    return
                places = frozenset((one.access, other.access))
                if places not in self._seen:
                    found = _race(self.study, self.copies, interval, one, other, flag)
                    self._note(places, found)

    def _note(
        self, places: frozenset[Instruction], found: list[Counterexample] | Obstacle | None
    ) -> None:
        if found is None:
            return
        self._seen.add(places)
        if isinstance(found, Obstacle):
            self.obstacles.append(found)
        else:
            self.examples += found

    def pairs(self, interval: Interval) -> Iterator[tuple[Visit, Visit]]:
        """Accesses of an interval to the same memory that are asked about."""
        visits = [
            Visit(access, state)
            for block, state in interval.visits
            for access in block.body
            if access.operation.accesses_memory and self.belongs(access.root)
        ]
        visits = [each for each in visits if self._may_be(each)]
        for one, other in itertools.combinations_with_replacement(visits, 2):
            meet = self.which(one.access, other.access)
            meet = meet and same_memory(one.access, other.access)
            meet = meet and not _are_atomic(one.access, other.access)
            if meet and self.study.meant(one.access, other.access):
                yield one, other

    def _may_be(self, visit: Visit) -> bool:
        """Whether a thread may come to an access in such iterations, as far as that is plain: many
        loops are surely not left in their first.
        """
        values = self.study.a
        return reached(values, visit, place(values, visit)) is not False


def unknown_arrays(kernel: Kernel) -> list[Obstacle]:
    """Accesses to threadgroup memory of which it is not known which array it is."""
    has_parameter = any(isinstance(x.root, ThreadgroupParameterRoot) for x in kernel.accesses())
    found = [*_through_pointers(kernel, THREADGROUP_SPACES), *_not_followed(kernel)]
    found += [
        Obstacle(why=UNKNOWN_ARRAY, site=access.site)
        for access in kernel.accesses()
        if isinstance(access.root, ThreadgroupArenaRoot) and has_parameter
    ]
    return found


def unknown_buffers(kernel: Kernel) -> list[Obstacle]:
    """Accesses through pointers, if they or accesses to buffers write."""
    writes = any(isinstance(root, BufferRoot | AddressRoot) for root in kernel.written)
    found = _through_pointers(kernel, _DEVICE_SPACES) if writes else []
    return [*found, *_not_followed(kernel)]


def _not_followed(kernel: Kernel) -> Iterator[Obstacle]:
    """Textures that are written, and waits for copies that are not understood."""
    for each in kernel.function.instructions():
        kind = kind_of(each) if each.operation is ACCESS_KIND else 0
        if kind not in (0, layout.KIND_COPY, layout.KIND_COPIED):
            yield Obstacle(why=_UNKNOWN if kind is None else _TEXTURES, site=each.site)


def _through_pointers(kernel: Kernel, spaces: tuple[int, ...]) -> list[Obstacle]:
    return [
        Obstacle(why=UNKNOWN_TARGET, site=access.site)
        for access in kernel.accesses()
        if isinstance(access.root, AddressRoot)
        and access.root.space in spaces
        and not _reads_unwritten(kernel, access)
    ]


def _reads_unwritten(kernel: Kernel, access: Instruction) -> bool:
    """Whether an access through a computed pointer surely reads a buffer that nobody writes to."""
    if access.operation.writes_memory or not isinstance(access.root, AddressRoot):
        return False
    if access.root.space in _CONSTANT_SPACES and is_of_tables(access.root.address):
        return True
    buffers = buffers_behind(access.root.address)
    return buffers is not None and buffers.isdisjoint(kernel.written)


def _are_atomic(one: Instruction, other: Instruction) -> bool:
    """Whether both are atomic, and of as many bytes: others are no order for each other."""
    both_are = one.operation.is_atomic and other.operation.is_atomic
    return both_are and length(one) == length(other)


def same_memory(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses may meet at all."""
    roots = (one.root, other.root)
    if one.root == other.root:
        return True
    if any(isinstance(root, ThreadgroupParameterRoot | BufferRoot) for root in roots):
        return False
    return any(isinstance(root, ThreadgroupArenaRoot) for root in roots)


def _race(
    study: Study, copies: Copies, interval: Interval, one: Visit, other: Visit, flag: int
) -> list[Counterexample] | Obstacle | None:
    """How two accesses meet; None if they cannot."""
    given = (study, copies, interval, one, other, flag)
    found = _meeting(*given)
    if found is not None or study.apart or study.together:
        return found
    both_write = one.access.operation.writes_memory and other.access.operation.writes_memory
    if both_write and _meeting(*given, in_order=True) is not None:
        # Compilers keep no order of a thread's stores to places that are not the same to it.
        study.in_order.add(frozenset((one.access.site, other.access.site)))
    return None


def _meeting(
    study: Study,
    copies: Copies,
    interval: Interval,
    one: Visit,
    other: Visit,
    flag: int,
    *,
    in_order: bool = False,
) -> list[Counterexample] | Obstacle | None:
    """How two accesses meet that nothing orders, or nothing but lock step; None if they cannot."""
    a, b = study.a, study.b
    here, there = place(a, one), place(b, other)
    # Lock step does not order them, nor a thread its own.
    are_free = copies.are_unordered(one.access, other.access) or (
        study.together and copies.have(one.access, other.access)
    )
    formulas = [*began(study, interval), reached(a, one, here), reached(b, other, there)]
    # Lock step says nothing of rows and columns.
    holds = _holds(study, both(*formulas))
    formulas += [
        are_free or _ordered(not_in_lock_step(study, one, other, here, there), in_order=in_order)
    ]
    mine, theirs = address(a, one.access, here), address(b, other.access, there)
    formulas.append(
        overlap(
            Span(mine.value, length(one.access), holds),
            Span(theirs.value, length(other.access), holds),
        )
    )
    if _write_the_same(one.access, other.access):
        # In one place that is harmless; halves of neighbours may differ.
        formulas.append(mine.value != theirs.value)
    # Which lane a copy does an element by is nobody's business.
    may_be_one = are_free and not study.apart
    if may_be_one and one.access is other.access:
        formulas.append(
            one_of(study.are_two, _copied_again(study, copies, one.access, here, there))
        )
    model = study.ask(formulas, may_be_one=may_be_one)
    if model.answer != "no":
        # Most pairs need no more than where they are.
        further = _more(study, (one.access, here), (other.access, there))
        for values, visit in ((a, one), (b, other)):
            further += skipped(values, interval, visit, flag)
        formulas += further
        model = study.ask(formulas, may_be_one=may_be_one) if further else model
    if model.answer == "no" or (
        are_alike(one.access, other.access)
        and _only_the_same(
            study, formulas, (one.access, here), (other.access, there), may_be_one=may_be_one
        )
    ):
        return None
    if model.answer == "unknown":
        lines = f"line {one.access.site.line} and line {other.access.site.line}"
        return Obstacle(why=f"whether {lines} meet is too hard", site=one.access.site)
    memory = one.access.root.name if one.access.root is not None else ""
    words = [(a, action(one.access), one.access), (b, action(other.access), other.access)]
    return study.examples(formulas, model, memory, words)


def _ordered(is_free: Expression, *, in_order: bool) -> Expression:
    return negation(is_free) if in_order else is_free


def _copied_again(
    study: Study, copies: Copies, access: Instruction, here: Counts, there: Counts
) -> Expression:
    """That two accesses are of two elements of a copy, or of the same one begun anew, not waited
    for.
    """
    copy = copies.of(access)
    if copy is None:
        return False
    assert copy.begin.block is not None and access.block is not None
    around = study.kernel.around(copy.begin.block)
    own = [each for each in study.kernel.around(access.block) if each not in around]
    again = one_of(*(here[x].term.value != there[x].term.value for x in around))
    element = one_of(*(here[x].term.value != there[x].term.value for x in own))
    return one_of(again, element) if access in copy.meanwhile else both(negation(again), element)


def _more(
    study: Study, one: tuple[Instruction, Counts], other: tuple[Instruction, Counts]
) -> list[Expression]:
    """What else is known of two threads that come to an access each."""
    a, b = study.a, study.b
    found = [*a.kernel.contents.unlike((a, *one), (b, *other))]
    found += tallied((a, *one), (b, *other))
    if isinstance(one[0].root, THREADGROUP_ROOTS):
        for each in (*same_reads(a, *one), *same_reads(b, *other)):
            found.append(each.fact)
            study.read_together.update(read.site for read in each.reads)
    return [each for each in found if each is not True]


def _only_the_same(
    study: Study,
    formulas: Sequence[Expression],
    one: tuple[Instruction, Counts],
    other: tuple[Instruction, Counts],
    *,
    may_be_one: bool,
) -> bool:
    """Whether two stores that meet surely write the same bits to the same place."""
    (a, b), ((mine, here), (theirs, there)) = (study.a, study.b), (one, other)
    begins = address(a, mine, here).value, address(b, theirs, there).value
    differ = may_differ(a, mine, here, b, theirs, there)
    if differ is True:
        return False
    apart = one_of(begins[0] != begins[1], differ)
    return study.can([*formulas, apart], may_be_one=may_be_one) == "no"


def _holds(study: Study, before: Expression) -> Callable[[Expression], bool]:
    return lambda condition: study.holds(before, condition)


def _write_the_same(one: Instruction, other: Instruction) -> bool:
    """Whether two stores surely write the same value."""
    if one.operation is not STORE or other.operation is not STORE:
        return False
    if one.components != 1 or other.components != 1 or one.element != other.element:
        return False
    mine, others = one.operands[1], other.operands[1]
    known = isinstance(mine, Constant) and isinstance(others, Constant)
    return known and mine.literal == others.literal  # type: ignore[attr-defined]
