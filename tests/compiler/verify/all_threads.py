"""What the threads of launches do, all at once in NumPy: each access that they make is noted.

Statements are done one after the other by all threads that come to them, so that simdgroups keep
lock step, as Metal has it, and each other's as well: one of the orders that are possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from .arithmetic import (
    ATOMIC,
    DATA,
    ORDERS,
    PLAIN,
    WORDS,
    Array,
    across,
    bytes_of,
    signed,
    turns,
)
from .contents import Contents
from .random_kernels import TYPES, VARIABLES, Memory, RandomKernel, Sizes, Tree

LANES = 32
FUEL = 300  # statements of a launch
_FLAGS = _MEM_DEVICE, _MEM_THREADGROUP = 1, 2
_NO_NUMBER = 0  # of barriers of simdgroups
Way = Literal["read", "write", "atomic read", "atomic"]


@dataclass(frozen=True, slots=True)
class Access:
    """What threads do together at one statement.

    Attributes:
        statement: its number.
        instance: tells apart the times that the statement was done.
        memory: what it accesses.
        threads: who does it, by their index in all launches.
        starts: bytes that it begins at.
        length: bytes of each thread.
        values: what is written, byte by byte.
        unwritten: of reads, whether each reads what nobody wrote.
        periods: how many barriers each thread's threadgroup came by that order the memory.
        of_simdgroup: the same, with barriers of its simdgroup.
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
    of_simdgroup: Array


@dataclass(slots=True)
class Log:
    """Launches.

    Attributes:
        launch, group, index: of each thread, its launch, its threadgroup of all launches, and where
            it is in that.
        divergent: launches, and barriers that some threads of a threadgroup came to, others not.
        wraps: of each thread, whether any of its calculations left the numbers from 0 to 2**31.
    """

    launch: Array
    group: Array
    index: Array
    wraps: Array
    accesses: list[Access] = field(default_factory=list)
    divergent: list[tuple[int, int]] = field(default_factory=list)


