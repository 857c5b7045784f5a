"""Plans how lanes' elements lie together in memory, from the form of their byte offsets."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from ..ir.nodes import Value
from ..ir.shape import LANES
from .linear_form import Form

_MAX_GROUPS = 8
_MAX_ELEMENTS = 256
_GAP = 16  # bytes between lanes from which on they are accessed apart


@dataclass(frozen=True, slots=True)
class Group:
    """Lanes whose offsets differ only by constants.

    Attributes:
        lanes: the lanes.
        terms: (uniform value, factor) pairs to add to the form's base.
        low: byte offset of the window from there.
        elements: length of the window.
        at: index in the window of each lane's first element.
    """

    lanes: tuple[int, ...]
    terms: tuple[tuple[Value, int], ...]
    low: int
    elements: int
    at: tuple[int, ...]


def plan(form: Form, size: int, components: int, *, writing: bool) -> list[Group] | None:
    """Windows that cover all lanes' elements, or None if they are too many or too thin.

    Args:
        form: byte offsets by lane.
        size: bytes of an element.
        components: consecutive elements of each lane.
        writing: whether every element of a window must belong to exactly one lane.
    """
    patterns = tuple(pattern for _, pattern in form.terms)
    windows = _windows(form.lanes, patterns, size, components, writing)
    if windows is None:
        return None
    values = [value for value, _ in form.terms]
    return [
        Group(
            each.lanes,
            tuple((v, f) for v, f in zip(values, each.factors, strict=True) if f),
            each.low,
            each.elements,
            each.at,
        )
        for each in windows
    ]


@dataclass(frozen=True, slots=True)
class _Window:
    """A group whose terms have factors, but no values yet."""

    lanes: tuple[int, ...]
    factors: tuple[int, ...]
    low: int
    elements: int
    at: tuple[int, ...]


@functools.lru_cache(maxsize=4096)
def _windows(
    lanes: tuple[int, ...],
    patterns: tuple[tuple[int, ...], ...],
    size: int,
    components: int,
    writing: bool,
) -> list[_Window] | None:
    """The windows of all forms of these patterns: unrolled kernels have the same ones often."""
    by_factors: dict[tuple[int, ...], list[int]] = {}
    for lane in range(len(lanes)):
        by_factors.setdefault(tuple(p[lane] for p in patterns), []).append(lane)
    found: list[_Window] = []
    for factors, together in by_factors.items():
        for cluster in _clusters(lanes, together, size * components):
            if len(found) == _MAX_GROUPS:
                return None
            window = _window(lanes, cluster, factors, size, components, writing)
            if window is None:
                return None
            found.append(window)
    return found


def _clusters(offsets: tuple[int, ...], lanes: list[int], size: int) -> list[list[int]]:
    """Lanes that lie close together; what is far apart is not read in one piece."""
    ordered = sorted(lanes, key=lambda lane: (offsets[lane], lane))
    clusters = [[ordered[0]]]
    for before, lane in itertools.pairwise(ordered):
        if offsets[lane] - offsets[before] - size >= max(_GAP, size):
            clusters.append([])
        clusters[-1].append(lane)
    return [sorted(cluster) for cluster in clusters]


def _window(
    all_offsets: tuple[int, ...],
    lanes: list[int],
    factors: tuple[int, ...],
    size: int,
    components: int,
    writing: bool,
) -> _Window | None:
    offsets = [all_offsets[lane] for lane in lanes]
    low = min(offsets)
    if any((offset - low) % size for offset in offsets):
        return None
    at = tuple((offset - low) // size for offset in offsets)
    elements = max(at) + components
    needed = len({a + c for a in at for c in range(components)})
    if elements > _MAX_ELEMENTS or (elements > 2 * needed and elements > LANES):
        return None
    if writing and needed != elements:
        return None
    if writing and needed != len(lanes) * components:
        return None
    return _Window(tuple(lanes), factors, low, elements, at)
