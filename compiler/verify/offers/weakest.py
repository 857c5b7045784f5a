"""The weakest of conditions that help: none can be left out, and none be weaker.

Whether conditions help only grows with what is assumed. So all of them are tried together, in their
strongest forms; if that helps, those are found that are needed, by halves (U. Junker,
"QuickXplain", AAAI 2004), and then how weak each can be.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from .rising import Chosen, Rising, together

Ask = Callable[[str], bool]


def weakest(choices: Sequence[Rising], helps: Ask, can_be: Ask) -> str:
    """Conditions under which something holds, as one; empty if all of them do not help.

    Args:
        choices: what may be assumed; the more natural comes first, and stays rather than others.
        helps: whether it holds under a condition.
        can_be: whether anything fulfils a condition.
    """
    everything = _helping(choices, helps, can_be)
    if not everything:
        return ""
    needed = _needed([], everything, helps)
    for at in range(len(needed)):
        needed = _weaker(needed, at, helps)
    return together(needed)


def _helping(choices: Sequence[Rising], helps: Ask, can_be: Ask) -> list[Chosen]:
    """The strongest conditions that something fulfils together, if they help; else none.

    Where not all can hold, those that are less natural may have to go first, or last.
    """
    everything = [Chosen(each) for each in choices]
    if not everything:
        return []
    if can_be(together(everything)):
        return everything if helps(together(everything)) else []
    for order in (choices, choices[::-1]):
        chosen = _possible(order, can_be)
        if chosen and helps(together(chosen)):
            return sorted(chosen, key=lambda each: choices.index(each.rising))
    return []


def _possible(choices: Sequence[Rising], can_be: Ask) -> list[Chosen]:
    """Conditions that something fulfils together, the first ones as strong as they can be."""
    kept: list[Chosen] = []
    for each in choices:
        beside = functools.partial(_is_possible_beside, kept, each, can_be)
        count = bisect.bisect_left(range(len(each.texts)), True, key=lambda at: not beside(at))
        kept = [*kept, Chosen(each, count - 1)] if count else kept
    return kept


def _is_possible_beside(beside: list[Chosen], rising: Rising, can_be: Ask, at: int) -> bool:
    return can_be(together([*beside, Chosen(rising, at)]))


def _needed(beside: list[Chosen], of: list[Chosen], helps: Ask) -> list[Chosen]:
    """Those of conditions, which help beside others, that are needed to."""
    if beside and helps(together(beside)):
        return []
    return _needed_of(beside, of, helps)


def _needed_of(beside: list[Chosen], of: list[Chosen], helps: Ask) -> list[Chosen]:
    """The same, where at least one is needed."""
    if len(of) == 1:
        return of
    half = len(of) // 2
    natural, others = of[:half], of[half:]
    of_others = _needed([*beside, *natural], others, helps)
    of_natural = (
        _needed([*beside, *of_others], natural, helps)
        if of_others
        else _needed_of(beside, natural, helps)
    )
    return [*of_natural, *of_others]


def _weaker(chosen: list[Chosen], at: int, helps: Ask) -> list[Chosen]:
    """Conditions of which one is as weak as it can be."""
    levels = range(chosen[at].at % len(chosen[at].rising.texts))
    weakest = bisect.bisect_left(
        levels, True, key=lambda level: helps(together(_with(chosen, at, level)))
    )
    return _with(chosen, at, weakest)


def _with(chosen: list[Chosen], at: int, level: int) -> list[Chosen]:
    return [*chosen[:at], replace(chosen[at], at=level), *chosen[at + 1 :]]
