"""What a random kernel does in one launch: threads one by one, all pairs of accesses compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .random_kernels import DATA, VARIABLES, RandomKernel, Tree

LANES = 32
_FUEL = 6_000  # statements of all threads
_WORDS = 0xFFFFFFFF
_MEM_THREADGROUP = 2
Ending = Literal["free", "race", "divergent", "unclear"]


@dataclass(frozen=True, slots=True)
class _Access:
    thread: int
    statement: int
    turns: tuple[int, ...]
    writes: bool
    value: int


@dataclass(frozen=True, slots=True)
class _Waits:
    """At a barrier, in iterations of the loops around it."""

    statement: int
    turns: tuple[int, ...]
    flags: int


class _OutOfFuel(Exception):
    pass


class _Leave(Exception):
    """A `break`, `continue` or `return`."""

    def __init__(self, way: str) -> None:
        self.way = way


class _Launch:
    def __init__(self, kernel: RandomKernel, n: int, m: int) -> None:
        self.kernel = kernel
        self.sizes = {"n": n, "m": m}
        self.memory: dict[tuple[int, int], int] = {}
        self.accesses: dict[tuple[int, int], list[_Access]] = {}
        self.before: set[tuple[int, int]] = set()  # places written before the last barrier
        self.reads_unwritten = False
        self.fuel = _FUEL

    def run(self) -> Ending:
        """How the launch ends, at its first fault if it has one."""
        threads = [_Thread(self, number).run() for number in range(self.kernel.threads)]
        try:
            while True:
                waits = [next(thread, None) for thread in threads]
                self.reads_unwritten |= self._unwritten()
                self.before |= self.memory.keys()
                found = self._judged()
                if found != "free":
                    return found
                if any(each != waits[0] for each in waits):
                    return "divergent"
                if waits[0] is None:
                    return "free"
                if waits[0].flags & _MEM_THREADGROUP:
                    self.accesses.clear()
        except _OutOfFuel:
            return "unclear"

    def _unwritten(self) -> bool:
        """Whether something was read since the last barrier that nobody can have written."""
        for place, accesses in self.accesses.items():
            if place in self.before:
                continue
            for at, read in enumerate(accesses):
                own = any(each.writes and each.thread == read.thread for each in accesses[:at])
                # What lanes of a simdgroup do is ordered by lock step.
                near = any(
                    each.writes
                    and each.thread != read.thread
                    and each.thread // LANES == read.thread // LANES
                    for each in accesses
                )
                if not (read.writes or own or near):
                    return True
        return False

    def _judged(self) -> Ending:
        """Races since the last barrier that orders threadgroup memory."""
        is_race = False
        for accesses in self.accesses.values():
            for at, one in enumerate(accesses):
                for other in accesses[at + 1 :]:
                    if one.thread == other.thread or not (one.writes or other.writes):
                        continue
                    found = _meeting(one, other)
                    if found == "unclear":
                        return "unclear"
                    is_race |= found == "race"
        return "race" if is_race else "free"


def _meeting(one: _Access, other: _Access) -> Ending:
    """What two accesses of different threads to the same element are, of which one writes."""
    both_write = one.writes and other.writes
    same = both_write and one.value == other.value
    if one.thread // LANES != other.thread // LANES:
        return "free" if same else "race"
    if not both_write:
        return "unclear"  # ordered by lock step, which the threads here do not keep
    together = (one.statement, one.turns) == (other.statement, other.turns)
    return "race" if together and not same else "free"


class _Thread:
    def __init__(self, launch: _Launch, number: int) -> None:
        self.launch = launch
        self.number = number
        self.variables = [0] * VARIABLES
        self.loops: dict[str, int] = {}
        self.turns: list[int] = []

    def run(self) -> Iterator[_Waits]:
        try:
            yield from self.block(self.launch.kernel.body)
        except _Leave:
            return

    def block(self, statements: tuple[Tree, ...]) -> Iterator[_Waits]:
        for each in statements:
            self.launch.fuel -= 1
            if self.launch.fuel < 0:
                raise _OutOfFuel
            yield from self.statement(each)

    def statement(self, tree: Tree) -> Iterator[_Waits]:
        match tree:
            case ("set", variable, value):
                self.variables[variable] = self.number_of(value)
            case ("store", statement, array, index, value, wide):
                at, number = self.number_of(index), self.number_of(value)
                self.access(statement, array, at, number)
                if wide:
                    self.access(statement, array, at + 1, 0)
            case ("load", statement, variable, array, index):
                self.variables[variable] = self.access(statement, array, self.number_of(index))
            case ("barrier", statement, flags):
                yield _Waits(statement, tuple(self.turns), flags)
            case ("for", _, name, start, predicate, bound, step, body):
                yield from self.loop(name, self.number_of(start), body, (predicate, bound), step)
            case ("halve", _, name, start, body):
                yield from self.loop(name, start, body, None, 0)
            case ("if", condition, yes, no):
                yield from self.block(yes if self.holds(condition) else no)
            case (way,):
                raise _Leave(way)

    def loop(
        self,
        name: str,
        start: int,
        body: tuple[Tree, ...],
        test: tuple[str, Tree] | None,
        step: int,
    ) -> Iterator[_Waits]:
        self.loops[name] = start
        depth = len(self.turns)
        self.turns.append(0)
        while (
            self.loops[name] != 0
            if test is None
            else self.compare(test[0], ("loop", name), test[1])
        ):
            self.launch.fuel -= 1
            if self.launch.fuel < 0:
                raise _OutOfFuel
            try:
                yield from self.block(body)
            except _Leave as leave:
                if leave.way == "return":
                    raise
                del self.turns[depth + 1 :]
                if leave.way == "break":
                    break
            now = self.loops[name]
            self.loops[name] = now >> 1 if test is None else (now + step) & _WORDS
            self.turns[depth] += 1
        del self.turns[depth:]

    def access(self, statement: int, array: int, at: int, value: int | None = None) -> int:
        """Load, or with a value store, an element."""
        place = (array, at)
        found = self.launch.memory.get(place, 7)
        self.launch.accesses.setdefault(place, []).append(
            _Access(self.number, statement, tuple(self.turns), value is not None, value or 0)
        )
        if value is not None:
            self.launch.memory[place] = value
        return found

    def number_of(self, tree: Tree) -> int:
        match tree:
            case ("const", value):
                return int(value)
            case ("var", variable):
                return self.variables[variable]
            case ("loop", name):
                return self.loops[name]
            case ("t",):
                return self.number
            case ("lane",):
                return self.number % LANES
            case ("sg",):
                return self.number // LANES
            case ("n",) | ("m",):
                return self.launch.sizes[tree[0]]
            case ("bin" | "call", op, left, right):
                return _computed(op, self.number_of(left), self.number_of(right))
            case ("select", condition, yes, no):
                return self.number_of(yes if self.holds(condition) else no)
            case ("data", index):
                return DATA[self.number_of(index) & 15]
        raise AssertionError(tree)

    def holds(self, tree: Tree) -> bool:
        match tree:
            case ("compare", predicate, left, right):
                return self.compare(predicate, left, right)
            case ("and", left, right):
                return self.holds(left) and self.holds(right)
            case ("or", left, right):
                return self.holds(left) or self.holds(right)
        raise AssertionError(tree)

    def compare(self, predicate: str, left: Tree, right: Tree) -> bool:
        a, b = self.number_of(left), self.number_of(right)
        if predicate.startswith("s"):
            a, b = _signed(a), _signed(b)
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b}[predicate[-2:]]


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


def _computed(op: str, a: int, b: int) -> int:
    found = {
        "add": a + b,
        "sub": a - b,
        "mul": a * b,
        "udiv": a // b if b else 0,
        "urem": a % b if b else a,
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "shl": a << (b & 31),
        "lshr": a >> (b & 31),
        "umin": min(a, b),
        "umax": max(a, b),
        "smin": min(_signed(a), _signed(b)),
        "usub.sat": max(a - b, 0),
    }
    return found[op] & _WORDS


def ending(kernel: RandomKernel, n: int, m: int) -> Ending:
    """How a launch ends."""
    return _Launch(kernel, n, m).run()


def reads_unwritten(kernel: RandomKernel, n: int, m: int) -> bool:
    """Whether a launch surely reads what was not written, before or at its first fault."""
    launch = _Launch(kernel, n, m)
    launch.run()
    return launch.reads_unwritten
