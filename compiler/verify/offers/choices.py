"""What hosts often see to, of which the weakest that helps is offered."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator, Mapping

from assay.sim.simt.ir.nodes import BufferRoot, Constant

from ..assumed.assumptions import Names, Scalar
from ..assumed.contents import may_be_written
from ..kernel import Kernel
from .rising import Rising, multiples_of

_AXES = "xyz"
_MOST_NUMBERS = 6
_BOUNDS = range(1, 4097)  # that numbers are compared with
_ELEMENTS = (1, 2, 4, 8, 16)  # that one thread often works on
_MOST_TILE = 1024
_MOST_STEP = 1024
_POWER_OF_TWO = 64  # at least, of those that numbers may be multiples of
_PRIMES = (2, 3, 5, 7)  # of sizes of tiles


def choices(
    kernel: Kernel,
    names: Names,
    lengths: Mapping[str, str],
    read: Collection[tuple[str, int]],
    *,
    unused: Collection[int],
) -> tuple[list[Rising], ...]:
    """Extra assumptions, the more natural first; in lists that are tried one after the other, since
    large numbers and small ones help against unlike things.

    Args:
        kernel: what they are about.
        names: what they may speak of.
        lengths: bytes of arguments by name, as they are stated.
        read: integers that the kernel reads, by argument and offset in bytes.
        unused: dimensions of the grid in which it is known to have one thread.
    """
    numbers = _numbers(names, " ".join(lengths.values()), read)
    steps = _steps(kernel)
    # Arguments may have names such as grid.x, too.
    axes = [
        at
        for at, axis in enumerate(_AXES)
        if at not in unused and not {f"grid.{axis}", f"groups.{axis}"} & set(names.scalars)
    ]
    # Threads of more dimensions are not counted together.
    products = _elements(lengths, numbers) if len(axes) == 1 else []
    pairs = [Rising((f"{a} <= {b}",)) for a, b in itertools.permutations(numbers, 2)]
    others = [
        *_distinct(kernel, names),
        *(Rising((f"groups.{_AXES[at]} == 1",)) for at in axes),
    ]
    large = [
        *(Rising(tuple(f"{number} >= {each}" for each in _BOUNDS)) for number in numbers),
        *_extents(kernel, axes, [*products, *numbers], steps),
        *_multiples(numbers, steps),
        *pairs,
        *others,
    ]
    small = [
        *(Rising(tuple(f"{number} <= {each}" for each in _BOUNDS[::-1])) for number in numbers),
        *pairs,
        *others,
    ]
    return large, small


def _numbers(names: Names, stated: str, read: Collection[tuple[str, int]]) -> list[str]:
    """Integers that matter: those that lengths are made of first."""
    known = [
        name
        for name, each in names.scalars.items()
        if (each.argument, each.offset) in read or _speaks_of(stated, name)
    ]
    return sorted(known, key=lambda name: not _speaks_of(stated, name))[:_MOST_NUMBERS]


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
    kernel: Kernel, axes: Collection[int], numbers: Collection[str], steps: Collection[int]
) -> Iterator[Rising]:
    """That grids are no larger than numbers, in threadgroups, threads, or several for each."""
    for at, number in itertools.product(axes, numbers):
        axis, threads = _AXES[at], kernel.size[at]
        per_group = {each for each in (*_powers(threads), *steps) if each < _MOST_TILE}
        # The last threadgroups of ragged grids have fewer threads.
        of_groups = {1} if kernel.is_ragged else {each for each in per_group if each % threads}
        factors = sorted({*of_groups, *(threads * each for each in _ELEMENTS)})
        yield Rising(tuple(_extent(axis, threads, each, number) for each in factors))


def _extent(axis: str, threads: int, factor: int, number: str) -> str:
    size, by = (
        (f"groups.{axis}", factor) if factor % threads else (f"grid.{axis}", factor // threads)
    )
    return f"{f'{by} * ' if by > 1 else ''}{size} <= {number}"


def _powers(threads: int) -> Iterator[int]:
    """Powers of two as far as several elements for each of some threads."""
    yield from itertools.takewhile(
        lambda each: each <= threads * _ELEMENTS[-1], (1 << at for at in itertools.count())
    )


def _elements(lengths: Mapping[str, str], numbers: Collection[str]) -> list[str]:
    """Products that lengths in bytes are stated by, without their numbers: `m * n` of `4*m*n`."""
    found = dict.fromkeys(_without_numbers(each) for each in lengths.values())
    return [each for each in found if each and each not in numbers]


def _without_numbers(length: str) -> str:
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


def _multiples(numbers: Collection[str], steps: Collection[int]) -> Iterator[Rising]:
    """That numbers are multiples of those that matter, by their prime factors."""
    for number, prime in itertools.product(numbers, _PRIMES):
        most = max((_power(prime, each) for each in steps), default=1)
        most = max(most, _POWER_OF_TWO) if prime == 2 else most
        if most > 1:
            yield multiples_of(number, prime, most)


def _power(prime: int, number: int) -> int:
    """The largest power of a prime that divides a number."""
    found = 1
    while number % (found * prime) == 0:
        found *= prime
    return found


def _distinct(kernel: Kernel, names: Names) -> Iterator[Rising]:
    for name, each in names.buffers.items():
        if not may_be_written(kernel, each) and _is_read(kernel, each):
            yield Rising((f"distinct({name})",))


def _is_read(kernel: Kernel, buffer: Scalar) -> bool:
    """Whether a kernel reads a buffer that an argument is."""
    roots = (each.root for each in kernel.accesses())
    return any(
        isinstance(root, BufferRoot) and root.parameter == buffer.parameter for root in roots
    )
