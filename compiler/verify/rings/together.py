"""Which redundant barriers can go together: each is redundant as long as the others are there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.sim.site import Site

_MOST_PAIRED: Final = 4
_MOST_TRIED: Final = 16  # sets: each takes as long as a barrier alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """With which others a barrier can go.

    Attributes:
        together: all of these at once, and it.
        not_with: none of these.
        not_with_all: not all of these at once, though maybe some.
    """

    together: tuple[Site, ...] = ()
    not_with: tuple[Site, ...] = ()
    not_with_all: tuple[Site, ...] = ()


def companies(
    sites: Sequence[Site], can_go: Callable[[Sequence[Site]], bool]
) -> dict[Site, Company]:
    """Of each barrier, with which others it can go; what is not told was not tried.

    Args:
        sites: barriers, each of which can go alone.
        can_go: whether some can go at once.
    """
    tries = _Tries(can_go)
    groups, blocked = _groups(sites, tries)
    mates = {site: [each for each in group if each != site] for group in groups for site in group}
    blocking = {site: _least(site, group, tries) for site, group in blocked.items()}
    rivals = _rivals(sites, tries)
    return {
        site: Company(
            together=tuple(mates[site]),
            not_with=tuple(rivals[site]),
            not_with_all=_if_without(blocking.get(site, ()), rivals[site]),
        )
        for site in sites
    }


def _if_without(blocking: tuple[Site, ...], rivals: Sequence[Site]) -> tuple[Site, ...]:
    """A set that cannot go with a barrier, unless one of it is what is in the way."""
    return blocking if set(blocking).isdisjoint(rivals) else ()


class _Tries:
    """What was tried, up to a limit."""

    def __init__(self, can_go: Callable[[Sequence[Site]], bool]) -> None:
        self._can_go = can_go
        self._found: dict[frozenset[Site], bool] = {}

    def can(self, *sites: Site) -> bool | None:
        """Whether some can go at once; None if that is not tried."""
        known = self.known(*sites)
        if known is None and len(self._found) < _MOST_TRIED:
            known = self._found[frozenset(sites)] = self._can_go(sites)
        return known

    def known(self, *sites: Site) -> bool | None:
        """The same, if it follows from what was tried: with more of them, less is proved."""
        asked = frozenset(sites)
        if any(can and asked <= tried for tried, can in self._found.items()):
            return True
        if any(not can and asked >= tried for tried, can in self._found.items()):
            return False
        return None


def _groups(
    sites: Sequence[Site], tries: _Tries
) -> tuple[list[list[Site]], dict[Site, tuple[Site, ...]]]:
    """Sets that can go at once, the first as large as it gets in the program's order, and of those
    that did not get into it, with which they cannot.
    """
    groups: list[list[Site]] = []
    blocked: dict[Site, tuple[Site, ...]] = {}
    left = [*sites]
    while left:
        if len(left) == 1 or tries.can(*left):
            return [*groups, left], blocked
        group, *others = left
        groups.append([group])
        left = []
        for site in others:
            can = tries.can(*groups[-1], site)
            if can:
                groups[-1].append(site)
                continue
            left.append(site)
            if can is False:
                blocked.setdefault(site, tuple(groups[-1]))
    return groups, blocked


def _least(site: Site, group: tuple[Site, ...], tries: _Tries) -> tuple[Site, ...]:
    """Those of a group without which a barrier still cannot go, as few as are found."""
    least = group
    for each in group:
        fewer = tuple(other for other in least if other != each)
        if fewer and tries.can(*fewer, site) is False:
            least = fewer
    return least


def _rivals(sites: Sequence[Site], tries: _Tries) -> dict[Site, list[Site]]:
    """Of each barrier, those that cannot go with it, as far as pairs are tried."""
    rivals: dict[Site, list[Site]] = {site: [] for site in sites}
    first = frozenset(sites[:_MOST_PAIRED])
    for one, other in itertools.combinations(sites, 2):
        can = tries.can(one, other) if first >= {one, other} else tries.known(one, other)
        if can is False:
            rivals[one].append(other)
            rivals[other].append(one)
    return rivals
