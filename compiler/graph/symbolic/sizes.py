"""Shapes of results that ONNX's own inference leaves open, where sizes have names.

Each rule gives the shape from the shapes of the inputs and, where it needs them, their elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .contents import Elements
from .dims import Dim, Dims, Element, combined, parts

_OPEN_END: Final = 1 << 31
"""Ends of slices from here on mean: to the end."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An operator: shapes of its inputs, their elements if they can be known, its attributes."""

    shapes: Sequence[Dims | None]
    elements: Callable[[int], Elements | None]
    attributes: Mapping[str, Any]
    outputs: int


def shapes_of(op: str, asked: Asked) -> list[Dims] | None:
    """The shapes of an operator's results; None if there is no rule, or it needs more."""
    rule = _RULES.get(op)
    if rule is None or not asked.shapes or asked.shapes[0] is None:
        return None
    return rule(asked)


def _windowed(asked: Asked) -> list[Dims] | None:
    x = asked.shapes[0]
    assert x is not None
    spatial = len(x) - 2
    weights = asked.shapes[1] if len(asked.shapes) > 1 else None
    attributes = asked.attributes
    if attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", "NOTSET"):
        return None
    kernel: Any = attributes.get("kernel_shape") or (weights[2:] if weights else None)
    if kernel is None:
        return None
    strides = attributes.get("strides", [1] * spatial)
    dilations = attributes.get("dilations", [1] * spatial)
    pads = attributes.get("pads", [0] * (2 * spatial))
    rounding = "ceildiv" if attributes.get("ceil_mode") else "floordiv"
    sizes: list[Dim] = []
    for axis in range(spatial):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        room = combined("add", x[2 + axis], pads[axis] + pads[axis + spatial] - reach)
        steps = combined(rounding, room, strides[axis])  # type: ignore[arg-type]
        sizes.append(combined("add", steps, 1))
    channels = weights[0] if weights else x[1]
    return [(x[0], channels, *sizes)]


def _concat(asked: Asked) -> list[Dims] | None:
    shapes = [shape for shape in asked.shapes if shape is not None]
    axis = asked.attributes["axis"] % len(shapes[0])
    total: Dim = 0
    for shape in shapes:
        total = combined("add", total, shape[axis])
    return [(*shapes[0][:axis], total, *shapes[0][axis + 1 :])]


def _slice(asked: Asked) -> list[Dims] | None:
    ranges = slice_ranges(asked)
    x = asked.shapes[0]
    if ranges is None or x is None:
        return None
    sizes = list(x)
    for axis, (start, end) in ranges.items():
        sizes[axis] = combined("max", combined("sub", end, start), 0)
    return [tuple(sizes)]


def slice_ranges(asked: Asked) -> dict[int, tuple[Dim, Dim]] | None:
    """(start, end) by axis of a slice with steps of 1, both within the input's size."""
    x = asked.shapes[0]
    given = [asked.elements(number) for number in range(1, len(asked.shapes))]
    if x is None or len(given) < 2 or given[0] is None or given[1] is None:
        return None
    axes = given[2] if len(given) > 2 and given[2] is not None else range(len(given[0]))
    steps = given[3] if len(given) > 3 else None
    if steps is not None and any(step != 1 for step in steps):
        return None
    found: dict[int, tuple[Dim, Dim]] = {}
    for axis, start, end in zip(axes, given[0], given[1], strict=True):
        if not isinstance(axis, int):
            return None
        at = axis % len(x)
        found[at] = (_clamped(start, x[at]), _clamped(end, x[at]))
    return found


def _clamped(place: Dim, size: Dim) -> Dim:
    """Where a slice begins or ends; numbers below 0 count from the end."""
    if isinstance(place, int):
        if place < 0:
            return combined("max", combined("add", size, place), 0)
        if place >= _OPEN_END:
            return size
        if place == 0:
            return 0
    elif any(isinstance(part, Element) for part in parts(place)):
        below = combined("lt", place, 0)
        place = combined("add", place, combined("mul", below, size))
    return combined("min", combined("max", place, 0), size)


def _resize(asked: Asked) -> list[Dims] | None:
    sizes = asked.elements(3) if len(asked.shapes) > 3 else None
    return None if sizes is None else [tuple(sizes)]


def _expand(asked: Asked) -> list[Dims] | None:
    wanted = asked.elements(1)
    x = asked.shapes[0]
    if wanted is None or x is None:
        return None
    rank = max(len(wanted), len(x))
    a, b = ((1,) * (rank - len(each)) + tuple(each) for each in (x, wanted))
    pairs = list(zip(a, b, strict=True))
    if any(1 not in pair and pair[0] != pair[1] for pair in pairs):
        return None
    return [tuple(other if one == 1 else one for one, other in pairs)]


def _tile(asked: Asked) -> list[Dims] | None:
    repeats = asked.elements(1)
    x = asked.shapes[0]
    if repeats is None or x is None:
        return None
    return [tuple(combined("mul", a, b) for a, b in zip(x, repeats, strict=True))]


def _elementwise(asked: Asked) -> list[Dims] | None:
    """Shapes that broadcast; a size with a name goes with 1 and with itself."""
    shapes = [shape for shape in asked.shapes if shape is not None]
    rank = max(map(len, shapes))
    sizes: list[Dim] = []
    for column in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        others = {dim for dim in column if dim != 1}
        if len(others) > 1:
            return None
        sizes.append(others.pop() if others else 1)
    return [tuple(sizes)]


_RULES: Final[Mapping[str, Callable[[Asked], list[Dims] | None]]] = {
    "Conv": _windowed,
    "MaxPool": _windowed,
    "AveragePool": _windowed,
    "Concat": _concat,
    "Slice": _slice,
    "Resize": _resize,
    "Expand": _expand,
    "Tile": _tile,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max"), _elementwise),
}
