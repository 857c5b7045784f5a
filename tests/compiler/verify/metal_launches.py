"""What threads of kernels in Metal source do (`metal_kernels`), and which proofs that contradicts.

Each kernel is followed as it is written, thread by thread from barrier to barrier, as a generator
of Python that its statements are turned into. Threads of one simdgroup are taken to be in order
with each other; who reads what others write learns nothing from it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any

from assay.compiler.msl import KernelFunction, KernelLibrary, compile_library
from assay.compiler.verify import Effort, Launch, prove
from assay.proofs.names import names_of

from . import metal_kernels
from .meetings import RESTS_ON
from .metal_kernels import LENGTHS, OWN, THREADS, TILE, Expression, Statement

ABOUT = ("threadgroup races", "initialised", "buffer races", "bounds")
_BATCH = 25  # kernels that one source holds
_LANES = 32
_LAUNCHES = 5
_NUMBERS = (1, 2, 3, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 200)
_FUEL = 3000  # accesses of a launch
_MASK = 2**32 - 1
_PROVED, _WITHOUT_WRAPS = "proved", "proved without wraps"


class _TooLongError(Exception):
    """A launch does more than is followed."""


@dataclass(frozen=True, slots=True)
class _Access:
    thread: int
    simdgroup: int
    group: int
    epoch: int
    line: int
    value: int | None
    """What is written; None if that is not known."""
    is_write: bool


@dataclass(slots=True)
class _Launch:
    """What is done in a launch: accesses by memory and number, and what is outside."""

    n: int
    m: int
    groups: int
    wraps: bool = False
    outside: list[int] = field(default_factory=list)
    accesses: dict[tuple[Any, ...], list[_Access]] = field(
        default_factory=lambda: defaultdict(list)
    )
    count: int = 0

    def run(self, thread: Callable[..., Iterator[None]]) -> None:
        """All threads, from barrier to barrier, to which all of a threadgroup come."""
        for group in range(self.groups):
            actors = [_Thread(self, each, group) for each in range(THREADS)]
            running = [thread(each, each.index, group, self.n, self.m) for each in actors]
            while running:
                running = [each for each in running if next(each, self) is None]
                for actor in actors:
                    actor.epoch += 1

    def length(self, memory: str) -> int:
        """How many numbers a memory has."""
        return {"x": 4 * self.n, "y": 4 * self.m, "tile": TILE}[memory]


class _Thread:
    """What a thread calls for its statements."""

    def __init__(self, launch: _Launch, index: int, group: int) -> None:
        self.index, self.epoch = index, 0
        self._launch, self._group = launch, group

    def read(self, line: int, memory: str, index: int, size: int = 1) -> Any:
        """The numbers of an element; none is known of a memory that is written."""
        found = [self._touched(line, memory, index * size + part) for part in range(size)]
        return found[0] if size == 1 else found

    def write(self, line: int, memory: str, index: int, values: list[int | None]) -> None:
        """Write the numbers of an element."""
        for part, value in enumerate(values):
            self._touched(line, memory, index * len(values) + part, value, is_write=True)

    def own(self, line: int, index: int) -> None:
        """Touch the own array."""
        if index >= OWN:
            self._launch.outside.append(line)

    def cast(self, line: int, has: int, needs: int) -> None:
        """Read a variable as something of another size."""
        if needs > has:
            self._launch.outside.append(line)

    def below(self, line: int, memory: str, index: int, end: int) -> int | None:
        """Read first, and then look whether that was wanted."""
        value: int | None = self.read(line, memory, index)
        return value if index < end else 0

    def wrapped(self, value: int) -> int:
        """A number of 32 bits."""
        if not 0 <= value <= _MASK:
            self._launch.wraps = True
        return value & _MASK

    def _touched(
        self, line: int, memory: str, at: int, value: int | None = None, *, is_write: bool = False
    ) -> int | None:
        launch = self._launch
        launch.count += 1
        if launch.count > _FUEL * launch.groups:
            raise _TooLongError
        if at >= launch.length(memory):
            launch.outside.append(line)
            return 0 if memory == "x" else None
        if memory == "x":
            return (at * 7 + 3) % 11
        key = (memory, at, self._group) if memory == "tile" else (memory, at)
        launch.accesses[key].append(
            _Access(
                self.index,
                self.index // _LANES,
                self._group,
                self.epoch,
                line,
                value,
                is_write,
            )
        )
        return None


# -- statements as Python -------------------------------------------------------------------------


def _compiled(body: tuple[Statement, ...]) -> Callable[..., Iterator[None]]:
    lines = ["def thread(self, t, g, n, m):", *_lines(body, 1), " return", " yield"]
    names: dict[str, Any] = {}
    exec("\n".join(lines), {"min": min, "range": range}, names)
    return names["thread"]  # type: ignore[no-any-return]


def _lines(body: tuple[Statement, ...], depth: int, leaves: str = "return") -> Iterator[str]:
    indent = " " * depth
    for each in body:
        line = each.line

        def value(of: Expression, line: int = line) -> str:
            return _value(of, line)

        match each.kind, *each.what:
            case "let" | "set", name, of:
                yield f"{indent}{name} = {value(of)}"
            case "whole", name, memory, size, index:
                yield f"{indent}{name} = self.read({line}, {memory!r}, {value(index)}, {size})"
            case "put", memory, index, of:
                yield f"{indent}self.write({line}, {memory!r}, {value(index)}, [{value(of)}])"
            case "own", index, of, _:
                yield f"{indent}self.own({line}, {value(index)}); {value(of)}"
            case "wide", memory, index, of:
                yield f"{indent}w = {value(of)}"
                yield f"{indent}self.write({line}, {memory!r}, {value(index)}, [w, w])"
            case "copy", memory, to, source:
                yield f"{indent}w = self.read({line}, {memory!r}, {value(source)}, 2)"
                yield f"{indent}self.write({line}, {memory!r}, {value(to)}, w)"
            case "drop", of:
                yield f"{indent}{value(of)}"
            case "leave", condition:
                yield f"{indent}if {value(condition)}: {leaves}"
            case ("barrier",):
                yield f"{indent}yield"
            case "for", name, turns:
                yield f"{indent}for {name} in range({value(turns)}):"
                yield from _lines(each.body, depth + 1, "break")
            case "if", condition:
                yield f"{indent}if {value(condition)}:"
                yield from _lines(each.body, depth + 1, leaves)
                if each.other:
                    yield f"{indent}else:"
                    yield from _lines(each.other, depth + 1, leaves)


def _value(of: Expression, line: int) -> str:
    def value(each: Expression) -> str:
        return _value(each, line)

    match of:
        case "name", name:
            return str(name)
        case "number", number:
            return str(number)
        case "at" | "call", memory, index:
            return f"self.read({line}, {memory!r}, {value(index)})"
        case "below", memory, index, end:
            return f"self.below({line}, {memory!r}, {value(index)}, {value(end)})"
        case "choose", condition, index:
            return f"self.read({line}, 'x' if {value(condition)} else 'y', {value(index)})"
        case "mine", index, _:
            return f"self.own({line}, {value(index)})"
        case "part", name, _, part:
            return f"{name}[{part}]"
        case "cast", _, has, needs:
            return f"self.cast({line}, {has}, {needs})"
        case "min", one, other:
            return f"min({value(one)}, {value(other)})"
        case "?", condition, one, other:
            return f"({value(one)} if {value(condition)} else {value(other)})"
    operator, one, other = of
    if operator in "+-*":
        return f"self.wrapped({value(one)} {operator} {value(other)})"
    plain = {"&&": "and", "||": "or", "/": "//"}.get(operator, operator)
    return f"({value(one)} {plain} {value(other)})"


# -- what goes wrong ------------------------------------------------------------------------------


def _faults(launch: _Launch) -> dict[str, list[int]]:
    """Lines at which something surely goes wrong, by property."""
    found: dict[str, list[int]] = {}
    if launch.outside:
        found["bounds"] = launch.outside
    for key, accesses in launch.accesses.items():
        about = "threadgroup races" if key[0] == "tile" else "buffer races"
        pair = next((two for two in combinations(accesses, 2) if _race(*two)), None)
        if pair is not None:
            found[about] = sorted({each.line for each in pair})
        elif key[0] == "tile":
            found.setdefault("initialised", []).extend(_unwritten(accesses))
    return {about: lines for about, lines in found.items() if lines}


def _race(one: _Access, other: _Access) -> bool:
    if not (one.is_write or other.is_write):
        return False
    is_near = one.group == other.group
    if is_near and (one.simdgroup == other.simdgroup or one.epoch != other.epoch):
        return False
    if one.is_write and other.is_write:
        return None not in (one.value, other.value) and one.value != other.value
    return True


def _unwritten(accesses: list[_Access]) -> Iterator[int]:
    for each in accesses:
        if not each.is_write and not any(
            other.is_write
            and (other.epoch < each.epoch or other.simdgroup == each.simdgroup)
            and other.epoch <= each.epoch
            for other in accesses
        ):
            yield each.line


def found_in_launches(seed: int) -> dict[str, tuple[_Launch, list[int]]]:
    """What goes wrong in some launch of a seed's kernel; of several one in which nothing wraps."""
    body = metal_kernels.drawn(seed)
    thread, chance = _compiled(body), random.Random(seed)
    found: dict[str, tuple[_Launch, list[int]]] = {}
    for _ in range(_LAUNCHES):
        launch = _Launch(chance.choice(_NUMBERS), chance.choice(_NUMBERS), chance.choice((1, 2)))
        try:
            launch.run(thread)
        except _TooLongError:
            continue
        for about, lines in _faults(launch).items():
            if about not in found or (found[about][0].wraps and not launch.wraps):
                found[about] = launch, lines
    return {about: each for about, each in found.items() if not found.keys() & RESTS_ON[about]}


