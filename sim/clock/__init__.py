"""Simulated time: integer ticks, clock domains, links that share their bandwidth."""

from .environment import Environment, FractionalTime, Steps
from .link import Link, Transfer
from .semaphore import Semaphore
from .shared import Shared
from .time import TICKS_PER_SECOND, ClockDomain, seconds_of, ticks_of

__all__ = [
    "TICKS_PER_SECOND",
    "ClockDomain",
    "Environment",
    "FractionalTime",
    "Link",
    "Semaphore",
    "Shared",
    "Steps",
    "Transfer",
    "seconds_of",
    "ticks_of",
]
