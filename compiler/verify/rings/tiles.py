"""Whether each iteration of a ring's loop reads the tile loaded for it, and none is lost whole.

What the loop loads in iteration j is taken as a formula of j, which stands for whole numbers below
0 as well: the tiles that are loaded before the loop have to be what it says there. Then one formula
tells what is read in iteration k, for all k.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from assay.sim.simt.ir.cfg import Loop
from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Block, Instruction, ThreadgroupArenaRoot, ThreadgroupRoot
from assay.sim.simt.ir.operations.memory import STORE

from ..accesses import address, length
from ..answers import UNKNOWN_ARRAY, Obstacle
from ..conditions import both, negation, one_of
from ..copies import Copies, copies_of
from ..counts import Count, Counts
from ..initial.search import Search
from ..initial.writers import Place, Writer
from ..intervals import MEM_THREADGROUP, Interval, intervals
from ..loops import Orbit, Settled
from ..positions import Positions
from ..races import unknown_arrays
from ..study import Study
from ..terms import Expression
from ..values import Values
from ..walks.execution import Execution, NotKnown
from ..walks.visits import Visit, place
from .equal import same_thread, substituted
from .origins import begun_elsewhere, first_tile
from .rotation import Ring
from .same import Comparison, Maker, Zeros
from .staged import Staged, are_written_twice, in_turn
from .whole import leading_to

_SOON_S: Final = 0.25  # that the same thread does it is mostly plain, or hard to tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """What is known of the tiles of a ring.

    Attributes:
        are_in_order: whether it is proved that each iteration reads what was loaded for it.
        are_read: whether it is proved that some part is read of each tile that is loaded in the
            loop, or before it.
        first: which tile of the buffers that are loaded from the first iteration reads, if that
            shows; all of them if it is not 0.
        obstacles: why not.
        rests_on: what was taken not to wrap, at places of the source, without being proved.
    """

    are_in_order: bool
    are_read: bool
    first: int | None = None
    obstacles: tuple[Obstacle, ...] = ()
    rests_on: tuple[Obstacle, ...] = ()

    @property
    def proved(self) -> int:
        """How much is: that none is stale, and that none is lost whole."""
        return self.are_in_order + self.are_read


def tiles_of(study: Study, ring: Ring) -> Tiles:
    """Whether tiles are stale or lost.

    Args:
        study: of many threads.
        ring: how buffers go round.
    """
    ahead = ring.rotation.ahead
    copies = copies_of(study)
    found = list(_beyond(study, ring, copies))
    if found or ahead is None:
        return Tiles(are_in_order=False, are_read=False, obstacles=tuple(found))
    proof = _Proof(study, ring, ahead, copies)
    first = proof.first()
    stale = list(itertools.islice(proof.stale(), 1))
    if first:
        why = f"the first iteration reads tile {first}, counted from 0"
        stale.append(Obstacle(why=why, site=ring.rotation.site))
    stale += [] if stale else itertools.islice(proof.begun_elsewhere(), 1)
    unread = list(itertools.islice(proof.unread(), 1))
    return Tiles(
        are_in_order=not stale,
        are_read=not unread,
        first=first,
        obstacles=tuple(dict.fromkeys(stale + unread)),
    )


def _beyond(study: Study, ring: Ring, copies: Copies) -> Iterator[Obstacle]:
    """Why nothing can be said of a ring's tiles."""
    rotation, loop = ring.rotation, ring.loop
    if not (rotation.is_distinct or (rotation.is_proved and rotation.ahead == 0)):
        yield Obstacle(why="how its buffers go round is not proved", site=rotation.site)
    elif rotation.ahead is None or not rotation.is_one_by_one:
        why = "not each iteration writes one buffer, and reads one that was written before"
        yield Obstacle(why=why, site=rotation.site)
    elif rotation.is_overwritten:
        why = "a tile that is loaded is overwritten before it is read"
        yield Obstacle(why=why, site=rotation.site)
    for phi in loop.header.phis:
        rule = study.a.rule(phi, loop)
        if isinstance(rule, Settled) or (isinstance(rule, Orbit) and rule.prefix):
            yield Obstacle(
                why="what goes on otherwise than it began is not followed", site=phi.site
            )
    for access in study.kernel.accesses():
        if access.root == ring.root and _is_otherwise_written(access):
            yield Obstacle(why="what it writes is not compared", site=access.site)
        elif isinstance(access.root, ThreadgroupArenaRoot):
            yield Obstacle(why=UNKNOWN_ARRAY, site=access.site)
    yield from _from_turns_around(study, ring)
    yield from copies.obstacles
    yield from unknown_arrays(study.kernel)


