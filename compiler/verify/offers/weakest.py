"""The weakest of conditions that help: as they are asked about, none can be left out or be weaker.

Conditions are tried together first. If that helps, those are found that are needed, by halves
(U. Junker, "QuickXplain", AAAI 2004), and then how weak each can be. This takes for granted that
what helps still does if more is assumed.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Iterable, Sequence

from .rising import Chosen, Rising, strongest

Ask = Callable[[Sequence[Chosen]], bool]
_MOST_PARTS = 5  # more would tell nobody anything


def weakest(tries: Iterable[Sequence[Chosen]], helps: Ask, can_be: Ask) -> list[Chosen]:
    """Conditions under which something holds together; none if none are found.

    Args:
        tries: what may be assumed, one after the other; of each the more natural comes first, and
            stays rather than others.
        helps: whether it holds under conditions.
        can_be: whether anything fulfils conditions together.
    """
    for everything in tries:
        needed = _needed([], _helping(everything, helps, can_be), helps)
        if 0 < len(needed) <= _MOST_PARTS:
            for at in reversed(range(len(needed))):  # the more natural ones give way last
                needed = _weaker(needed, at, helps)
            return needed
    return []


def _helping(everything: Sequence[Chosen], helps: Ask, can_be: Ask) -> list[Chosen]:
    """Conditions that something fulfils together, if they help; else none.

    Where not all can hold, those that are less natural may have to go first, or last.
    """
    if not everything:
        return []
    if can_be(everything):
        return list(everything) if helps(everything) else []
    for order in (everything, everything[::-1]):
        chosen = _possible(order, can_be)
        if chosen and helps(chosen):
            return chosen if order is everything else chosen[::-1]
    return []


def _possible(everything: Sequence[Chosen], can_be: Ask) -> list[Chosen]:
    """Conditions that something fulfils together, the first ones as strong as they can be."""
    kept: list[Chosen] = []
    for each in everything:
        is_in_vain = functools.partial(_is_impossible, kept, each.rising, can_be)
        count = bisect.bisect_left(range(each.at + 1), True, key=is_in_vain)
        kept = [*kept, Chosen(each.rising, count - 1)] if count else kept
    return kept


def _is_impossible(beside: list[Chosen], rising: Rising, can_be: Ask, at: int) -> bool:
    return not can_be([*beside, Chosen(rising, at)])


def _needed(beside: list[Chosen], of: list[Chosen], helps: Ask) -> list[Chosen]:
    """Those of conditions, which help beside others, that are needed to."""
    if not of or (beside and helps(beside)):
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

    def helps_with(one: Chosen) -> bool:
        return helps(_with(chosen, at, one))

    rising, most = chosen[at].rising, chosen[at].at
    if rising.implied and helps_with(other := strongest(rising.implied[most])):
        return _weaker(_with(chosen, at, other), at, helps)
    level = bisect.bisect_left(
        range(most), True, key=lambda level: helps_with(Chosen(rising, level))
    )
    return _with(chosen, at, Chosen(rising, level))


def _with(chosen: list[Chosen], at: int, one: Chosen) -> list[Chosen]:
    return [*chosen[:at], one, *chosen[at + 1 :]]