class _Threads:
    def __init__(self, kernel: RandomKernel, launches: Sequence[Sizes]) -> None:
        width, height = kernel.size
        groups = [each.groups[0] * each.groups[1] for each in launches]
        threads = kernel.threads * np.asarray(groups)
        self.launch = np.repeat(np.arange(len(launches)), threads)
        self.begins = np.cumsum(threads) - threads
        number = np.arange(threads.sum())
        mine = number - self.begins[self.launch]
        self.kernel = kernel
        self.index = number % kernel.threads
        self.group = number // kernel.threads
        self.everyone = len(number)
        lacks = np.asarray([each.lacks for each in launches])
        self.exists = mine < (threads - lacks)[self.launch]
        self.lane = self.index % LANES
        across = np.asarray([each.groups[0] for each in launches])[self.launch]
        group_x, group_y = mine // kernel.threads % across, mine // kernel.threads // across
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
            "n": np.asarray([each.n for each in launches])[self.launch],
            "m": np.asarray([each.m for each in launches])[self.launch],
        }
        row = -(-kernel.threads // LANES)
        self.simdgroup = self.group * row + self.index // LANES
        wraps = np.zeros(self.everyone, bool)
        self.log = Log(self.launch, self.group, self.index, wraps)
        self.contents = Contents(self.group, self.launch)
        self.variables: list[Array] = [np.zeros(self.everyone, np.int64)] * VARIABLES
        self.loops: dict[str, Array] = {}
        self.breaks: list[Array] = []
        self.continues: list[Array] = []
        self.periods = {flag: np.zeros(self.everyone, np.int64) for flag in (1, 2)}
        self.of_simdgroup = {flag: np.zeros(self.everyone, np.int64) for flag in (1, 2)}
        self.fuel = np.full(len(launches), FUEL)
        self.alive: Array = True  # who has fuel
        self.instance = 0

    def run(self) -> Log:
        self.block(self.kernel.body, self.exists)
        return self.log

    def burn(self, who: Array) -> Array:
        """Take fuel of the launches of some threads; who of them has some left."""
        self.fuel -= np.logical_or.reduceat(who, self.begins)
        if self.fuel.min() < 0:
            self.alive = (self.fuel >= 0)[self.launch]
        return who & self.alive

    # -- statements: who does them, and who comes behind them -------------------------------------

    def block(self, statements: tuple[Tree, ...], who: Array) -> Array:
        for each in statements:
            who = self.burn(who)
            if not who.any():
                break
            who = self.statement(each, who)
        return who & self.alive

    def statement(self, tree: Tree, who: Array) -> Array:
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
                found = self.found(op, self.number(value, who), self.number(other, who), who)
                self.assign(variable, found, who)
            case ("barrier", number, flags):
                return self.barrier(number, flags, who)
            case ("simdgroup_barrier", flags) if self.kernel.is_strict:
                return self.simdgroup_barrier(flags, who)
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
        alone = some & ~whole
        if alone.any():
            found = np.unique(self.launch[:: self.kernel.threads][alone]).tolist()
            self.log.divergent += [(each, number) for each in found]
            who = (members & whole[:, None]).reshape(-1)
        for flag in _FLAGS:
            if flags & flag:
                self.periods[flag] = self.periods[flag] + who
                self.of_simdgroup[flag] = self.of_simdgroup[flag] + who
        return who

    def simdgroup_barrier(self, flags: int, who: Array) -> Array:
        """Lanes that came alone wait for ever."""
        present, all_of = (np.bincount(self.simdgroup, weights=each) for each in (who, self.exists))
        alone = ((present > 0) & (present < all_of))[self.simdgroup]
        if alone.any():
            found = np.unique(self.launch[alone]).tolist()
            self.log.divergent += [(each, _NO_NUMBER) for each in found]
            who = who & ~alone
        for flag in _FLAGS:
            if flags & flag:
                self.of_simdgroup[flag] = self.of_simdgroup[flag] + who
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
            done |= self.breaks.pop() & self.alive
            who = self.burn(who)
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
        values = bytes_of(self.of(self.number(value, who), here), kind)
        self.note(number, "write", memory, here, starts, values)
        self.contents.write(memory, here, starts, values)

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
        found, known = self.contents.read(memory, here, starts, length)
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
        _, known = self.contents.read(memory, here, starts, 4)
        way: Way = "atomic read" if op == "load" else "atomic"
        reads_new = (~known.all(1)) & (op != "store")
        values = np.zeros((len(here), 4), np.uint8)
        self.note(number, way, memory, here, starts, values, unwritten=reads_new)
        result = np.zeros(self.everyone, np.int64)
        shared = self.group if isinstance(memory, int) else self.launch
        for turn in turns(starts + shared[here] * (1 << 40)):
            start = starts[turn]
            found, _ = self.contents.read(memory, here[turn], start, 4)
            old = np.ascontiguousarray(found).view("<u4")[:, 0].astype(np.int64)
            result[here[turn]] = old
            if op != "load":
                new = ATOMIC[op](old, operands[turn]) & WORDS
                self.contents.write(memory, here[turn], start, bytes_of(new, "i32"))
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
                of_simdgroup=self.of_simdgroup[flag][here],
            )
        )

    # -- across lanes -----------------------------------------------------------------------------

    def found(self, op: str, value: Array, other: Array, who: Array) -> Array:
        values = np.broadcast_to(np.asarray(value, np.int64), self.everyone)
        if op == "shuffle":
            from_lane = np.broadcast_to(np.asarray(other, np.int64), self.everyone) % LANES
            table = np.zeros((int(self.simdgroup[-1]) + 1, LANES), np.int64)
            table[self.simdgroup[who], self.lane[who]] = values[who]
            return table[self.simdgroup, from_lane]
        result = np.zeros(self.everyone, np.int64)
        result[who] = across(op, values[who], self.lane[who], self.simdgroup[who])
        return result

    # -- values -----------------------------------------------------------------------------------

    def of(self, value: Array, here: Array) -> Array:
        return np.broadcast_to(np.asarray(value, np.int64), self.everyone)[here]

    def kept(self, value: Array, who: Array) -> Array:
        """A result modulo 2**32."""
        self.note_wraps((np.asarray(value) < 0) | (np.asarray(value) >= 1 << 31), who)
        return value & WORDS

    def note_wraps(self, wraps: Array, who: Array) -> None:
        """Note who of some threads leaves the numbers that nothing wraps in."""
        if wraps.any():
            self.log.wraps |= wraps & who

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
                return DATA[np.asarray(self.number(index, who)) & 15]
        return self.known[tree[0]]

    def computed(self, op: str, a: Array, b: Array, who: Array) -> Array:
        match op:
            case "add":
                return self.kept(a + b, who)
            case "sub":
                return self.kept(a - b, who)
            case "mul" | "shl":
                by = b if op == "mul" else 1 << (b & 31)
                self.note_wraps(np.multiply(a, by, dtype=float) >= 1 << 31, who)
                return np.multiply(a, by, dtype=np.int64) & WORDS
            case "smin":
                return np.minimum(signed(a), signed(b)) & WORDS
        return PLAIN[op](np.asarray(a, np.int64), b)

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
            a, b = signed(a), signed(b)
        return np.broadcast_to(ORDERS[predicate[-2:]](a, b), self.everyone)


def launched(kernel: RandomKernel, launches: Sequence[Sizes]) -> Log:
    """What launches do, as far as they are followed."""
    return _Threads(kernel, launches).run()
