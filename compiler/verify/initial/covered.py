"""Reads of which all bytes surely were written, seen from tables of addresses.

Of most accesses, an address is what its iteration says, such as the buffer of a ring, and what
thread and inner loops say, of which all numbers are known. Whether writes cover what is read is
then a matter of sets, and only what is left is asked of the solver, without threads: whether that
iteration came before, and begins at the same byte.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from assay.sim.lanes import LANES
from assay.sim.simt.ir.cfg import Loop

from ..accesses import length
from ..conditions import both, negation, one_of
from ..counts import Count
from ..facts import Facts
from ..memory.polynomials import Polynomial, polynomial
from ..solver import Model, solve
from ..study import Study
from ..terms import Expression
from ..walks.execution import NotKnown
from .tables import Flags, Numbers, Table, conjuncts, threads_numbers
from .writers import Place, Writer

_MOST_TURNS: Final = 64  # of a loop within the iteration
_MOST_ENTRIES: Final = 1 << 20
_FARTHEST: Final = 1 << 50  # addresses, of which keys are made
_MOST_APART: Final = 8  # iterations of a loop before the ring's that are told apart
_SECONDS: Final = 1.0
_SECONDS_OF_BOUND: Final = 0.1


@dataclass(frozen=True, slots=True)
class Read:
    """What is asked about: a read of some bytes.

    Attributes:
        formulas: what holds when it is executed.
        at: the byte.
        size: how many bytes, from there.
        inner: iterations of loops that a thread goes through by itself.
        part: the symbol of what part of the read it is, if it has parts.
    """

    formulas: Sequence[Expression]
    at: Expression
    size: int
    inner: Sequence[Count]
    part: Expression


@dataclass(frozen=True, slots=True)
class _Offsets:
    """Bytes that threads come to, from a common one on.

    Attributes:
        base: the common byte, without threads.
        offsets, threads: of each access, its distance from there and the thread.
    """

    base: Polynomial
    offsets: Numbers
    threads: Numbers


@dataclass(frozen=True, slots=True)
class _Cover:
    """Writes that cover all that is read, if a condition without threads holds."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class _Part:
    """What one write covers if a condition without threads holds.

    Attributes:
        condition: the condition.
        covered: of each read, whether it is covered.
        beside: what writes have in common that may be there together: their iterations, and the
            common byte.
    """

    condition: Expression
    covered: Flags
    beside: tuple[object, ...]


