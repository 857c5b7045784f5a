"""What is assumed of the numbers in buffers that a kernel only reads.

`0 <= x[*] and x[*] < n` is about each number of a buffer, `distinct(x)` says that no two are equal,
and `distinct(x, y)` that no two pairs at one index are. Nothing is known of numbers that the kernel
may write, nor of what is read beyond a stated length, or as another type.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.sim.simt.ir.nodes import AddressRoot, Block, BufferRoot, Instruction, block_of
from assay.sim.simt.ir.operations.memory import LOAD

from ..conditions import both, negation, one_of
from ..terms import Expression, Term, quotient, signed

if TYPE_CHECKING:
    from ..counts import Counts
    from ..kernel import Kernel
    from ..values import Values
    from .assumptions import Scalar

Find = Callable[[str], Expression | None]
_MOST_READS = 4  # of a buffer before an access


@dataclass(frozen=True, slots=True)
class Elements:
    """A condition on each number of a buffer.

    Attributes:
        of: the first number of the buffer.
        holds: the condition, of what finds the numbers of names, and of the number.
        modulus: by which all the numbers leave the same rest, as far as that is written.
    """

    of: Scalar
    holds: Callable[[Find, Expression], Expression]
    modulus: int = 1


@dataclass(frozen=True, slots=True)
class Distinct:
    """No two indices at which buffers hold the same numbers, one of each buffer."""

    of: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """All that is assumed of numbers in buffers.

    Attributes:
        term: what a name is, in terms of a thread's values.
        lengths: bytes of buffers as far as they are stated, by the number of the parameter.
        named: the numbers in arrays that are spoken of one by one, such as `x[0]`.
    """

    term: Callable[[str, Values], Expression | None] = lambda name, values: None

    elements: tuple[Elements, ...] = ()
    distinct: tuple[Distinct, ...] = ()
    lengths: Mapping[int, Callable[[Values], Expression]] = field(default_factory=dict)
    named: tuple[Scalar, ...] = ()

    @property
    def buffers(self) -> list[Scalar]:
        """The first numbers of the buffers that are spoken of."""
        keys = itertools.chain.from_iterable(each.of for each in self.distinct)
        return [*(each.of for each in self.elements), *keys]

    def state(self, values: Values, load: Instruction, number: Term, at: Term) -> None:
        """Note what is known of a number that was read at a byte of its buffer."""
        for each in self.elements:
            if _reads(load, each.of):
                known = each.holds(self._find(values), number_of(each.of, number))
                fact = one_of(negation(self._is_inside(values, each.of, at)), known)
                values.facts.state(number.value, fact)

    def numbers(self, values: Values) -> Iterator[tuple[str, list[Expression]]]:
        """What each number of a buffer is, as conditions on some number, by the buffer's name."""
        for of in dict.fromkeys(each.of for each in self.elements):
            yield of.name, self._some("number", of, values)[1]

    def singles(self, values: Values) -> list[Expression]:
        """What is said of all numbers of a buffer, of those that are spoken of one by one."""
        found = [
            one_of(negation(self._is_there(values, one)), each.holds(self._find(values), number))
            for one, number in self._named(values)
            for each in self.elements
            if each.of.parameter == one.parameter
        ]
        for each in self.distinct:
            if len(each.of) > 1:
                continue
            of = [x for x in self._named(values) if x[0].parameter == each.of[0].parameter]
            for (one, a), (other, b) in itertools.combinations(of, 2):
                are_there = both(self._is_there(values, one), self._is_there(values, other))
                found.append(one_of(negation(are_there), a != b))
        return found

    def room(self, values: Values) -> Iterator[tuple[str, list[Expression]]]:
        """That as many numbers as buffers of stated length have can differ, by their names: that
        there are so many from the least that is allowed to the greatest.
        """
        for each in self.distinct:
            lengths = [self.lengths.get(of.parameter) for of in each.of]
            ways: Expression = 1
            known: list[Expression] = []
            for of in each.of:
                (low, least), (high, greatest) = (
                    self._some(name, of, values) for name in ("least", "greatest")
                )
                ways = ways * (quotient(high - low, self._modulus(of)) + 1)
                known += [*least, *greatest, low <= high]
            are_enough = [
                ways * (of.width // 8) > length(values) - of.width // 8
                for of, length in zip(each.of, lengths, strict=True)
                if length is not None
            ]
            if len(are_enough) == len(each.of):
                yield " and ".join(f"'{of.name}'" for of in each.of), [*known, one_of(*are_enough)]

    def _modulus(self, of: Scalar) -> int:
        """By what all numbers of a buffer leave the same rest."""
        return math.lcm(*(each.modulus for each in self.elements if each.of == of))

    def _find(self, values: Values) -> Find:
        return lambda name: self.term(name, values)

    def _named(self, values: Values) -> list[tuple[Scalar, Expression]]:
        """The numbers that are spoken of one by one, each with what it is."""
        found = ((each, self.term(each.name, values)) for each in self.named)
        return [(each, number) for each, number in found if number is not None]

    def _is_there(self, values: Values, one: Scalar) -> Expression:
        """Whether a number is within what is stated of its buffer's length."""
        length = self.lengths.get(one.parameter)
        return True if length is None else one.offset + one.width // 8 <= length(values)

    def _some(self, name: str, of: Scalar, values: Values) -> tuple[Expression, list[Expression]]:
        """Some number of a buffer, and what is assumed of it."""
        from ..native.building import integer

        number = integer(f"{name}.{of.name}")
        first = -(1 << of.width - 1) if of.is_signed else 0
        known = [each.holds(self._find(values), number) for each in self.elements if each.of == of]
        return number, [number >= first, number < first + (1 << of.width), *known]

    def unlike(
        self,
        one: tuple[Values, Instruction, Counts],
        other: tuple[Values, Instruction, Counts],
    ) -> Iterator[Expression]:
        """What two threads, before an access of each, surely read differently."""
        for each in self.distinct:
            mine, theirs = self._keys(each, *one), self._keys(each, *other)
            for a, b in itertools.product(mine, theirs):
                differ = one_of(*(x != y for x, y in zip(a.numbers, b.numbers, strict=True)))
                apart = both(a.holds, b.holds, a.index != b.index)
                yield one_of(negation(apart), differ)

    def _keys(
        self, distinct: Distinct, values: Values, access: Instruction, counts: Counts
    ) -> list[_Key]:
        """What a thread surely read of buffers at one index, before an access."""
        reads = [
            list(itertools.islice(_reads_before(values.kernel, access, each), _MOST_READS))
            for each in distinct.of
        ]
        return [self._key(distinct, values, loads, counts) for loads in itertools.product(*reads)]

    def _key(
        self,
        distinct: Distinct,
        values: Values,
        loads: tuple[Instruction, ...],
        counts: Counts,
    ) -> _Key:
        numbers, places, holds = [], [], []
        for of, load in zip(distinct.of, loads, strict=True):
            here = values.counts_at(block_of(load), counts)
            at = values.read(load.operands[0], here, "signed")
            size = of.width // 8
            numbers.append(values.term(load, here).value)
            places.append(quotient(at.value, size))
            holds.append(self._is_inside(values, of, at))
        holds += [place == places[0] for place in places[1:]]
        return _Key(tuple(numbers), places[0], both(*holds))

    def _is_inside(self, values: Values, of: Scalar, at: Term) -> Expression:
        """Whether a byte is where a number of a buffer begins, as far as its length is known."""
        size = of.width // 8
        whole: Expression = at.value % size == 0 if size > 1 else True
        length = self.lengths.get(of.parameter)
        if length is None:
            return whole
        return both(whole, at.value >= 0, at.value + size <= length(values))


@dataclass(frozen=True, slots=True)
class _Key:
    """Numbers at one index of several buffers, and what has to hold for that."""

    numbers: tuple[Expression, ...]
    index: Expression
    holds: Expression


def number_of(scalar: Scalar, term: Term) -> Expression:
    """A number as its type has it."""
    return signed(term, scalar.width).value if scalar.is_signed else term.value


def may_be_written(kernel: Kernel, scalar: Scalar) -> bool:
    """Whether a kernel may write into a buffer that is spoken of."""
    return any(
        isinstance(root, AddressRoot)
        or (isinstance(root, BufferRoot) and root.parameter == scalar.parameter)
        for root in kernel.written
    )


def _reads(load: Instruction, of: Scalar) -> bool:
    """Whether numbers of a buffer are read one by one, or as a vector of them."""
    root = load.root
    known = isinstance(root, BufferRoot) and root.parameter == of.parameter
    return known and load.element == f"i{of.width}"


def _reads_before(kernel: Kernel, access: Instruction, of: Scalar) -> Iterator[Instruction]:
    """Numbers of a buffer that a thread surely reads before an access, in the same iterations."""
    around = kernel.around(block_of(access))
    walk: Block | None = block_of(access)
    while walk is not None:
        if all(loop in around for loop in kernel.around(walk)):
            for each in walk.body:
                if each is access:
                    break
                if each.operation is LOAD and each.components == 1 and _reads(each, of):
                    yield each
        walk = kernel.cfg.dominator[walk]
