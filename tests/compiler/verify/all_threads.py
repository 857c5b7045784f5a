"""What the threads of one launch do, all at once in NumPy: each access that they make is noted.

Statements are done one after the other by all threads that come to them, so that simdgroups keep
lock step, as Metal has it, and each other's as well: one of the orders that are possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .contents import Contents
from .random_kernels import DATA, TYPES, VARIABLES, Memory, RandomKernel, Sizes, Tree

LANES = 32
FUEL = 300  # statements of a launch
_WORDS = 0xFFFFFFFF
_MEM_DEVICE, _MEM_THREADGROUP = 1, 2
Array = Any  # of NumPy, a number for each thread, or one number that all have
Way = Literal["read", "write", "atomic read", "atomic"]


@dataclass(frozen=True, slots=True)
class Access:
    """What threads do together at one statement.

    Attributes:
        statement: its number.
        instance: tells apart the times that the statement was done.
        memory: what it accesses.
        threads: who does it, by their index in the grid.
        starts: bytes that it begins at.
        length: bytes of each thread.
        values: what is written, byte by byte.
        unwritten: of reads, whether each reads what nobody wrote.
        periods: how many barriers each thread's threadgroup came by that order the memory.
    """

    statement: int
    instance: int
    way: Way
    memory: Memory
    threads: Array
    starts: Array
    length: int
    values: Array
    unwritten: Array
    periods: Array


@dataclass(slots=True)
class Log:
    """A launch.

    Attributes:
        divergent: barriers that some threads of a threadgroup came to, others not.
        wraps: whether any calculation left the numbers from 0 to 2**31.
        is_whole: whether all threads came to their ends.
    """

    group: Array
    index: Array
    accesses: list[Access] = field(default_factory=list)
    divergent: list[int] = field(default_factory=list)
    wraps: bool = False
    is_whole: bool = True


class _OutOfFuel(Exception):
    pass


class _Threads:
    def __init__(self, kernel: RandomKernel, sizes: Sizes) -> None:
        width, height = kernel.size
        across, down = sizes.groups
        number = np.arange(kernel.threads * across * down)
        self.kernel, self.sizes = kernel, sizes
        self.index = number % kernel.threads
        self.group = number // kernel.threads
        self.everyone = len(number)
        self.exists = number < len(number) - sizes.lacks
        self.lane = self.index % LANES
        group_x, group_y = self.group % across, self.group // across
        self.known: dict[str, Array] = {
            "t": self.index,
            "lane": self.lane,
            "sg": self.index // LANES,
            "x": self.index % width,
            "y": self.index // width,
            "gx": group_x,
            "gy": group_y,
            "px": group_x * width + self.index % width,
            "py": group_y * height + self.index // width,
            "groups": across,
            "n": sizes.n,
            "m": sizes.m,
        }
        row = -(-kernel.threads // LANES)
        self.simdgroup = self.group * row + self.index // LANES
        self.log = Log(self.group, self.index)
        self.contents = Contents(kernel, across * down)
        self.variables: list[Array] = [np.zeros(self.everyone, np.int64)] * VARIABLES
        self.loops: dict[str, Array] = {}
        self.breaks: list[Array] = []
        self.continues: list[Array] = []
        self.periods = {flag: np.zeros(self.everyone, np.int64) for flag in (1, 2)}
        self.fuel = FUEL
        self.instance = 0

    def run(self) -> Log:
        try:
            self.block(self.kernel.body, self.exists)
        except _OutOfFuel:
            self.log.is_whole = False
        return self.log

    # -- statements: who does them, and who comes behind them -------------------------------------

    def block(self, statements: tuple[Tree, ...], who: Array) -> Array:
        for each in statements:
            if not who.any():
                break
            who = self.statement(each, who)
        return who

    def statement(self, tree: Tree, who: Array) -> Array:
        self.fuel -= 1
        if self.fuel < 0:
            raise _OutOfFuel
        match tree:
            case ("set", variable, value):
                self.assign(variable, self.number(value, who), who)
            case ("store", number, array, index, value, wide):
                self.put(number, array, 4, index, value, "i64" if wide else "i32", who)
            case ("load", number, variable, array, index):
                self.get(number, variable, array, 4, index, "i32", who)
            case ("put", number, memory, scale, index, value, kind):
                self.put(number, memory, scale, index, value, kind, who)
            case ("get", number, variable, memory, scale, index, kind):
                self.get(number, variable, memory, scale, index, kind, who)
            case ("atomic", number, op, variable, memory, index, value):
                self.atomic(tree, who)
            case ("lanes", op, variable, value, other):
                found = self.across(op, self.number(value, who), self.number(other, who), who)
                self.assign(variable, found, who)
            case ("barrier", number, flags):
                return self.barrier(number, flags, who)
            case ("for" | "halve", *_):
                return self.loop(tree, who)
            case ("if", condition, yes, no):
                holds = self.condition(condition, who)
                return self.block(yes, who & holds) | self.block(no, who & ~holds)
            case ("break",):
                self.breaks[-1] |= who
                return np.zeros_like(who)
            case ("continue",):
                self.continues[-1] |= who
                return np.zeros_like(who)
            case ("return",):
                return np.zeros_like(who)
        return who

    def assign(self, variable: int, value: Array, who: Array) -> None:
        self.variables[variable] = np.where(who, value, self.variables[variable])

    def barrier(self, number: int, flags: int, who: Array) -> Array:
        """Those of a threadgroup that came alone wait for ever."""
        members = who.reshape(-1, self.kernel.threads)
        lacking = ~self.exists.reshape(-1, self.kernel.threads)
        whole, some = (members | lacking).all(1), members.any(1)
        if (some & ~whole).any():
            self.log.divergent.append(number)
            who = (members & whole[:, None]).reshape(-1)
        for flag, periods in self.periods.items():
            if flags & flag:
                self.periods[flag] = periods + who
        return who

    def loop(self, tree: Tree, who: Array) -> Array:
        test: tuple[str, Tree] | None = None
        if tree[0] == "for":
            _, _, name, first, predicate, bound, step, body = tree
            test = (predicate, bound)
            start = self.number(first, who)
        else:
            _, _, name, start, body = tree
        self.loops[name] = np.broadcast_to(np.asarray(start, np.int64), self.everyone)
        done = np.zeros(self.everyone, bool)
        while True:
            now = self.loops[name]
            goes = now != 0 if test is None else self.compare(test[0], now, test[1], who)
            done |= who & ~goes
            who = who & goes
            if not who.any():
                return done
            self.breaks.append(np.zeros(self.everyone, bool))
            self.continues.append(np.zeros(self.everyone, bool))
            behind = self.block(body, who)
            who = behind | self.continues.pop()
            done |= self.breaks.pop()
            self.fuel -= 1
            now = self.loops[name]
            after = now >> 1 if test is None else self.kept(now + step, who)
            self.loops[name] = np.where(who, after, now)

    # -- memory -----------------------------------------------------------------------------------

    def put(
        self,
        number: int,
        memory: Memory,
        scale: int,
        index: Tree,
        value: Tree,
        kind: str,
        who: Array,
    ) -> None:
        here = np.flatnonzero(who)
        starts = self.of(self.number(index, who), here) * scale
        values = _bytes_of(self.of(self.number(value, who), here), kind)
        self.note(number, "write", memory, here, starts, values)
        self.contents.write(memory, self.group[here], starts, values)

    def get(
        self,
        number: int,
        variable: int,
        memory: Memory,
        scale: int,
        index: Tree,
        kind: str,
        who: Array,
    ) -> None:
        here = np.flatnonzero(who)
        starts = self.of(self.number(index, who), here) * scale
        component, count = TYPES[kind]
        length = component * count
        found, known = self.contents.read(memory, self.group[here], starts, length)
        self.note(number, "read", memory, here, starts, found, unwritten=~known.all(1))
        first = found[:, : min(component, 4)].astype(np.int64)
        result = np.zeros(self.everyone, np.int64)
        result[here] = (first << (8 * np.arange(first.shape[1]))).sum(1)
        self.assign(variable, result, who)

    def atomic(self, tree: Tree, who: Array) -> None:
        _, number, op, variable, memory, index, value = tree
        here = np.flatnonzero(who)
        starts = self.of(self.number(index, who), here) * 4
        operands = self.of(self.number(value, who), here)
        _, known = self.contents.read(memory, self.group[here], starts, 4)
        way: Way = "atomic read" if op == "load" else "atomic"
        reads_new = (~known.all(1)) & (op != "store")
        values = np.zeros((len(here), 4), np.uint8)
        self.note(number, way, memory, here, starts, values, unwritten=reads_new)
        result = np.zeros(self.everyone, np.int64)
        for turn in _turns(starts + self.group[here] * (1 << 40)):
            group, start = self.group[here[turn]], starts[turn]
            found, _ = self.contents.read(memory, group, start, 4)
            old = np.ascontiguousarray(found).view("<u4")[:, 0].astype(np.int64)
            result[here[turn]] = old
            if op != "load":
                new = _ATOMIC[op](old, operands[turn]) & _WORDS
                self.contents.write(memory, group, start, _bytes_of(new, "i32"))
        if op != "store":
            self.assign(variable, result, who)

    def note(
        self,
        number: int,
        way: Way,
        memory: Memory,
        here: Array,
        starts: Array,
        values: Array,
        unwritten: Array = False,
    ) -> None:
        flag = _MEM_THREADGROUP if isinstance(memory, int) else _MEM_DEVICE
        self.instance += 1
        self.log.accesses.append(
            Access(
                statement=number,
                instance=self.instance,
                way=way,
                memory=memory,
                threads=here,
                starts=starts,
                length=values.shape[1],
                values=values,
                unwritten=np.broadcast_to(unwritten, len(here)),
                periods=self.periods[flag][here],
            )
        )

    # -- across lanes -----------------------------------------------------------------------------

    def across(self, op: str, value: Array, other: Array, who: Array) -> Array:
        values = np.broadcast_to(np.asarray(value, np.int64), self.everyone)
        if op == "shuffle":
            from_lane = np.broadcast_to(np.asarray(other, np.int64), self.everyone) % LANES
            table = np.zeros((int(self.simdgroup[-1]) + 1, LANES), np.int64)
            table[self.simdgroup[who], self.lane[who]] = values[who]
            return table[self.simdgroup, from_lane]
        result = np.zeros(self.everyone, np.int64)
        for simdgroup in np.unique(self.simdgroup[who]):
            mine = who & (self.simdgroup == simdgroup)
            result[mine] = _ACROSS[op](values[mine], self.lane[mine]) & _WORDS
        return result

    # -- values -----------------------------------------------------------------------------------

    def of(self, value: Array, here: Array) -> Array:
        return np.broadcast_to(np.asarray(value, np.int64), self.everyone)[here]

    def kept(self, value: Array, who: Array) -> Array:
        """A result modulo 2**32."""
        if not self.log.wraps:
            out = (np.asarray(value) < 0) | (np.asarray(value) >= 1 << 31)
            self.log.wraps = bool((out & who).any())
        return value & _WORDS

    def number(self, tree: Tree, who: Array) -> Array:
        match tree:
            case ("const", value):
                return value
            case ("var", variable):
                return self.variables[variable]
            case ("loop", name):
                return self.loops[name]
            case ("bin" | "call", op, left, right):
                return self.computed(op, self.number(left, who), self.number(right, who), who)
            case ("fn", number, left, right):
                return self.number(self.kernel.called(number, left, right), who)
            case ("select", condition, yes, no):
                chosen = self.condition(condition, who)
                return np.where(chosen, self.number(yes, who), self.number(no, who))
            case ("data", index):
                return _DATA[np.asarray(self.number(index, who)) & 15]
        return self.known[tree[0]]

    def computed(self, op: str, a: Array, b: Array, who: Array) -> Array:
        match op:
            case "add":
                return self.kept(a + b, who)
            case "sub":
                return self.kept(a - b, who)
            case "mul" | "shl":
                by = b if op == "mul" else 1 << (b & 31)
                if not self.log.wraps and (np.multiply(a, by, dtype=float) >= 1 << 31).any():
                    self.log.wraps = True
                return np.multiply(a, by, dtype=np.int64) & _WORDS
            case "smin":
                return np.minimum(_signed(a), _signed(b)) & _WORDS
        return _PLAIN[op](np.asarray(a, np.int64), b)

    def condition(self, tree: Tree, who: Array) -> Array:
        if tree[0] == "compare":
            _, predicate, left, right = tree
            return self.compare(predicate, self.number(left, who), right, who)
        op, left, right = tree
        one, other = self.condition(left, who), self.condition(right, who)
        return one & other if op == "and" else one | other

    def compare(self, predicate: str, left: Array, right: Tree, who: Array) -> Array:
        a, b = np.asarray(left, np.int64), np.asarray(self.number(right, who), np.int64)
        if predicate.startswith("s"):
            a, b = _signed(a), _signed(b)
        return np.broadcast_to(_ORDERS[predicate[-2:]](a, b), self.everyone)


_DATA = np.asarray(DATA, np.int64)
_ORDERS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
}
_PLAIN: dict[str, Callable[[Array, Array], Array]] = {
    "udiv": lambda a, b: a // b,  # by constants that are not 0
    "urem": lambda a, b: a % b,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshr": lambda a, b: a >> (b & 31),
    "umin": np.minimum,
    "umax": np.maximum,
    "usub.sat": lambda a, b: np.maximum(a - b, 0),
}
_ATOMIC: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda old, new: old + new,
    "max": np.maximum,
    "or": lambda old, new: old | new,
    "xchg": lambda old, new: new,
    "store": lambda old, new: new,
}
_ACROSS: dict[str, Callable[[Array, Array], int]] = {
    "sum": lambda values, _: int(values.sum()),
    "min": lambda values, _: int(values.min()),
    "max": lambda values, _: int(values.max()),
    "or": lambda values, _: int(np.bitwise_or.reduce(values)),
    "first": lambda values, _: int(values[0]),
    "ballot": lambda values, lanes: int(sum(1 << int(x) for x in lanes[values & 1 != 0])),
}


def _turns(places: Array) -> Iterator[Array]:
    """Indices of places such that no two of one turn are the same."""
    order = np.argsort(places, kind="stable")
    place = places[order]
    firsts = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
    rank = np.arange(len(place)) - np.repeat(firsts, np.diff(np.append(firsts, len(place))))
    for turn in range(int(rank.max()) + 1):
        yield order[rank == turn]


def _signed(number: Array) -> Array:
    return np.where(np.asarray(number) >> 31 != 0, np.asarray(number) - (1 << 32), number)


def _bytes_of(values: Array, kind: str) -> Array:
    """What threads write of a type, all components the same; of 8 bytes, the upper are 0."""
    component, count = TYPES[kind]
    one = values.astype("<i8").view(np.uint8).reshape(len(values), 8)[:, :component]
    return np.tile(one, (1, count))


def launched(kernel: RandomKernel, sizes: Sizes) -> Log:
    """What a launch does, as far as it is followed."""
    return _Threads(kernel, sizes).run()
