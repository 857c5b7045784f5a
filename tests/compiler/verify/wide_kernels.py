"""Random kernels of what people write: tiles, reductions, rings, grids, histograms, with buffers,
wide types, atomics, helpers and operations across lanes; each a bit wrong, or not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from .random_kernels import BUFFERS, Draw, Memory, RandomKernel, Tree, is_body

_SHAPES = ((64, 64), (64, 64), (64, 8), (64, 16), (40, 40), (96, 32), (96, 96), (128, 128))
"""Threads of a threadgroup, and how many in a row."""
_OTHERS = 1_000_000  # from where on seeds are those of ragged grids
_HOLDS = (
    (),
    (),
    (),
    ("n <= 64",),
    ("n >= 1", "n <= 1000"),
    ("grid.x <= n",),
    ("grid.x <= n", "n <= 4096"),
    ("n % 32 == 0",),
    ("n <= m",),
    ("groups.x == 1", "groups.y == 1"),
    ("grid.x <= n", "grid.y <= m"),
    ("grid.x <= 256", "grid.y <= 256", "n <= 256", "m <= 256"),
    ("n == 64",),
)
_LENGTHS: tuple[dict[str, str], ...] = (
    {},
    {"out0": "4 * n"},
    {"out0": "4 * n * m", "out1": "4 * n"},
    {"out0": "4 * grid.x", "out1": "8 * grid.x * grid.y"},
    {"out0": "1024", "out1": "256"},
)
FUNCTIONS: tuple[Tree, ...] = (
    ("bin", "add", ("bin", "mul", ("a",), ("const", 8)), ("b",)),
    ("bin", "add", ("bin", "urem", ("a",), ("const", 32)), ("bin", "mul", ("b",), ("const", 33))),
    ("call", "umin", ("a",), ("b",)),
    ("select", ("compare", "ult", ("a",), ("b",)), ("a",), ("const", 0)),
)


def _add(*parts: Tree) -> Tree:
    found, *rest = parts
    for each in rest:
        found = ("bin", "add", found, each)
    return found


def _mul(a: Tree, b: Tree | int) -> Tree:
    return ("bin", "mul", a, _const(b))


def _mod(a: Tree, b: int) -> Tree:
    return ("bin", "urem", a, ("const", b))


def _const(value: Tree | int) -> Tree:
    return ("const", value) if isinstance(value, int) else value


def _below(a: Tree, b: Tree | int) -> Tree:
    return ("compare", "ult", a, _const(b))


class Wide(Draw):
    """Draws one kernel."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.threads, self.width = self._pick(*_SHAPES)

    def wide(self) -> RandomKernel:
        """A kernel of some kind, with a statement less or a strange one more at times."""
        kinds: list[Callable[[], tuple[Tree, ...]]] = [
            self._tiles,
            self._tree,
            self._ring,
            self._grid,
            self._grid,
            self._histogram,
            self._lanes,
            self._anything,
            self._anything,
        ]
        body = self._pick(*kinds)()
        if self._chance.random() < 0.2:
            body = (*body, *self._grid())
        for _ in range(self._pick(0, 0, 1, 1, 2)):
            body = self._damaged(body)
        return RandomKernel(
            body,
            self.threads,
            width=self.width,
            words=self._pick(64, 128, 256, 1024, 1024, 1024),
            holds=self._pick(*_HOLDS),
            lengths=self._pick(*_LENGTHS),
            functions=FUNCTIONS,
        )

    # -- parts ------------------------------------------------------------------------------------

    def _number(self) -> int:
        self._statements += 1
        return self._statements

    def _write(self, memory: Memory, index: Tree, value: Tree | None = None) -> Tree:
        scale, kind = self._pick(
            *[(4, "i32")] * 9,
            (4, "i64"),
            (8, "i64"),
            (8, "v4i16"),
            (16, "v4i32"),
            (12, "v3i32"),
            (2, "i16"),
            (1, "i8"),
            (4, "i16"),
        )
        what = value or self._pick(("t",), ("t",), ("var", 0), ("const", 7))
        return ("put", self._number(), memory, scale, index, what, kind)

    def _read(self, memory: Memory, index: Tree) -> Tree:
        scale, kind = self._pick(
            *[(4, "i32")] * 9, (8, "i64"), (8, "v4i16"), (16, "v4i32"), (2, "i16"), (1, "i8")
        )
        return ("get", self._number(), self._variable(), memory, scale, index, kind)

    def _store(self, memory: Memory, index: Tree, value: Tree) -> Tree:
        return ("put", self._number(), memory, 4, index, value, "i32")

    def _load(self, variable: int, memory: Memory, index: Tree) -> Tree:
        return ("get", self._number(), variable, memory, 4, index, "i32")

    def _atomic(self, memory: Memory, index: Tree) -> Tree:
        op = self._pick("add", "add", "max", "or", "xchg", "load", "store")
        return ("atomic", self._number(), op, self._variable(), memory, index, ("t",))

    def _barrier(self, *usual: int) -> Tree:
        return ("barrier", self._number(), self._pick(*usual * 4, 0, 1, 2, 3))

    def _for(
        self, start: Tree, bound: Tree | int, step: int, body: Callable[[Tree], tuple[Tree, ...]]
    ) -> Tree:
        self._loops += 1
        name = f"l{self._loops}"
        self._open.append(name)
        inner = body(("loop", name))
        self._open.pop()
        return ("for", self._number(), name, start, "ult", _const(bound), step, inner)

    def _buffer(self) -> str:
        return self._pick(*BUFFERS)

    # -- kinds ------------------------------------------------------------------------------------

    def _tiles(self) -> tuple[Tree, ...]:
        """Threads fill a tile, read what others wrote, and begin anew."""
        row = self._pick(self.width, self.width + 1, self.width)
        mine = self._pick(("t",), _add(("x",), _mul(("y",), row)), ("fn", 0, ("y",), ("x",)))
        others = self._pick(
            ("bin", "sub", ("const", self.threads - 1), ("t",)),
            ("bin", "xor", ("t",), ("const", self._pick(1, 7, 32, 63))),
            _mod(_add(("t",), ("const", self._pick(1, 8, 33))), self.threads),
            _add(("y",), _mul(("x",), self._pick(row, self.threads // self.width))),
            ("var", 1),
        )
        bound = self._pick(("n",), ("m",), ("bin", "udiv", ("n",), ("const", 8)), ("const", 3))

        def body(turn: Tree) -> tuple[Tree, ...]:
            place = self._pick(mine, mine, _add(mine, _mul(_mod(turn, 2), self.threads)))
            return (
                self._store(0, place, turn),
                self._barrier(2),
                self._load(0, 0, self._pick(others, others, _mod(others, self.threads))),
                self._barrier(2),
            )

        loop = self._for(("const", 0), bound, 1, body)
        return (loop, *self._result())

    def _result(self) -> tuple[Tree, ...]:
        at = self._pick(
            ("px",),
            _add(_mul(("py",), ("n",)), ("px",)),
            _add(_mul(("gx",), self.threads), ("t",)),
            _add(("px",), _mul(("py",), _mul(("groups",), self.width))),
        )
        store = self._write(self._buffer(), at, ("var", 0))
        guard = self._pick(
            None,
            _below(("px",), ("n",)),
            ("and", _below(("px",), ("n",)), _below(("py",), ("m",))),
        )
        return (store,) if guard is None else (("if", guard, (store,), ()),)

    def _tree(self) -> tuple[Tree, ...]:
        """A reduction in a tree."""
        half = self._pick(self.threads // 2, 32, 64)
        first = self._store(0, ("t",), ("px",))
        self._loops += 1
        name = f"l{self._loops}"
        step: Tree = ("loop", name)
        limit = self._pick(step, step, ("const", 32))
        adds = (
            self._load(0, 0, _add(("t",), step)),
            self._store(0, ("t",), _add(("var", 0), ("const", 1))),
        )
        body: tuple[Tree, ...] = (("if", _below(("t",), limit), adds, ()), self._barrier(2))
        if self._chance.random() < 0.5:
            body = body[::-1]
        loop = ("halve", self._number(), name, half, body)
        last = self._store(self._buffer(), self._pick(("gx",), ("px",)), ("var", 0))
        return (
            first,
            self._barrier(2),
            loop,
            ("if", ("compare", "eq", ("t",), ("const", 0)), (last,), ()),
        )

    def _ring(self) -> tuple[Tree, ...]:
        """Buffers that go round."""
        count = self._pick(2, 3, 3, 4)
        size = self._pick(self.threads, self.threads, 64)
        ahead = self._pick(1, 2, count - 1)
        holds = self._pick(0, 0, 1)

        def at(turn: Tree, place: Tree) -> Tree:
            return _add(place, _mul(_mod(turn, count), size))

        place = self._pick(
            ("t",),
            ("bin", "sub", ("const", self.threads - 1), ("t",)),
            ("bin", "xor", ("t",), ("const", 1)),
        )

        def body(turn: Tree) -> tuple[Tree, ...]:
            return (
                self._store(holds, at(_add(turn, ("const", ahead)), ("t",)), turn),
                self._load(0, 0, at(turn, place)),
                self._barrier(2),
            )

        fills = tuple(
            each
            for turn in range(ahead)
            for each in (self._store(0, at(("const", turn), ("t",)), ("t",)), self._barrier(2))
        )
        bound = self._pick(("n",), ("n",), ("const", 6), ("call", "umin", ("n",), ("const", 100)))
        return (*fills, self._for(("const", 0), bound, 1, body), *self._result())

    def _grid(self) -> tuple[Tree, ...]:
        """Elements of buffers, by position."""
        threads = _mul(("groups",), self.width)
        places: list[Tree] = [
            ("px",),
            ("px",),
            _add(_mul(("py",), ("n",)), ("px",)),
            _add(_mul(("px",), ("m",)), ("py",)),
            _add(_mul(("px",), 2), ("const", self._pick(0, 1))),
            ("bin", "udiv", ("px",), ("const", 2)),
            ("bin", "xor", ("px",), ("const", self._pick(1, 3, 64))),
            _add(_mul(("gx",), self._pick(self.threads, 64, 32)), ("t",)),
            _add(("px",), ("n",)),
            ("bin", "sub", ("n",), ("px",)),
            ("fn", 1, ("px",), ("py",)),
            _mod(("px",), self._pick(64, 100)),
            ("data", ("px",)),
        ]
        conditions: list[Tree] = [
            _below(("px",), ("n",)),
            _below(("px",), ("n",)),
            _below(("py",), ("m",)),
            ("and", _below(("px",), ("n",)), _below(("py",), ("m",))),
            _below(_mul(("px",), 2), ("n",)),
            ("compare", "eq", ("lane",), ("const", 0)),
            ("compare", "eq", ("py",), ("const", 0)),
        ]
        one, other = self._buffer(), self._buffer()
        body: list[Tree] = [self._write(one, self._pick(*places))]
        for _ in range(self._pick(0, 1, 1, 2)):
            make = self._pick(self._read, self._write, self._atomic)
            body.append(make(self._pick(one, other), self._pick(*places)))
            if self._chance.random() < 0.4:
                body.append(self._barrier(1, 3))
        self._chance.shuffle(body)
        form = self._pick("plain", "if", "if", "if", "turns", "rows")
        if form == "if":
            return (("if", self._pick(*conditions), tuple(body), ()),)
        if form == "plain":
            return tuple(body)

        def turns(turn: Tree) -> tuple[Tree, ...]:
            index = self._pick(
                _add(("px",), _mul(turn, threads)),
                _add(_mul(("px",), ("n",)), turn),
                _add(_mul(turn, ("n",)), ("px",)),
                _add(_mul(("gx",), ("m",)), turn),
                turn,
            )
            return (self._write(one, index), *self._pick((), (self._read(other, index),)))

        start = self._pick(("const", 0), ("const", 0), ("t",), ("px",))
        step = self._pick(1, 1, self.threads, 64)
        return (self._for(start, self._pick(("n",), ("m",)), step, turns),)

    def _histogram(self) -> tuple[Tree, ...]:
        """Counters that are cleared, counted up by everybody, and written out."""
        bins = self._pick(64, 128, 256)

        def fill(turn: Tree) -> tuple[Tree, ...]:
            return (self._store(0, turn, ("const", 0)),)

        def count(turn: Tree) -> tuple[Tree, ...]:
            return (self._atomic(0, _mod(("data", turn), bins)),)

        def out(turn: Tree) -> tuple[Tree, ...]:
            at = self._pick(turn, _add(_mul(("gx",), bins), turn))
            add = self._atomic(self._buffer(), at)
            return (self._load(0, 0, turn), self._pick(add, self._write("out0", at, ("var", 0))))

        step = self._pick(self.threads, self.threads, 64)
        return (
            self._for(("t",), bins, step, fill),
            self._barrier(2),
            self._for(self._pick(("t",), ("px",)), ("n",), self.threads, count),
            self._barrier(2),
            self._for(("t",), bins, step, out),
        )

    def _lanes(self) -> tuple[Tree, ...]:
        """What lanes of a simdgroup find together, one place for each simdgroup."""
        op = self._pick("sum", "min", "max", "or", "first", "ballot", "shuffle", "shuffle")
        other = self._pick(("const", 0), ("bin", "xor", ("lane",), ("const", 1)), ("m",), ("lane",))
        value = self._pick(("t",), ("t",), ("lane",), ("px",), ("var", 1), ("data", ("t",)))
        find: Tree = ("lanes", op, 0, value, other)
        place = self._pick(
            ("sg",),
            ("sg",),
            ("t",),
            ("lane",),
            _add(("sg",), _mul(("var", 0), 2)),
            ("var", 0),
            _add(_mul(("sg",), 32), ("var", 0)),
            _add(("t",), _mul(("var", 0), 64)),
        )
        leader = self._pick(
            ("compare", "eq", ("lane",), ("const", 0)),
            ("compare", "eq", ("lane",), ("const", 0)),
            ("compare", "eq", ("lane",), ("var", 0)),
            ("compare", "ult", ("lane",), ("const", 2)),
            ("compare", "eq", ("var", 0), ("t",)),
        )
        store = self._store(0, place, ("var", 0))
        waits = self._pick(
            self._barrier(2),
            ("if", ("compare", "ugt", ("var", 0), ("const", 3)), (self._barrier(2),), ()),
        )
        read = self._load(1, 0, self._pick(("lane",), _mod(("lane",), 2), ("sg",), place))
        if self._chance.random() < 0.3:
            find = ("if", self.condition(), (find,), ())
        return (find, ("if", leader, (store,), ()), waits, read, *self._result())

    def _anything(self) -> tuple[Tree, ...]:
        return self.block(0, barriers=True)

    # -- statements and numbers, wider ------------------------------------------------------------

    def statement(self, depth: int, *, barriers: bool) -> Tree:
        chance = self._chance.random()
        if chance < 0.25:
            make = self._pick(self._write, self._write, self._read, self._atomic)
            return make(self._pick(0, 1, *BUFFERS, *BUFFERS), self.index())
        if chance < 0.32:
            ops = ("shuffle", "first", "sum", "min", "max", "or", "ballot")
            return ("lanes", self._pick(*ops), self._variable(), self.number(1), self.number(0))
        if chance < 0.35:
            return ("simdgroup_barrier", self._pick(0, 2, 3))
        return super().statement(depth, barriers=barriers)

    def index(self) -> Tree:
        if self._chance.random() < 0.4:
            return self._pick(
                ("px",), ("px",), _add(_mul(("py",), ("n",)), ("px",)), _add(("px",), ("const", 1))
            )
        return super().index()

    def number(self, depth: int) -> Tree:
        chance = self._chance.random()
        if chance < 0.12:
            return self._pick(("x",), ("y",), ("gx",), ("px",), ("py",), ("groups",))
        if chance < 0.18 and depth > 0:
            number = self._chance.randrange(len(FUNCTIONS))
            return ("fn", number, self.number(depth - 1), self.number(depth - 1))
        return super().number(depth)

    # -- damage -----------------------------------------------------------------------------------

    def _damaged(self, body: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """With a statement less, moved, or changed, at some depth."""
        if not body:
            return body
        at = self._chance.randrange(len(body))
        inner = [place for place, each in enumerate(body[at]) if is_body(each)]
        if inner and self._chance.random() < 0.7:
            place = self._pick(*inner)
            changed = (*body[at][:place], self._damaged(body[at][place]), *body[at][place + 1 :])
            return (*body[:at], changed, *body[at + 1 :])
        kind = self._pick("drop", "drop", "bare", "index", "flags", "guard", "swap")
        tree = body[at]
        if kind == "drop":
            return (*body[:at], *body[at + 1 :])
        if kind == "bare" and tree[0] == "if":
            return (*body[:at], *tree[2], *body[at + 1 :])
        if kind == "index" and tree[0] in ("put", "get"):
            place = 4 if tree[0] == "put" else 5
            by = self._pick(_add(tree[place], ("const", 1)), self.index(), _mod(tree[place], 64))
            tree = (*tree[:place], by, *tree[place + 1 :])
        elif kind == "flags" and tree[0] == "barrier":
            tree = (*tree[:2], self._pick(0, 1, 2, 3))
        elif kind == "guard" and tree[0] != "barrier":
            tree = ("if", self.condition(), (tree,), ())
        elif kind == "swap" and at + 1 < len(body):
            return (*body[:at], body[at + 1], tree, *body[at + 2 :])
        return (*body[:at], tree, *body[at + 1 :])


def wide(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return Wide(random.Random(seed)).wide()


def ragged(seed: int) -> RandomKernel:
    """The kernel of a seed, for grids whose last threadgroups may not be full."""
    return replace(wide(seed + _OTHERS), is_ragged=True)