class Coverage:
    """Whether reads are covered by writes.

    Args:
        study: of many threads, of which `a` reads.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._writes: dict[Place, _Written | None] = {}

    def is_written(self, read: Read, places: Iterable[tuple[Place, frozenset[Loop]]]) -> bool:
        """Whether all that is read surely was written at some of the places.

        Args:
            read: the read.
            places: of writes, each with the loops of which the writing thread surely came to the
                iteration that is asked for.
        """
        offsets = self._read(read)
        if offsets is None:
            return False
        covers = _Once(self._covers(read, offsets, places))
        chosen: list[_Cover] = []
        while True:
            wrong = [negation(each.condition) for each in chosen]
            model = self._study.ask([*read.formulas, *wrong], _SECONDS)
            if model.answer == "no":
                return True
            following = (each for each in covers if each not in chosen and _holds(model, each))
            found = next(following, None) if model.answer == "yes" else None
            if found is None:
                return False
            chosen.append(found)

    # -- what is read -----------------------------------------------------------------------------

    def _read(self, read: Read) -> _Offsets | None:
        """Where all threads read; None if that is not known."""
        size, name = self._study.kernel.size, self._study.a.thread.name
        facts = [each for formula in read.formulas for each in conjuncts(formula)]
        used = self._study.facts.symbols_of(read.at)
        free = [count.free for count in read.inner if count.free.get_id() in used]
        free += [] if isinstance(read.part, int) else [read.part]
        numbers: dict[str, int] = {}
        for symbol in free:
            count = self._bound(symbol, facts)
            if count is None:
                return None
            numbers[_name(symbol)] = count
        table = _Axes(self._study.facts, name, size, numbers)
        if table.entries > _MOST_ENTRIES:
            return None
        may = np.ones(table.shape, bool)
        for each in facts:
            may &= table.truth(each).maybe
        return table.offsets(read.at, may)

    def _bound(self, symbol: Any, facts: Sequence[Expression]) -> int | None:
        """A number that a symbol is surely less than; None if it is not known."""
        thread, known = self._study.a.thread, self._study.facts
        axes = _Axes(known, thread.name, self._study.kernel.size, {_name(symbol): _MOST_TURNS})
        alone = [each for each in facts if known.symbols_of(each) <= axes.own]
        count = _turns(axes, alone)
        beyond = one_of(symbol < 0, symbol >= count)
        given = [*alone, *thread.facts, beyond]
        found = solve(given, known, _SECONDS_OF_BOUND, shows_numbers=False)
        return count if found.answer == "no" else None

    # -- what is written --------------------------------------------------------------------------

    def _covers(
        self,
        read: Read,
        offsets: _Offsets,
        places: Iterable[tuple[Place, frozenset[Loop]]],
    ) -> Iterator[_Cover]:
        split: list[tuple[Place, frozenset[Loop]]] = []
        parts: list[_Part] = []
        for place, given in places:
            written = self._written(place, given)
            if written is None:
                continue
            found = list(self._of_write(read, offsets, place, written))
            yield from _alone(found)
            parts += found
            for loop in written.apart:
                turns = ((loop, Count(offset=turn)) for turn in range(_MOST_APART))
                split += [(replace(place, known=(*place.known, x)), given) for x in turns]
        yield from _together(parts)
        for place, given in split:
            written = self._written(place, given)
            if written is not None:
                yield from _alone(self._of_write(read, offsets, place, written))

    def _of_write(
        self, read: Read, offsets: _Offsets, place: Place, written: _Written
    ) -> Iterator[_Part]:
        there = written.offsets
        if there is None or not len(there.offsets):
            return
        base, other = offsets.base.expression(), there.base.expression()
        mine, theirs = self._whose(place, offsets.threads), self._whose(place, there.threads)
        steps = range(0, length(place.write), read.size)
        bytes = np.concatenate([there.offsets + step for step in steps])
        keys = np.unique(_keys(bytes, np.tile(theirs, len(steps))))
        by = {0, int(there.offsets.min() - offsets.offsets.min())}
        for distance in sorted(by, key=abs):
            covered = np.isin(_keys(offsets.offsets + distance, mine), keys)
            condition = both(*written.conditions, base == other + distance)
            beside = (place.known, distance, str(other))
            yield _Part(condition, covered, beside)

    def _whose(self, place: Place, threads: Numbers) -> Numbers:
        """What has to be the same of the threads that write and read."""
        if place.is_mine:
            return threads
        return threads // LANES if place.is_near else np.zeros_like(threads)

    def _written(self, place: Place, given: frozenset[Loop]) -> _Written | None:
        if place not in self._writes:
            name = f"covering{len(self._writes)}"
            try:
                writer = Writer(self._study, place, name, given, is_guessed=False)
            except NotKnown:
                self._writes[place] = None
            else:
                self._writes[place] = _written(self._study, writer)
        return self._writes[place]


@dataclass(frozen=True, slots=True)
class _Written:
    """What a write is known to cover.

    Attributes:
        conditions: without threads, what makes threads execute it.
        offsets: what they write then; None if that is not known.
        apart: loops of which each iteration has conditions of its own.
    """

    conditions: tuple[Expression, ...]
    offsets: _Offsets | None
    apart: tuple[Loop, ...]


def _written(study: Study, writer: Writer) -> _Written | None:
    """What a write covers; None if nothing is known."""
    name = writer.values.thread.name
    turns = {writer.counts[loop].symbol: loop for loop in writer.free}
    conditions = [each for given in writer.conditions for each in conjuncts(given)]
    conditions += [count.term.value >= 0 for count in writer.counts.values()]
    if any(each is False for each in conditions):
        return None
    facts, size = study.facts, study.kernel.size
    alone = [_Axes(facts, name, size, {turn: _MOST_TURNS}) for turn in turns]
    short = {turn: _turns(each, conditions) for turn, each in zip(turns, alone, strict=True)}
    axes = _Axes(facts, name, size, short)
    if axes.entries > _MOST_ENTRIES:
        return None
    surely = np.ones(axes.shape, bool)
    plain: list[Expression] = []
    apart: list[Loop] = []
    for each in conditions:
        used = facts.symbols_of(each)
        if used and used.isdisjoint(axes.own):
            plain.append(each)
            continue
        before = {
            writer.earlier(loop).symbol: short[turn]
            for turn, loop in turns.items()
            if writer.earlier(loop).free.get_id() in used
        }
        holds = axes.always(each, before)
        surely &= holds
        if not holds.any() and used.isdisjoint(axes.own_of_thread):
            apart += [turns[turn] for turn in turns if axes.symbols[turn].get_id() in used]
    if apart:
        return _Written((), None, tuple(dict.fromkeys(apart)))
    return _Written(tuple(plain), axes.offsets(writer.start, surely), ())


def _turns(axes: _Axes, conditions: Iterable[Expression]) -> int:
    """How many of an axis' numbers there may be, as far as they and threads decide."""
    may = np.ones(axes.shape, bool)
    for each in conditions:
        if axes.facts.symbols_of(each) <= axes.own:
            may &= axes.truth(each).maybe
    some = np.flatnonzero(may.any(axis=0))
    return int(some[-1]) + 1 if len(some) else 1


