"""Random kernels of which nothing but barriers orders the lanes of a simdgroup."""

from __future__ import annotations

import random
from dataclasses import replace

from .random_kernels import Memory, RandomKernel, Tree, is_body
from .wide_kernels import FUNCTIONS, Wide

_OTHERS = 2_000_000  # from where on seeds are those of wide kernels without lock step


class _Strict(Wide):
    def strict(self) -> RandomKernel:
        """One whose lanes exchange something, or one of what people write."""
        if self._chance.random() < 0.3:
            kernel = self.wide()
            return replace(kernel, body=self._with_barriers(kernel.body), is_strict=True)
        body = self._exchanges()
        for _ in range(self._pick(0, 0, 1, 1, 2)):
            body = self._damaged(body)
        holds = self._pick((), ("groups.x == 1", "groups.y == 1"), ("n <= 64",), ("grid.x <= n",))
        return RandomKernel(
            body,
            self.threads,
            width=self.width,
            words=1024,
            holds=holds,
            functions=FUNCTIONS,
            is_strict=True,
        )

    def _exchanges(self) -> tuple[Tree, ...]:
        """Lanes write, perhaps wait, and read what others wrote, once or in turns."""
        memory = self._pick(0, 0, 0, "out0")
        mine = self._pick(("t",), ("t",), self._of_simdgroup(("lane",)))
        if memory == "out0":
            mine = self._pick(("px",), mine)
        others = self._others(mine)
        form = self._pick("once", "once", "turns", "halves", "two")
        write = self._store(memory, mine, self._pick(("t",), ("var", 0)))
        read = self._load(0, memory, others)
        if form == "once":
            return (write, *self._wait(memory), read)
        if form == "two":
            last = self._store(memory, self._pick(mine, others), ("lane",))
            return (write, *self._wait(memory), read, *self._wait(memory), last)
        if form == "halves":
            self._loops += 1
            name = f"l{self._loops}"
            lane: Tree = ("bin", "xor", ("lane",), ("loop", name))
            read = self._load(0, memory, self._of_simdgroup(lane))
            body = (write, *self._wait(memory), read, *self._wait(memory))
            return (("halve", self._number(), name, self._pick(4, 16, 16, 32), body),)

        def turns(turn: Tree) -> tuple[Tree, ...]:
            two: Tree = ("bin", "mul", ("bin", "urem", turn, ("const", 2)), ("const", 128))
            place = self._pick(mine, mine, ("bin", "add", mine, two))
            return (
                self._store(memory, place, turn),
                *self._wait(memory),
                self._load(0, memory, self._pick(others, others, ("bin", "add", others, two))),
                *self._pick((), self._wait(memory), self._wait(memory)),
            )

        bound = self._pick(("n",), ("m",), ("const", 3))
        return (self._for(("const", 0), bound, 1, turns),)

    def _of_simdgroup(self, lane: Tree) -> Tree:
        return ("bin", "add", ("bin", "mul", ("sg",), ("const", 32)), lane)

    def _others(self, mine: Tree) -> Tree:
        """Where another lane of the simdgroup writes, or of another, or nobody."""
        by = self._pick(1, 2, 16, 31, 32)
        lane = self._pick(
            ("bin", "xor", ("lane",), ("const", self._pick(1, 7, 31))),
            ("bin", "urem", ("bin", "add", ("lane",), ("const", 1)), ("const", 32)),
            ("const", self._pick(0, 31)),
        )
        return self._pick(
            mine,
            ("bin", "xor", ("t",), ("const", by)),
            self._of_simdgroup(lane),
            self._of_simdgroup(lane),
            self._of_simdgroup(lane),
            ("bin", "sub", ("const", self.threads - 1), ("t",)),
        )

    def _wait(self, memory: Memory) -> tuple[Tree, ...]:
        flag = 2 if isinstance(memory, int) else 1
        flags = self._pick(*[flag] * 5, 3, 3 - flag, 0)
        simdgroup: Tree = ("simdgroup_barrier", flags)
        some: Tree = ("if", self.condition(), (simdgroup,), ())
        whole: Tree = ("barrier", self._number(), flags)
        return self._pick(*[(simdgroup,)] * 6, (whole,), (whole,), (some,), ())

    def _with_barriers(self, body: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """With barriers of the simdgroup in the place of some others, and behind some stores."""
        found: list[Tree] = []
        for each in body:
            tree = tuple(self._with_barriers(part) if is_body(part) else part for part in each)
            chance = self._chance.random()
            if tree[0] == "barrier" and chance < 0.3:
                tree = ("simdgroup_barrier", tree[2])
            found.append(tree)
            if tree[0] in ("put", "store") and chance < 0.4:
                found.append(("simdgroup_barrier", self._pick(1, 2, 2, 3)))
        return tuple(found)


def strict(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return _Strict(random.Random(seed + _OTHERS)).strict()
