"""Random kernels whose indices come from threadgroup memory, whose loops have barriers that not all
iterations end in, and whose threads write what loops give to one place.
"""

from __future__ import annotations

import random

from .random_kernels import RandomKernel, Tree
from .wide_kernels import Wide


class _Handed(Wide):
    def handed(self) -> RandomKernel:
        body = self._pick(self._chased, self._last_without, self._summed)()
        # Arrays have whole places for all threads, which a wrong index may be beyond.
        return RandomKernel(body, self.threads, width=self.width, words=2 * self.threads)

    def _chased(self) -> tuple[Tree, ...]:
        """Each place holds the next one, which is mostly inside."""
        words = 2 * self.threads
        filled = self._pick(words, words, words, words - 1, self.threads)
        most = self._pick(words, words, words, words + 1, self.threads)

        def fill(at: Tree) -> tuple[Tree, ...]:
            moved: Tree = ("bin", "add", at, ("const", self._pick(1, 37)))
            turned = self._pick(moved, moved, ("bin", "mul", moved, ("n",)))
            value = self._pick(
                ("bin", "urem", turned, ("const", most)),
                ("bin", "urem", turned, ("const", most)),
                ("call", "umin", turned, ("const", most - 1)),
            )
            return (self._store(0, at, value),)

        def chase(_: Tree) -> tuple[Tree, ...]:
            further = self._pick(*[("var", 0)] * 4, ("bin", "add", ("var", 0), ("const", 1)))
            return (self._load(0, 0, further), *self._at_times(self._load(0, 0, ("var", 0))))

        begin = self._pick(("t",), ("t",), ("n",), ("bin", "mul", ("t",), ("const", 2)))
        last = self._store(0, ("t",), self._pick(("t",), ("n",), ("const", words)))
        wide = ("put", self._number(), 0, 4, ("t",), ("t",), self._pick("i16", "i64", "i8"))
        return (
            self._for(("t",), filled, self.threads, fill),
            *self._at_times(wide, 0.1),
            self._barrier(2, 2, 2),
            ("set", 0, begin),
            *self._at_times(self._load(0, 0, begin)),
            self._for(("const", 0), self._pick(3, 3, 1), 1, chase),
            *self._at_times(self._barrier(2, 2)),
            *self._at_times(last, 0.2),
        )

    def _last_without(self) -> tuple[Tree, ...]:
        """Rounds of writes and reads, the last of which mostly needs no barrier behind it."""
        bound = self._pick(("n",), ("n",), ("const", 3), ("m",))
        step = self._pick(1, 1, 2)

        def one_round(turn: Tree) -> tuple[Tree, ...]:
            write = self._store(0, self._pick(("t",), ("t",), ("lane",)), turn)
            there = ("bin", "sub", ("const", self.threads - 1), ("t",))
            read = self._load(0, 0, self._pick(there, there, ("t",)))
            by = self._pick(step, step, step, 1, 2)
            later: Tree = ("bin", "add", turn, ("const", by))
            goes_on: Tree = ("compare", self._pick("ult", "ult", "ult", "ne", "ule"), later, bound)
            other: Tree = ("compare", "ult", turn, self._pick(bound, ("m",), ("const", 1)))
            end = ("if", self._pick(goes_on, goes_on, goes_on, other), (self._barrier(2, 2),), ())
            middle = self._at_times(self._barrier(2, 2, 2), 0.9)
            return self._pick((write, *middle, read, end), (end, write, *middle, read))

        most = bound[1] if bound[0] == "const" else bound
        rounds = self._for(("const", 0), most, step, one_round)
        behind = self._store(self._pick(0, 1), ("t",), ("const", 1))
        return (rounds, *self._at_times(behind, 0.2))

    def _summed(self) -> tuple[Tree, ...]:
        """What a loop makes of the same, or not, written by several threads."""
        same = self._pick(("const", 0), ("n",), ("gx",), ("data", ("gx",)))
        begin = self._pick(same, same, same, ("t",), ("data", ("t",)), ("lane",))
        first = self._pick(("const", 0), ("const", 0), ("gx",), ("t",))
        step = self._pick(1, 1, 2)

        def add(turn: Tree) -> tuple[Tree, ...]:
            more: Tree = ("data", self._pick(turn, turn, ("bin", "add", turn, ("gx",))))
            op = self._pick("add", "add", "xor", "mul")
            inner = ("set", 0, ("bin", op, ("var", 0), more))
            guard: Tree = (
                "compare",
                "ult",
                self._pick(turn, ("var", 0)),
                self._pick(("m",), ("n",)),
            )
            return (self._pick(inner, inner, ("if", guard, (inner,), ())),)

        memory = self._pick(0, "out0", "out0", "out1")
        at = self._pick(("const", 0), ("const", 0), ("gx",), ("bin", "udiv", ("t",), ("const", 32)))
        return (
            ("set", 0, begin),
            self._for(first, self._pick(("n",), ("n",), ("const", 5)), step, add),
            self._store(memory, at if memory == 0 else self._pick(at, ("gx",)), ("var", 0)),
        )

    def _at_times(self, statement: Tree, chance: float = 0.5) -> tuple[Tree, ...]:
        return (statement,) if self._chance.random() < chance else ()


def handed(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return _Handed(random.Random(seed)).handed()