class _Axes:
    """A table by threads of a threadgroup, on the first axis, and numbers from 0 on.

    Args:
        facts: knows formulas' symbols.
        thread: the thread's name.
        size: of the threadgroup.
        counts: how many numbers there are of further symbols.
    """

    def __init__(
        self, facts: Facts, thread: str, size: tuple[int, int, int], counts: Mapping[str, int]
    ) -> None:
        from ..native.building import integer

        self.facts, self.thread, self.size, self.counts = facts, thread, size, counts
        everyone = size[0] * size[1] * size[2]
        self.shape = (everyone, *counts.values())
        self.entries = int(np.prod(self.shape, dtype=object))
        self._index = _along(0, len(self.shape), everyone)
        given = threads_numbers(thread, size, self._index)
        of_thread = given.keys() - counts.keys()
        for axis, (symbol, count) in enumerate(counts.items(), start=1):
            given[symbol] = _along(axis, len(self.shape), count)
        self.symbols = {each: integer(each) for each in given}
        self.own = frozenset(each.get_id() for each in self.symbols.values())
        self.own_of_thread = frozenset(self.symbols[each].get_id() for each in of_thread)
        self._table = Table(given)
        self.truth = self._table.truth

    def always(self, condition: Expression, before: Mapping[str, int]) -> Flags:
        """Where a condition surely holds for all numbers of some more symbols."""
        if not before:
            return np.broadcast_to(self.truth(condition).surely, self.shape)
        wider = _Axes(self.facts, self.thread, self.size, {**self.counts, **before})
        if wider.entries > _MOST_ENTRIES:
            return np.zeros(self.shape, bool)
        found = np.broadcast_to(wider.truth(condition).surely, wider.shape)
        return np.asarray(found.all(axis=tuple(range(len(self.shape), len(wider.shape)))))

    def offsets(self, at: Expression, where: Flags) -> _Offsets | None:
        """Addresses, where a flag is set, as a common one and what threads and numbers add."""
        parts = self._parted(at)
        if parts is None:
            return None
        base, own = parts
        numbers = self._table.number(own)
        if numbers is None or int(np.abs(numbers).max(initial=0)) >= _FARTHEST:
            return None
        everyone = np.broadcast_to(self._index, self.shape)
        return _Offsets(base, np.broadcast_to(numbers, self.shape)[where], everyone[where])

    def _parted(self, at: Expression) -> tuple[Polynomial, Expression] | None:
        """An address less what is known by number; None where the two are mixed."""
        whole = polynomial(at)
        if whole is None:
            return None
        kinds = {atom: self._kind(term) for atom, term in whole.atoms.items()}
        parts: dict[bool, dict[tuple[int, ...], int]] = {False: {}, True: {}}
        for product, coefficient in whole.products.items():
            found = {kinds[atom] for atom in product} or {True}
            if len(found) > 1 or None in found:
                return None
            parts[bool(found.pop())][product] = coefficient
        base, own = (Polynomial(parts[kind], whole.atoms) for kind in (False, True))
        return base, own.expression()

    def _kind(self, term: Expression) -> bool | None:
        """Whether a term is known by number; None if in part."""
        used = self.facts.symbols_of(term)
        return True if used <= self.own else False if used.isdisjoint(self.own) else None


def _alone(parts: Iterable[_Part]) -> Iterator[_Cover]:
    """Writes of which one covers all."""
    yield from (_Cover(each.condition) for each in parts if each.covered.all())


def _together(parts: Iterable[_Part]) -> Iterator[_Cover]:
    """Writes of which one covers what others leave, such as the halves of a row."""
    groups: dict[tuple[object, ...], list[_Part]] = {}
    for each in parts:
        if each.covered.any() and not each.covered.all():
            groups.setdefault(each.beside, []).append(each)
    for group in groups.values():
        left = ~np.zeros_like(group[0].covered)
        needed: list[Expression] = []
        for each in group:
            if (left & each.covered).any():
                needed.append(each.condition)
                left &= ~each.covered
        if not left.any():
            yield _Cover(both(*needed))


def _name(symbol: Any) -> str:
    return str(symbol.decl().name())


def _along(axis: int, axes: int, count: int) -> Numbers:
    return np.arange(count).reshape([-1 if at == axis else 1 for at in range(axes)])


def _keys(offsets: Numbers, whose: Numbers) -> Numbers:
    """Numbers that tell bytes apart, and who is meant."""
    return offsets * (1 << 11) + whose


def _holds(model: Model, cover: _Cover) -> bool:
    """Whether a cover is right where a model is."""
    if isinstance(cover.condition, bool):
        return cover.condition
    import z3

    return bool(z3.is_true(model.numbers.eval(cover.condition, model_completion=True)))


class _Once:
    """Goes through an iterator several times, but asks each of its items once."""

    def __init__(self, items: Iterator[_Cover]) -> None:
        self._items = items
        self._known: list[_Cover] = []

    def __iter__(self) -> Iterator[_Cover]:
        for at in itertools.count():
            if at == len(self._known):
                following = next(self._items, None)
                if following is None:
                    return
                self._known.append(following)
            yield self._known[at]


__all__ = ["Coverage", "Read"]