# -- proofs ---------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _library(start: int) -> KernelLibrary:
    seeds = range(start, start + _BATCH)
    functions = (metal_kernels.text(metal_kernels.drawn(seed), seed) for seed in seeds)
    return compile_library("\n".join([metal_kernels.HEAD, *functions]))


def function_of(seed: int) -> KernelFunction:
    """A seed's kernel, compiled with those around it."""
    return _library(seed // _BATCH * _BATCH).function(f"k{seed}")


def contradictions(seed: int, effort: Effort, *, optimised: bool = False) -> list[str]:
    """Proofs about the kernel of a seed that some launch contradicts."""
    found = found_in_launches(seed)
    if not found:
        return []
    given = answers(function_of(seed), tuple(found), effort, optimised=optimised)
    return [
        f"metal {seed}: {about} is proved; n = {launch.n}, m = {launch.m}, {launch.groups} groups "
        f"contradict it at statements {sorted(set(lines))[:3]}"
        for about, (launch, lines) in found.items()
        if given.get(about) in (_PROVED, *(() if launch.wraps else (_WITHOUT_WRAPS,)))
    ]


def answers(
    function: KernelFunction, about: tuple[str, ...], effort: Effort, *, optimised: bool = False
) -> Mapping[str, str]:
    """What the prover says of a kernel, by property."""
    launch = Launch(size=(THREADS, 1, 1), names=names_of(function), lengths=LENGTHS)
    given = prove(
        function.program(), launch, about, offers=False, effort=effort, optimised=optimised
    )
    return {
        each.about: _WITHOUT_WRAPS if each.rests_on and each.verdict == _PROVED else each.verdict
        for each in given
    }
