"""Random kernels with threadgroup memory, barriers, loops and branches, as trees.

`drawn` makes one, `text` writes it as LLVM IR. What it does in one launch is told by `launched`,
which runs all its threads, and `faults`, which compares all pairs of their accesses.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Tree = tuple[Any, ...]
Memory = int | str
"""A threadgroup array by its number, or a buffer by its name."""
VARIABLES = 4
ARRAYS = 2
BUFFERS = ("out0", "out1")
STATEMENTS = frozenset(
    {
        "set",
        "store",
        "load",
        "put",
        "get",
        "atomic",
        "lanes",
        "barrier",
        "simdgroup_barrier",
        "for",
        "halve",
        "if",
        "break",
        "continue",
        "return",
    }
)
"""What statements' trees begin with."""
TYPES = {
    "i8": (1, 1),
    "i16": (2, 1),
    "i32": (4, 1),
    "i64": (8, 1),
    "v4i16": (2, 4),
    "v4i32": (4, 4),
    "v3i32": (4, 3),
}
"""Of types of accesses, bytes of a component and how many there are."""
DATA = tuple(pow(at + 1, 7, 61) for at in range(16))  # of the buffer that it reads, all different
_MOST_DEPTH = 3
_WORDS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Sizes:
    """A launch: the kernel's arguments, threadgroups of the grid, and how many threads its last
    threadgroup lacks; only in grids of one row it lacks any.
    """

    n: int
    m: int
    groups: tuple[int, int] = (1, 1)
    lacks: int = 0


