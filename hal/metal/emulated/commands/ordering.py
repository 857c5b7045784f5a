"""Which dispatches are ordered, for runs and times: those of one group number may run in any order.

Dispatches of a serial encoder have groups of their own. Those of a concurrent encoder share one
from barrier to barrier. A barrier for some memory counts as one for all, and encoders of one
queue count as ordered. Checks are stricter, see the package `order`; they take from here how
commands of an indirect command buffer are ordered.
"""

from itertools import count

from ..constants import MTLDispatchTypeConcurrent

_numbers = count(1)


def new_group() -> int:
    """A number that no dispatch has yet."""
    return next(_numbers)


class Ordering:
    """Hands out the groups of one encoder's dispatches."""

    __slots__ = ("_group", "_is_concurrent")

    def __init__(self, dispatch_type: int) -> None:
        self._is_concurrent = dispatch_type == MTLDispatchTypeConcurrent
        self._group = new_group()

    def next(self) -> int:
        """The group of the next dispatch."""
        if not self._is_concurrent:
            self._group = new_group()
        return self._group

    def barrier(self) -> None:
        """Order later dispatches after earlier ones."""
        self._group = new_group()
