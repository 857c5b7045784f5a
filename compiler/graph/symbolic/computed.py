"""Operators that kernels do with integers that the host computes: no kernel reads sizes then.

`Range`, `Tile` and `Resize` whose sizes follow from names, or from elements that are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .contents import Elements
from .dims import Dim, Dims, combined
from .inference import Unknown
from .sizes import Asked


@dataclass(frozen=True, slots=True)
class Computed:
    """Which inputs a kernel reads, by number, the integers it takes, and its result's shape."""

    inputs: tuple[int, ...]
    numbers: tuple[Dim, ...]
    dims: Dims
    checks: tuple[tuple[Dim, str], ...] = ()


def computed(op: str, asked: Asked) -> Computed | None:
    """What an operator is, if it is one of those. Raises Unknown for what kernels cannot do."""
    rule = _RULES.get(op)
    return None if rule is None else rule(asked)


def _range(asked: Asked) -> Computed | None:
    ends = [_only(asked.elements(number)) for number in range(3)]
    start, limit, delta = ends
    if start is None or limit is None or delta is None:
        raise Unknown("a range of numbers that are not whole has no size before it is made")
    steps = combined("ceildiv", combined("sub", limit, start), delta)
    return Computed((), (start, limit, delta), (combined("max", steps, 0),))


def _only(elements: Elements | None) -> Dim | None:
    if elements is None or elements.size != 1:
        return None
    found: Dim = elements.flat[0]
    return found


def _tile(asked: Asked) -> Computed | None:
    x, repeats = asked.shapes[0], asked.elements(1)
    if x is None or repeats is None or len(repeats) != len(x):
        return None
    numbers = tuple(repeats)
    dims = tuple(combined("mul", a, b) for a, b in zip(x, numbers, strict=True))
    return Computed((0,), numbers, dims)


def _resize(asked: Asked) -> Computed | None:
    """Of images, in the last two dimensions."""
    x = asked.shapes[0]
    sizes = asked.elements(3) if len(asked.shapes) > 3 else None
    if x is None or sizes is None:
        return None
    wanted: Dims = tuple(sizes)
    if len(wanted) != 4 or len(x) != 4:
        raise Unknown("computed sizes are possible for the last two of four dimensions")
    resize_mode(asked.attributes)
    checks = tuple(
        (_equal(one, other), f"size {axis} would change, only the last two can")
        for axis, (one, other) in enumerate(zip(wanted[:2], x[:2], strict=True))
        if one != other
    )
    return Computed((0,), wanted[2:], (*x[:2], *wanted[2:]), checks)


def _equal(a: Dim, b: Dim) -> Dim:
    """1 or 0."""
    unequal = combined("add", combined("lt", a, b), combined("lt", b, a))
    return combined("lt", unequal, 1)


def resize_mode(attributes: Mapping[str, Any]) -> tuple[str, bool]:
    """(mode, whether corners are aligned) as Torch has them. Raises Unknown for others."""
    mode = _text(attributes.get("mode", "nearest"))
    places = _text(attributes.get("coordinate_transformation_mode", "half_pixel"))
    rounding = _text(attributes.get("nearest_mode", "round_prefer_floor"))
    if mode == "linear" and places in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        return "bilinear", places == "align_corners"
    if mode == "nearest" and (places, rounding) == ("asymmetric", "floor"):
        return "nearest", False
    raise Unknown(
        f"computed sizes are possible for mode linear, and for nearest with asymmetric places "
        f"rounded down, not for {mode} with {places}"
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


_RULES: Final[Mapping[str, Callable[[Asked], Computed | None]]] = {
    "Range": _range,
    "Tile": _tile,
    "Resize": _resize,
}
