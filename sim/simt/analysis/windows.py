"""Plans how lanes' elements lie together in memory, from the form of their byte offsets."""

from __future__ import annotations

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
    by_terms: dict[tuple[int, ...], list[int]] = {}
    for lane in range(LANES):
        by_terms.setdefault(tuple(p[lane] for _, p in form.terms), []).append(lane)
    groups: list[Group] = []
    for factors, lanes in by_terms.items():
        terms = tuple((v, f) for (v, _), f in zip(form.terms, factors, strict=True) if f)
        for cluster in _clusters(form, lanes, size * components):
            if len(groups) == _MAX_GROUPS:
                return None
            group = _group(form, cluster, terms, size, components, writing)
            if group is None:
                return None
            groups.append(group)
    return groups


def _clusters(form: Form, lanes: list[int], size: int) -> list[list[int]]:
    """Lanes that lie close together; what is far apart is not read in one piece."""
    ordered = sorted(lanes, key=lambda lane: (form.lanes[lane], lane))
    clusters = [[ordered[0]]]
    for before, lane in itertools.pairwise(ordered):
        if form.lanes[lane] - form.lanes[before] - size >= max(_GAP, size):
            clusters.append([])
        clusters[-1].append(lane)
    return [sorted(cluster) for cluster in clusters]


def _group(
    form: Form,
    lanes: list[int],
    terms: tuple[tuple[Value, int], ...],
    size: int,
    components: int,
    writing: bool,
) -> Group | None:
    offsets = [form.lanes[lane] for lane in lanes]
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
    return Group(tuple(lanes), terms, low, elements, at)
