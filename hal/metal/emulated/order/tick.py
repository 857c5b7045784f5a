"""When something happened in the program."""

from itertools import count

_ticks = count(1)


def tick() -> int:
    """A number that is larger than all before."""
    return next(_ticks)
