"""Random kernels about what is easily taken for granted: that numbers do not wrap, that lanes find
the same across, that there is a thread that writes what is read.
"""

from __future__ import annotations

import random

from .random_kernels import RandomKernel, Tree
from .wide_kernels import Wide

_SHIFTS = (24, 25, 26, 27, 28)  # of 32 bits, which leave as many threads apart as there are


class _Sharp(Wide):
    def sharp(self) -> RandomKernel:
        body = self._pick(self._wrapping, self._lanes_alike, self._beyond)()
        return RandomKernel(body, self.threads, width=self.width, words=1024)

    def _wrapping(self) -> tuple[Tree, ...]:
        """Places from products, shifts and differences that may wrap."""
        place = self._wrapped()
        store = self._store(0, place, self._pick(("t",), ("lane",)))
        last = self._load(0, 0, self._pick(place, ("t",), ("bin", "xor", ("t",), ("const", 32))))
        guard = self._pick(None, self._wrapped_test(), self._wrapped_test())
        stores = (store,) if guard is None else (("if", guard, (store,), ()),)
        return (*stores, self._barrier(2), last)

    def _wrapped(self) -> Tree:
        by = self._pick(*_SHIFTS)
        mine = self._pick(("t",), ("t",), ("bin", "add", ("t",), ("const", self._pick(1, 32))))
        wide = self._pick(
            ("bin", "shl", mine, ("const", by)), ("bin", "mul", mine, ("const", 1 << by))
        )
        back = self._pick(
            ("bin", "lshr", wide, ("const", by)), ("bin", "udiv", wide, ("const", 1 << by))
        )
        less: Tree = ("bin", "sub", mine, ("const", self._pick(1, 32, 40)))
        return self._pick(back, back, ("bin", "lshr", less, ("const", self._pick(20, 25, 27))))

    def _wrapped_test(self) -> Tree:
        less: Tree = ("bin", "sub", ("t",), ("const", self._pick(1, 8, 32)))
        predicate = self._pick("ult", "ugt", "slt")
        return ("compare", predicate, less, ("const", self._pick(8, 31, 32, 40)))

    def _lanes_alike(self) -> tuple[Tree, ...]:
        """One lane of each simdgroup writes, or those that find the same."""
        op = self._pick("shuffle", "shuffle", "shuffle", "first", "min", "ballot")
        other = self._pick(
            ("lane",), ("const", 0), ("m",), ("bin", "xor", ("lane",), ("const", self._pick(1, 16)))
        )
        value = self._pick(("lane",), ("lane",), ("t",), ("bin", "urem", ("lane",), ("const", 2)))
        find = ("lanes", op, 0, value, other)
        leader = ("compare", self._pick("eq", "eq", "ult"), ("lane",), ("var", 0))
        place = self._pick(("sg",), ("sg",), ("bin", "urem", ("t",), ("const", 32)), ("var", 0))
        store = self._store(0, place, self._pick(("lane",), ("var", 0), ("t",)))
        return (find, ("if", leader, (store,), ()), self._barrier(2))

    def _beyond(self) -> tuple[Tree, ...]:
        """Reads near the end of what was written."""
        step, shift = self._pick(1, 1, 2, 3), self._pick(0, 0, 1, 5, 32)
        mine: Tree = ("bin", "mul", ("t",), ("const", step)) if step > 1 else ("t",)
        store = self._store(0, ("bin", "add", mine, ("const", shift)), ("t",))
        further = self._pick(0, 1, 2, 3, 8, shift, self.threads // 2)
        place: Tree = ("bin", "add", self._pick(mine, ("t",)), ("const", further))
        place = self._pick(
            place, ("bin", "sub", ("const", self.threads - 1 + shift), ("t",)), place
        )
        return (store, self._barrier(2), self._load(0, 0, place))


def sharp(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    return _Sharp(random.Random(seed)).sharp()
