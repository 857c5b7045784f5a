"""What hosts often see to, of which the weakest that helps is offered."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.sim.simt.ir.nodes import BufferRoot, Constant

from ..assumed.assumptions import AssumptionError, Names, Scalar
from ..assumed.contents import may_be_written
from ..kernel import Kernel
from .rising import Bounds, Chosen, Rising, multiples_of, strongest

_AXES = "xyz"
_SIZES = ("grid", "groups")
_MOST_NUMBERS = 6
_ELEMENTS = (1, 2, 4, 8, 16)  # that one thread often works on
_LARGE = 4096  # that numbers are bounded by from below
_SMALL = 65536  # and from above
_MOST_STEP = 4096
_TILES = 8  # of which sizes of tiles in threadgroups are multiples, or powers of two
_POWER_OF_TWO = 64  # at least, of those that numbers may be multiples of
_MOST_PRIMES = 4


@dataclass(frozen=True, slots=True)
class Choices:
    """Extra assumptions by kind, the more natural first in each.

    Attributes:
        extents: that grids are no larger than numbers.
        usual: how strong each of these mostly is: a thread for each of a number, or for each four.
        large, small: that numbers are large, or small.
        multiples: that they are multiples.
        orders: that one number is no larger than another.
        distinct: that all numbers in a buffer differ.
        single: that grids have one threadgroup in a dimension.
    """

    extents: tuple[Rising, ...]
    usual: tuple[tuple[int, int], ...]
    large: tuple[Rising, ...]
    small: tuple[Rising, ...]
    multiples: tuple[Rising, ...]
    orders: tuple[Rising, ...]
    distinct: tuple[Rising, ...]
    single: tuple[Rising, ...]

    def tries(self) -> Iterator[list[Chosen]]:
        """What is assumed together: what is usual; what is as strong as it gets; and small numbers,
        which large ones would contradict.
        """
        usual, of_four = (
            [Chosen(each, at[way]) for each, at in zip(self.extents, self.usual, strict=True)]
            for way in range(2)
        )
        positive = [Chosen(each, 0) for each in self.large]
        multiples = [strongest(each) for each in self.multiples]
        others = [strongest(each) for each in (*self.orders, *self.distinct)]
        single = [strongest(each) for each in self.single]
        small = [strongest(each) for each in self.small]
        extents = [strongest(each) for each in self.extents]
        large = [strongest(each) for each in self.large]
        yield [*usual, *positive, *multiples, *others]
        yield [*of_four, *positive, *multiples, *others]
        yield [*extents, *large, *multiples, *others, *single]
        yield [*usual, *positive, *small, *others, *single]


def choices(
    kernel: Kernel,
    names: Names,
    lengths: Mapping[str, str],
    read: Collection[tuple[str, int]],
    *,
    unused: Collection[int],
) -> Choices:
    """Extra assumptions that may help.

    Args:
        kernel: what they are about.
        names: what they may speak of.
        lengths: bytes of arguments by name, as they are stated.
        read: integers that the kernel reads, by argument and offset in bytes.
        unused: dimensions of the grid in which it is known to have one thread.
    """
    numbers = _numbers(names, " ".join(lengths.values()), read)
    few = numbers[:_MOST_NUMBERS]
    steps = _steps(kernel)
    axes = [
        at
        for at, axis in enumerate(_AXES)
        if at not in unused and all(_can_be_said(f"{each}.{axis}", names) for each in _SIZES)
    ]
    # Threads of more dimensions are not counted together.
    products = _products(lengths, few) if len(axes) == 1 else []
    least = {each: 0 if names.scalars[each].is_signed else 1 for each in few}
    extents = [
        _extents(kernel, at, number, least.get(number, 1), steps)
        for at, number in _pairs(axes, [*products, *few])
    ]
    pairs = itertools.permutations(few, 2) if few == numbers else ()
    return Choices(
        extents=tuple(each for each, _ in extents),
        usual=tuple(at for _, at in extents),
        large=tuple(
            Rising(Bounds(f"{number} >=", range(low, _LARGE + 1))) for number, low in least.items()
        ),
        small=tuple(
            Rising(Bounds(f"{number} <=", range(_SMALL, low - 1, -1)))
            for number, low in least.items()
        ),
        multiples=tuple(_multiples(few, steps)),
        orders=tuple(Rising((f"{a} <= {b}",)) for a, b in pairs),
        distinct=tuple(_distinct(kernel, names)),
        single=tuple(Rising((f"groups.{_AXES[at]} == 1",)) for at in axes),
    )


def _numbers(names: Names, stated: str, read: Collection[tuple[str, int]]) -> list[str]:
    """Integers that matter: those that lengths are made of first."""
    known = [
        name
        for name, each in names.scalars.items()
        if ((each.argument, each.offset) in read or _speaks_of(stated, name))
        and _can_be_said(name, names)
    ]
    return sorted(known, key=lambda name: not _speaks_of(stated, name))


def _can_be_said(name: str, names: Names, form: str = "{} >= 1") -> bool:
    """Whether an assumption may name something: no word of Python, nor one of two meanings."""
    try:
        names.check(form.format(name), condition=True)
    except AssumptionError:
        return False
    return True


def _speaks_of(stated: str, name: str) -> bool:
    words = "".join(each if each.isalnum() or each in "_." else " " for each in stated)
    return name in words.split()


def _steps(kernel: Kernel) -> list[int]:
    """Numbers in the kernel that may be sizes of tiles, or of steps of its loops."""
    constants = {
        operand.number
        for each in kernel.function.instructions()
        for operand in each.operands
        if isinstance(operand, Constant) and operand.number is not None
    }
    return sorted({*kernel.size, *(each for each in constants if 1 < each <= _MOST_STEP)} - {1})


def _extents(
    kernel: Kernel, at: int, number: str, least: int, steps: Collection[int]
) -> tuple[Rising, tuple[int, int]]:
    """That a grid is no larger than a number, in threadgroups, threads, or several for each; and
    which of these is threads, and four for each.
    """
    axis, threads = _AXES[at], kernel.size[at]
    tiles = {each for each in steps if each % _TILES == 0}
    # The last threadgroups of ragged grids have fewer threads.
    of_groups = {1} if kernel.is_ragged else {*_powers(threads), *tiles}
    most = threads * _ELEMENTS[-1]
    factors = sorted(
        {each for each in of_groups if each % threads and each < most}
        | {threads * each for each in _ELEMENTS}
    )
    implied = (Rising(Bounds(f"{number} >=", range(least, each + 1))) for each in factors)
    texts = tuple(_extent(axis, threads, each, number) for each in factors)
    return Rising(texts, implied=tuple(implied)), (
        factors.index(threads),
        factors.index(4 * threads),
    )


def _pairs(axes: Sequence[int], numbers: Sequence[str]) -> list[tuple[int, str]]:
    """Dimensions of the grid with numbers: first those that mostly belong together, in order."""
    first = list(zip(axes, numbers, strict=False))
    return [*first, *(each for each in itertools.product(axes, numbers) if each not in first)]


def _extent(axis: str, threads: int, factor: int, number: str) -> str:
    thing, by = ("groups", factor) if factor % threads else ("grid", factor // threads)
    return f"{f'{by} * ' if by > 1 else ''}{thing}.{axis} <= {number}"


def _powers(threads: int) -> Iterator[int]:
    """Powers of two as far as several elements for each of some threads."""
    yield from itertools.takewhile(
        lambda each: each < threads * _ELEMENTS[-1], (1 << at for at in itertools.count())
    )


def _products(lengths: Mapping[str, str], numbers: Collection[str]) -> list[str]:
    """What lengths in bytes are products of, without constants: `m * n` of `4*m*n`."""
    found = dict.fromkeys(_without_constants(each) for each in lengths.values())
    return [each for each in found if each and each not in numbers]


def _without_constants(length: str) -> str:
    factors = _factors(ast.parse(length.strip(), mode="eval").body)
    return " * ".join(
        f"({ast.unparse(each)})" if isinstance(each, ast.BinOp) else ast.unparse(each)
        for each in factors
        if not isinstance(each, ast.Constant)
    )


def _factors(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        return [*_factors(tree.left), *_factors(tree.right)]
    return [tree]


def _multiples(numbers: Sequence[str], steps: Collection[int]) -> Iterator[Rising]:
    """That numbers are multiples of those that matter, by their prime factors."""
    powers = {prime: most for prime in _primes(steps) if (most := _most_power(prime, steps)) > 1}
    for number, (prime, most) in itertools.product(numbers, powers.items()):
        yield multiples_of(number, prime, most)


def _primes(steps: Collection[int]) -> list[int]:
    """The least primes that steps are made of, with two."""
    found = {2}
    for step in steps:
        rest = step
        for prime in range(2, step + 1):
            while rest % prime == 0:
                found.add(prime)
                rest //= prime
            if rest == 1:
                break
    return sorted(found)[:_MOST_PRIMES]


def _most_power(prime: int, steps: Collection[int]) -> int:
    """The largest power of a prime that divides a step."""
    most = _POWER_OF_TWO if prime == 2 else 1
    for step in steps:
        while step % (most * prime) == 0:
            most *= prime
    return most


def _distinct(kernel: Kernel, names: Names) -> Iterator[Rising]:
    for name, each in names.buffers.items():
        said = _can_be_said(name, names, "distinct({})")
        if said and not may_be_written(kernel, each) and _is_read(kernel, each):
            yield Rising((f"distinct({name})",))


def _is_read(kernel: Kernel, buffer: Scalar) -> bool:
    """Whether a kernel reads a buffer that an argument is."""
    roots = (each.root for each in kernel.accesses())
    return any(
        isinstance(root, BufferRoot) and root.parameter == buffer.parameter for root in roots
    )