@dataclass(frozen=True, slots=True)
class RandomKernel:
    """A kernel, and what its launches are.

    Attributes:
        body: its statements.
        threads: of a threadgroup.
        width: of a threadgroup, if that is not all its threads.
        words: of each threadgroup array, of 32 bits.
        holds: what is assumed of launches.
        lengths: bytes of buffers, as proofs are told of them.
        functions: what helper functions give, of their parameters `a` and `b`.
        is_ragged: whether the last threadgroups of grids may not be full.
        is_strict: whether nothing but barriers orders lanes of a simdgroup.
    """

    body: tuple[Tree, ...]
    threads: int
    width: int = 0
    words: int = 65536
    holds: tuple[str, ...] = ()
    lengths: Mapping[str, str] = field(default_factory=dict)
    functions: tuple[Tree, ...] = ()
    is_ragged: bool = False
    is_strict: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Threads of a threadgroup in two dimensions."""
        width = self.width or self.threads
        return width, self.threads // width

    def called(self, number: int, a: Tree, b: Tree) -> Tree:
        """What a call of a helper function gives."""
        return _put_in(self.functions[number], {("a",): a, ("b",): b})


def _put_in(tree: Any, given: Mapping[Tree, Tree]) -> Any:
    if not isinstance(tree, tuple):
        return tree
    return given.get(tree) or tuple(_put_in(each, given) for each in tree)


class Draw:
    """Draws one kernel."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._loops = 0
        self._statements = 0
        self._open: list[str] = []  # loop variables in scope

    def kernel(self) -> RandomKernel:
        body = self.block(0, barriers=True)
        return RandomKernel(body, self._chance.choice((40, 64, 64, 96)))

    def written(self) -> RandomKernel:
        """One that first writes parts of its arrays, in some way, and reads close to there."""
        threads = self._chance.choice((40, 64, 96))
        first = tuple(self._filling(array, threads) for array in range(ARRAYS))
        barrier = ("barrier", 900, self._pick(2, 2, 2, 2, 0))
        rest = self.block(1, barriers=True) if self._chance.random() < 0.2 else self._users(threads)
        return RandomKernel((*first, barrier, *rest), threads)

    def _users(self, threads: int) -> tuple[Tree, ...]:
        """Statements that read what others have written, mostly with barriers between."""
        self._loops += 1
        name = f"l{self._loops}"
        start, step = self._pick((("const", 0), 1), (("const", 0), 1), (("n",), 2))
        bound = self._pick(("n",), ("m",), ("const", 5))
        self._open.append(name)
        later = ("bin", "add", ("loop", name), ("const", self._pick(0, 1, 2)))
        turned = ("bin", "urem", later, ("const", self._pick(2, 3)))
        ahead = ("bin", "add", ("t",), ("bin", "mul", turned, ("const", self._pick(96, 96, 64))))
        body: list[Tree] = [
            ("load", 950, 0, 0, self._near()),
            ("if", self.condition(), (("load", 951, 1, 0, self._near()),), ()),
            ("barrier", 952, 2),
            ("store", 953, 1, ahead, ("t",), False),
            ("barrier", 954, self._pick(2, 2, 2, 1)),
            ("load", 955, 2, 1, self._pick(ahead, self._near(), self._near())),
        ]
        dropped = self._chance.randrange(len(body) + 3)
        body = [each for at, each in enumerate(body) if at != dropped]
        self._open.pop()
        first = ("load", 956, 3, self._array(), self._near())
        last = ("load", 957, 3, self._array(), self._near())
        loop = ("for", 958, name, start, "ult", bound, step, tuple(body))
        return (first, loop, ("barrier", 959, 2), last)

    def _near(self) -> Tree:
        """The place of an element that is often written."""
        place = self._pick(
            ("t",), ("t",), ("lane",), ("sg",), ("const", 5), self.index(), self.number(1)
        )
        shifted = ("bin", "add", place, ("const", self._pick(0, 0, 1, 3)))
        return ("bin", "urem", shifted, ("const", self._pick(32, 64, 64, 64, 128)))

    def _filling(self, array: int, threads: int) -> Tree:
        number = 901 + array
        name = f"f{array}"
        step = self._pick(threads, threads, threads, threads, 32, 64)
        row = ("bin", "udiv", ("loop", name), ("const", 8))
        row = ("bin", "mul", row, ("const", self._pick(8, 9)))
        place = self._pick(
            ("loop", name),
            ("loop", name),
            ("bin", "sub", ("const", 255), ("loop", name)),
            ("bin", "xor", ("loop", name), ("const", self._pick(1, 3, 31))),
            ("bin", "add", row, ("bin", "urem", ("loop", name), ("const", 8))),
        )
        shift = self._pick(0, 0, 0, 32, 64, 100)  # what is below stays unwritten
        place = ("bin", "add", place, ("const", shift)) if shift else place
        store: Tree = ("store", number + 20, array, place, ("t",), False)
        if self._chance.random() < 0.15:
            other: Tree = ("store", number + 30, array, place, ("const", 1), False)
            store = ("if", self.condition(), (store,), self._pick((other,), (other,), ()))
        if self._chance.random() < 0.3:
            turn = ("bin", "mul", ("loop", name), ("const", self._pick(threads, threads, 32)))
            place = ("bin", "add", ("bin", "add", ("t",), turn), ("const", shift))
            store = ("store", number + 20, array, place, ("t",), False)
            turns = self._pick(("const", 3), ("n",), ("call", "umin", ("n",), ("const", 3)))
            return ("for", number, name, ("const", 0), "ult", turns, 1, (store,))
        bound = self._pick(*[("const", 256)] * 6, ("const", 64), ("n",))
        start = self._pick(*[("t",)] * 6, ("lane",))
        return ("for", number, name, start, "ult", bound, step, (store,))

    def _pick(self, *choices: Any) -> Any:
        return self._chance.choice(choices)

    def block(self, depth: int, *, barriers: bool) -> tuple[Tree, ...]:
        count = self._chance.randint(2, 5 if depth == 0 else 3)
        return tuple(self.statement(depth, barriers=barriers) for _ in range(count))

    def statement(self, depth: int, *, barriers: bool) -> Tree:
        self._statements += 1
        number = self._statements
        kinds = ["set", "store", "store", "store", "load", "load"]
        if barriers:
            kinds += ["barrier"] * 4
        if depth < _MOST_DEPTH:
            kinds += ["for", "for", "if", "if", "halve"]
        if self._open and self._chance.random() < 0.1:
            kinds += ["break", "continue"]
        kind = self._pick(*kinds)
        match kind:
            case "set":
                return ("set", self._variable(), self.number(2))
            case "store":
                wide = self._chance.random() < 0.1
                return ("store", number, self._array(), self.index(), self.number(1), wide)
            case "load":
                return ("load", number, self._variable(), self._array(), self.index())
            case "barrier":
                return ("barrier", number, self._pick(2, 2, 2, 2, 2, 2, 2, 3, 1, 0))
            case "for" | "halve":
                return self._loop(kind, number, depth, barriers=barriers)
            case "if":
                inner = barriers and self._chance.random() < 0.5
                yes = self.block(depth + 1, barriers=inner)
                no = self.block(depth + 1, barriers=inner) if self._chance.random() < 0.4 else ()
                if self._chance.random() < 0.05:
                    yes = (*yes, ("return",))
                return ("if", self.condition(), yes, no)
        return (kind,)

    def _loop(self, kind: str, number: int, depth: int, *, barriers: bool) -> Tree:
        self._loops += 1
        name = f"l{self._loops}"
        own = self._chance.random() < 0.35  # each thread has its own range
        barriers = barriers and (not own or self._chance.random() < 0.1)
        start = self._pick(("t",), ("lane",), ("sg",)) if own else self._pick(("const", 0), ("n",))
        step = self._pick(1, 1, 2, 3, 8, 16, 32)
        bound = self._pick(("n",), ("m",), ("const", 5), ("const", 64), ("const", 3), ("t",))
        if not own and bound == ("t",) and self._chance.random() < 0.8:
            bound = ("n",)
        self._open.append(name)
        body = self.block(depth + 1, barriers=barriers)
        self._open.pop()
        if kind == "halve":
            return ("halve", number, name, self._pick(4, 8, 32), body)
        return (
            "for",
            number,
            name,
            start,
            self._pick("ult", "ult", "ne", "ule"),
            bound,
            step,
            body,
        )

    def _variable(self) -> int:
        return self._chance.randrange(VARIABLES)

    def _array(self) -> int:
        return self._chance.randrange(ARRAYS)

    def index(self) -> Tree:
        """Often one that threads have to themselves."""
        mine = self._pick(("t",), ("t",), ("bin", "add", ("t",), ("const", 1)), ("lane",), ("sg",))
        if self._chance.random() < 0.55:
            step = self._pick(1, 1, 2, 64, 96)
            base = ("bin", "mul", mine, ("const", step)) if step > 1 else mine
            if self._open and self._chance.random() < 0.5:
                by = self._pick(1, 64, 96, 128)
                turn = ("bin", "mul", ("loop", self._chance.choice(self._open)), ("const", by))
                turn = self._pick(turn, ("bin", "urem", turn, ("const", self._pick(2, 3, 192))))
                return ("bin", "add", base, turn)
            return base
        return self.number(2)

    def number(self, depth: int) -> Tree:
        kinds = ["const", "t", "t", "lane", "sg", "n", "m", "var", "var", "var"]
        if self._open:
            kinds += ["loop"] * 4
        if depth > 0:
            kinds += ["bin"] * 8 + ["select", "data", "max"]
        kind = self._pick(*kinds)
        match kind:
            case "const":
                return ("const", self._pick(0, 1, 2, 3, 5, 31, 32, 64, 65, _WORDS))
            case "var":
                return ("var", self._variable())
            case "loop":
                return ("loop", self._chance.choice(self._open))
            case "bin":
                return self._binary(depth)
            case "select":
                return ("select", self.condition(), self.number(depth - 1), self.number(depth - 1))
            case "data":
                return ("data", self.number(depth - 1))
            case "max":
                name = self._pick("umin", "umax", "smin", "usub.sat")
                return ("call", name, self.number(depth - 1), self.number(depth - 1))
        return (kind,)

    def _binary(self, depth: int) -> Tree:
        left = self.number(depth - 1)
        op = self._pick("add", "add", "sub", "mul", "urem", "udiv", "and", "or", "xor", "shl")
        if op in ("urem", "udiv"):
            return ("bin", op, left, ("const", self._pick(2, 3, 4, 7, 32, 64)))
        if op in ("and", "or", "xor"):
            return ("bin", op, left, ("const", self._pick(1, 3, 7, 31, 32, 63)))
        if op == "shl":
            return ("bin", self._pick("shl", "lshr"), left, ("const", self._pick(1, 2, 5)))
        if op == "mul":
            return ("bin", op, left, self._pick(("const", self._pick(2, 3, 64)), ("n",)))
        return ("bin", op, left, self.number(depth - 1))

    def condition(self) -> Tree:
        if self._chance.random() < 0.15:
            return (self._pick("and", "or"), self.condition(), self.condition())
        predicate = self._pick("ult", "ult", "ule", "eq", "ne", "slt", "ugt")
        return ("compare", predicate, self.number(1), self.number(1))


def is_body(part: Any) -> bool:
    """Whether a part of a tree is statements."""
    return (
        isinstance(part, tuple)
        and len(part) > 0
        and all(isinstance(each, tuple) and each for each in part)
        and part[0][0] in STATEMENTS
    )


def drawn(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return Draw(random.Random(seed)).kernel()


def written(seed: int) -> RandomKernel:
    """The kernel of a seed that writes its arrays first."""
    return Draw(random.Random(seed)).written()
