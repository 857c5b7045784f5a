"""Random kernels that write where numbers in a buffer say, and what is assumed of the numbers."""

from __future__ import annotations

import random
from collections.abc import Callable

from .random_kernels import DATA, Memory, RandomKernel, Tree
from .wide_kernels import FUNCTIONS, Wide

_COUNT = len(DATA)
_END = max(DATA) + 1
_CONTENTS = (
    (),
    ("distinct(data)",),
    ("distinct(data)",),
    (f"data[*] < {_END}",),
    (f"data[*] < {_END}", "distinct(data)"),
    (f"data[*] < {_END} and distinct(data)",),
    (f"0 < data[*] and data[*] <= {_END} and distinct(data)",),
)
_LAUNCHES = ((), ("groups.x == 1", "groups.y == 1"), ("groups.y == 1",), ("n <= 64",))
_LENGTHS: tuple[dict[str, str], ...] = (
    {},
    {"out0": f"{4 * _END}", "out1": f"{4 * _END}"},
    {"out0": f"{4 * (_END - 1)}", "out1": f"{4 * _END} * groups.x"},
    {"out0": f"{4 * _END} * groups.x * groups.y", "out1": f"{8 * _END}"},
)


class _Chosen(Wide):
    def chosen(self) -> RandomKernel:
        body = self._pick(self._scattered, self._scattered, self._gathered)()
        for _ in range(self._pick(0, 0, 0, 1)):
            body = self._damaged(body)
        return RandomKernel(
            body,
            self.threads,
            width=self.width,
            words=self._pick(_END, _END, _END - 1, 2 * _END, 256),
            holds=(*self._pick(*_CONTENTS), *self._pick(*_LAUNCHES)),
            lengths=self._pick(*_LENGTHS),
            functions=FUNCTIONS,
        )

    def _scattered(self) -> tuple[Tree, ...]:
        """Threads write where their number says, once, or in another memory a second time."""
        memory = self._pick(*[self._buffer()] * 3, 0)
        first = self._each(lambda mine: self._placed(memory, mine))
        if self._chance.random() < 0.6:
            return first
        barrier = self._barrier(3, 3, 3)
        return (*first, barrier, *self._each(lambda mine: self._placed(memory, mine)))

    def _gathered(self) -> tuple[Tree, ...]:
        """Threads fill an array, and read where their number says."""
        end = self._pick(_END, _END, _END - 1)

        def fill(at: Tree) -> tuple[Tree, ...]:
            return (self._store(0, at, at),)

        fills = self._for(("t",), end, self.threads, fill)

        def read(mine: Tree) -> tuple[Tree, ...]:
            result = self._store(self._buffer(), self._pick(mine, mine, ("px",)), ("var", 1))
            return (self._load(1, 0, mine), result)

        return (fills, self._barrier(2, 2, 2), *self._each(read))

    def _each(self, use: Callable[[Tree], tuple[Tree, ...]]) -> tuple[Tree, ...]:
        """What threads do with a number of theirs; mostly there are as many as numbers."""
        count = self._pick(*[_COUNT] * 5, _COUNT + 1)
        which = self._pick(0, 0, 1)
        if self._chance.random() < 0.3:

            def turn(at: Tree) -> tuple[Tree, ...]:
                return (("set", 0, ("data", at)), *use(self._of_number()))

            return (self._for(("t",), count, self._pick(self.threads, self.threads, 8), turn),)
        at = self._pick(("t",), ("t",), ("t",), ("x",), ("bin", "xor", ("t",), ("const", which)))
        read: Tree = ("set", 0, ("data", at))
        inner = use(self._of_number())
        guard = ("compare", "ult", self._pick(at, at, ("t",)), ("const", count))
        return self._pick((read, ("if", guard, inner, ())), (("if", guard, (read, *inner), ()),))

    def _of_number(self) -> Tree:
        number: Tree = ("var", 0)
        turned: Tree = ("bin", "sub", ("const", self._pick(_END, _END, _END - 1)), number)
        return self._pick(number, number, number, number, turned)

    def _placed(self, memory: Memory, mine: Tree) -> tuple[Tree, ...]:
        """A write to a place, of each threadgroup's own part or of none."""
        stride = self._pick(_END, _END, _END - 1, 2 * _END)
        group = self._pick(("gx",), ("gx",), ("bin", "mul", ("gx",), ("groups",)))
        part: Tree = ("bin", "mul", group, ("const", stride))
        at = self._pick(mine, ("bin", "add", mine, part), ("bin", "add", part, mine))
        if isinstance(memory, int):
            at = mine
        value = self._pick(("t",), ("t",), ("n",), mine)
        scale, kind = self._pick(*[(4, "i32")] * 6, (8, "i64"), (4, "i64"), (2, "i16"), (8, "i32"))
        return (("put", self._number(), memory, scale, at, value, kind),)


def chosen(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return _Chosen(random.Random(seed)).chosen()
