"""Numbers that the compiled core and Python share."""

from __future__ import annotations

from enum import IntEnum

TICKS = 256  # to a cycle
PARTITIONS = 4  # of a core
QUEUES = ("l1", "l2", "slc", "dram", "threadgroup_memory", "atomic")
# What is counted of accesses to threadgroup memory: how many, how long its port served them, and
# how often as long as one without conflict the bank that most lanes name takes.
BANKS = ("accesses", "served", "ways")
MARKS = 1024  # notes of how far the core is
REUSE = 8  # an instruction so far behind another reads its result at no extra cost


class Does(IntEnum):
    """What an instruction class does."""

    ARITHMETIC = 0
    CACHED_LOAD = 1
    CACHED_STORE = 2
    CACHED_ATOMIC = 3
    PRIVATE_ACCESS = 4
    THREADGROUP_ACCESS = 5
    THREADGROUP_ATOMIC = 6
    WAIT_ALL = 7
    WAIT_COPIES = 8
    COPY_FROM_CACHED = 9
    COPY_TO_CACHED = 10
    COPY_FROM_THREADGROUP = 11
    COPY_TO_THREADGROUP = 12