def _from_turns_around(study: Study, ring: Ring) -> Iterator[Obstacle]:
    """What is written before the loop, but once for many times that the loop is come to."""
    kernel, order = study.kernel, study.kernel.cfg.index
    around = set(kernel.around(ring.loop.header)[:-1])
    for access in kernel.accesses():
        block = access.block
        if access.root != ring.root or not access.operation.writes_memory or block is None:
            continue
        if order[block] < order[ring.loop.header] and not around.issubset(kernel.around(block)):
            why = "what comes before a loop around is not what each of its iterations begins with"
            yield Obstacle(why=why, site=access.site)


def _is_otherwise_written(access: Instruction) -> bool:
    return access.operation.writes_memory and access.operation is not STORE


def _ends(thread: Positions) -> Iterator[list[Expression]]:
    """What makes it the first thread of its threadgroup, and the last one. Which threadgroup that
    is stays open: it is the one that loaded the tile.
    """
    yield [each.value == 0 for each in thread.place]
    yield [each.value == n - 1 for each, n in zip(thread.place, thread.size, strict=True)]


class _Proof:
    """Asks what may go wrong with the tiles of one ring."""

    def __init__(self, study: Study, ring: Ring, ahead: int, copies: Copies) -> None:
        self._study = study
        self._ring = ring
        self._loop: Loop = ring.loop
        self._ahead = ahead
        self._search = Search(study, copies)
        self._staged = Staged(study, self._search, self._loop)
        self._zeros: Zeros = {}
        order = study.kernel.cfg.index
        self._writes = writes = [
            each
            for each in study.kernel.accesses()
            if each.root == ring.root and each.operation.writes_memory and each.block is not None
        ]
        self._inside = [each for each in writes if each.block in self._loop.blocks]
        self._before = [
            each
            for each in writes
            if each not in self._inside and order[each.block] < order[self._loop.header]  # type: ignore[index]
        ]
        reads = [
            each.access
            for each in ring.accesses
            if each.access.operation.reads_memory and each.access.block is not None
        ]
        self._reading = list(dict.fromkeys(each.block for each in reads if each.block is not None))
        self._names = itertools.count()

    def first(self) -> int | None:
        """Which tile the first iteration reads; of what it loads itself that is not asked."""
        if self._ahead == 0:
            return None
        threads = [(load, writer.first if writer else 0) for load, writer in self._loading()]
        return first_tile(self._study, self._loop, threads, self._ahead)

    def begun_elsewhere(self) -> Iterator[Obstacle]:
        """Where threads, or threadgroups, begin with another tile than the first ones."""
        if self._ahead == 0:
            return iter(())
        writers = [writer for _, writer in self._loading() if writer is not None]
        return begun_elsewhere(self._study, self._loop, writers, self._ahead)

    def _loading(self) -> Iterator[tuple[Instruction, Writer | None]]:
        """What the loop loads, and who does it, if that is known."""
        for load in self._inside:
            yield load, self._writer(load, {self._loop: Count("first")})

    # -- stale ------------------------------------------------------------------------------------

    def stale(self) -> Iterator[Obstacle]:
        """What may be read that was loaded for another iteration."""
        yield from self._twice
        for interval in intervals(self._study.kernel, MEM_THREADGROUP):
            for block, state in interval.visits:
                for access in block.body:
                    is_read = access.root == self._ring.root and access.operation.reads_memory
                    if is_read and block in self._loop.blocks:
                        yield from self._of_read(interval, Visit(access, state))

    def _of_read(self, interval: Interval, visit: Visit) -> Iterator[Obstacle]:
        counts = place(self._study.a, visit)
        now = counts[self._loop]
        if now.is_own or now.after is not None:
            yield Obstacle(why="which iteration it is of is not known", site=visit.access.site)
            return
        then = now.further(-self._ahead)

        def is_then(where: Place) -> bool:
            return dict(where.known).get(self._loop) == then

        def is_before(where: Place) -> bool:
            is_same = all(counts.get(loop) == count for loop, count in where.known)
            return where.write in self._before and is_same

        later = now.term.value >= self._ahead
        if not self._search.is_written(interval, visit, [later], is_then):
            why = f"it may read what was not loaded {self._ahead} iterations before"
            yield Obstacle(why=why, site=visit.access.site)
        first = now.term.value < self._ahead
        if not self._search.is_written(interval, visit, [first], is_before):
            why = "it may read what was not loaded before the loop"
            yield Obstacle(why=why, site=visit.access.site)
        for write in self._before:
            if not self._goes_on(interval, visit, write, first):
                why = "what is loaded before the loop is not what the loop would load"
                yield Obstacle(why=why, site=write.site)

    def _goes_on(
        self, interval: Interval, visit: Visit, write: Instruction, first: Expression
    ) -> bool:
        """Whether what a write before the loop left for one of the first iterations is what the
        loop's own formula says.
        """
        study = self._study
        question = self._search.question(interval, visit)
        counts = place(study.a, visit)
        now = counts[self._loop]
        formulas = [*question.formulas, first]
        if not now.symbol:
            fixed, now = now, Count(f"tile.{next(self._names)}")
            formulas += [now.free == fixed.offset]
        thread = study.thread(f"before{next(self._names)}")
        own = self._own(thread, write, counts)
        start = address(thread, write, own).value
        assert write.block is not None
        formulas += [*thread.thread.facts, thread.path(write.block, own)]
        ends = question.at + question.size, start + length(write)
        is_whole = both(start <= question.at, ends[0] <= ends[1])
        overlaps = [start < ends[0], question.at < ends[1]]
        if study.can([*formulas, *overlaps, negation(is_whole)]) != "no":
            return False  # what is written in part is not what the loop would load
        formulas.append(is_whole)
        known = {loop: count for loop, count in counts.items() if loop is not self._loop}
        then = {**known, self._loop: now.further(-self._ahead)}
        mine = Maker(thread, own, write.block)
        unlike = [
            each
            for load in self._inside
            for each in self._unlike(load, then, question.at, write, mine, start, formulas)
        ]
        by_same, by_others = zip(*unlike, strict=True) if unlike else ((), ())
        tries = ((by_same, _SOON_S), (by_others, None), (by_same, None))
        return any(study.can([*formulas, *each], seconds) == "no" for each, seconds in tries)

    def _unlike(
        self,
        load: Instruction,
        then: Counts,
        at: Expression,
        write: Instruction,
        mine: Maker,
        start: Expression,
        formulas: Sequence[Expression],
    ) -> Iterator[tuple[Expression, Expression]]:
        """That a write of the loop, in an iteration, does not leave at a byte what another did: as
        far as the same thread does it, and as far as the one does whose byte it is.
        """
        widths = bits(load.element) == bits(write.element)
        alike = load.components == write.components and widths
        writer = self._writer(load, then) if alike else None
        if writer is None:
            return
        now = then[self._loop].further(self._ahead)
        theirs = Maker(writer.values, writer.counts, load.block)
        compared = Comparison(mine, theirs, self._staged, zeros=self._zeros)
        right = both(
            writer.executes,
            writer.start == start,
            *map(compared.same, write.operands[1:], load.operands[1:]),
        )
        unlike = both(*compared.definitions, negation(right))
        by_same = same_thread(self._study, formulas, writer, mine, now)
        by_other: Expression = True  # whose byte it is may not be known
        if writer.digits is not None:
            who = writer.who(at)
            by_other = one_of(negation(who.is_one), both(who.it_is, unlike))
        yield substituted(unlike, by_same), by_other

    def _writer(self, load: Instruction, then: Counts) -> Writer | None:
        """The thread that does a write of the loop in given iterations; None if it is not known."""
        assert load.block is not None
        around = self._study.kernel.around(load.block)
        known = tuple((loop, then[loop]) for loop in around if loop in then)
        given = frozenset(loop for loop, _ in known)
        name = f"tile{next(self._names)}"
        try:
            return Writer(self._study, Place(load, known), name, given)
        except NotKnown:
            return None

    def _own(self, thread: Values, write: Instruction, counts: Counts) -> Counts:
        """Iterations of a write before the loop: any, but of the loops around both."""
        assert write.block is not None
        own = {
            loop: counts.get(loop) or Count(f"{thread.thread.name}.{at}")
            for at, loop in enumerate(self._study.kernel.around(write.block))
        }
        return thread.counts_at(write.block, own)

    @cached_property
    def _twice(self) -> list[Obstacle]:
        """What of the loop is written twice: it may be stale, and is lost."""
        return list(self._written_twice(self._inside, "an iteration may write it twice"))

    def _written_twice(self, writes: list[Instruction], why: str) -> Iterator[Obstacle]:
        for write in are_written_twice(self._study, self._loop, writes):
            yield Obstacle(why=why, site=write.site)

    # -- lost -------------------------------------------------------------------------------------

    def unread(self) -> Iterator[Obstacle]:
        """What may be loaded and not read."""
        study = self._study
        yield from self._twice
        yield from self._written_twice(self._before, "it may be written twice before the loop")
        yield from self._between_loops()
        for load in self._inside:
            assert load.block is not None
            counts = in_turn(study, self._loop, study.a, load)
            path = [study.a.path(load.block, counts)]
            if not self._is_read(path, counts, counts[self._loop].further(self._ahead)):
                why = f"what it loads may not be read: {self._ahead} iterations later there is none"
                yield Obstacle(why=why, site=load.site)
        for write in self._before:
            yield from self._unread_before(write)

    def _unread_before(self, write: Instruction) -> Iterator[Obstacle]:
        study = self._study
        assert write.block is not None
        outer = self._study.kernel.around(self._loop.header)[:-1]
        around = {loop: Count(f"turn.{at}") for at, loop in enumerate(outer)}
        counts = self._own(study.a, write, around)
        path = [study.a.path(write.block, counts)]
        at = address(study.a, write, counts).value
        if study.can([*path, self._is_beyond(at, length(write))]) != "no":
            yield Obstacle(why="it may be in no buffer of the ring", site=write.site)
        for buffer in range(self._ring.rotation.buffers):
            is_here = [*path, *self._is_in(buffer, at, length(write))]
            turn = self._read_in(buffer)
            if turn is None and study.can(is_here) != "no":
                why = "it is overwritten before it is read"
                yield Obstacle(why=why, site=write.site)
            elif turn is not None and not self._is_read(is_here, around, Count(offset=turn)):
                why = f"it may not be read: there may be no iteration {turn}"
                yield Obstacle(why=why, site=write.site)

    def _between_loops(self) -> Iterator[Obstacle]:
        """What is written behind the loop where it is come to again."""
        leading = leading_to(self._loop.header)
        for write in self._writes:
            is_known = write in self._inside or write in self._before
            if write.block in leading and not is_known:
                why = "it is written behind the loop, which may be come to again"
                yield Obstacle(why=why, site=write.site)

    def _read_in(self, buffer: int) -> int | None:
        """Which of the first iterations reads a buffer that was written before the loop."""
        reads = self._ring.rotation.read
        turns = [turn for turn in range(self._ahead) if buffer in reads[turn % len(reads)]]
        return turns[0] if turns else None

    def _is_in(self, buffer: int, at: Expression, size: int) -> list[Expression]:
        """That some of what is written is in a buffer."""
        stride = self._ring.rotation.stride
        begin = self._begin + buffer * stride
        return [at + size > begin, at < begin + stride]

    def _is_beyond(self, at: Expression, size: int) -> Expression:
        """That some of what is written is in no buffer of the ring."""
        rotation = self._ring.rotation
        end = self._begin + rotation.buffers * rotation.stride
        return one_of(at < self._begin, at + size > end)

    @property
    def _begin(self) -> int:
        """Where the ring's array begins."""
        root = self._ring.root
        return root.start if isinstance(root, ThreadgroupRoot) else 0

    def _is_read(self, formulas: list[Expression], counts: Counts, turn: Count) -> bool:
        """Whether some thread surely comes to a read of the ring in an iteration."""
        around = self._study.kernel.around(self._loop.header)[:-1]
        known = {loop: counts[loop] for loop in around}
        return any(self._comes(block, formulas, known, turn) for block in self._reading)

    def _comes(self, block: Block, formulas: list[Expression], known: Counts, turn: Count) -> bool:
        """Whether some thread surely comes to a block, of inner loops in their first iteration."""
        inner = [each for each in self._study.kernel.around(block) if each not in known]
        first = {each: Count(offset=0) for each in inner}
        thread = self._study.b
        execution = Execution(thread, known)
        try:
            conditions = execution.conditions(block, {**known, **first, self._loop: turn})
        except NotKnown:
            return False
        missed = [*formulas, negation(both(*conditions))]
        someone = ([], *_ends(thread.thread))
        return any(self._study.can([*missed, *who]) == "no" for who in someone)
