"""Operators that move nothing: what shape they give memory, and where in it they begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .contents import Elements
from .dims import Dim, Dims, combined, is_known, product, text
from .inference import Unknown

RESHAPES: Final = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout")
"""Whose result is all of their input."""


def reshaped(op: str, dims: Dims, attributes: Mapping[str, Any], wanted: Elements | None) -> Dims:
    """The shape of a result; `wanted` is the second operand. Raises Unknown."""
    if op in ("Identity", "Dropout"):
        return dims
    if op == "Flatten":
        axis = attributes.get("axis", 1)
        axis += len(dims) if axis < 0 else 0
        return product(dims[:axis]), product(dims[axis:])
    if op == "Reshape":
        if wanted is None:
            raise Unknown("its shape is neither constant nor computed from shapes")
        return _reshape(dims, list(wanted.flat), bool(attributes.get("allowzero")))
    axes = attributes.get("axes") if wanted is None else [_axis(each) for each in wanted.flat]
    return _squeezed(dims, axes) if op == "Squeeze" else _unsqueezed(dims, axes or ())


def _axis(dim: Dim) -> int:
    if isinstance(dim, int):
        return dim
    raise Unknown("which axes it is about is known only when the model runs")


def _reshape(dims: Dims, wanted: Sequence[Dim], zero_stays: bool) -> Dims:
    made = [
        dims[n] if dim == 0 and not zero_stays and n < len(dims) else dim
        for n, dim in enumerate(wanted)
    ]
    total = product(dims)
    if -1 in made:
        at = made.index(-1)
        rest = product(tuple(made[:at] + made[at + 1 :]))
        made[at] = 0 if rest == 0 else combined("floordiv", total, rest)
    after = product(tuple(made))
    if is_known((total, after)) and total != after:
        raise Unknown(
            f"it makes {text(tuple(made))} of {text(dims)}, which has another number of "
            "elements: its sizes were frozen for another shape of the input"
        )
    return tuple(made)


def _squeezed(dims: Dims, axes: Sequence[int] | None) -> Dims:
    taken = (
        {n for n, dim in enumerate(dims) if dim == 1}
        if axes is None
        else {axis % len(dims) for axis in axes}
    )
    return tuple(dim for n, dim in enumerate(dims) if n not in taken)


def _unsqueezed(dims: Dims, axes: Sequence[int]) -> Dims:
    rank = len(dims) + len(axes)
    new = {axis % rank for axis in axes}
    rest = iter(dims)
    return tuple(1 if n in new else next(rest) for n in range(rank))


def contiguous(dims: Dims, ranges: Mapping[int, tuple[Dim, Dim]]) -> tuple[Dim, Dims] | None:
    """(offset in elements, shape) of a slice whose elements lie together; None of others."""
    changed = {axis: (a, b) for axis, (a, b) in ranges.items() if (a, b) != (0, dims[axis])}
    if any(dim != 1 for dim in dims[: max(changed, default=0)]):
        return None
    made: list[Dim] = list(dims)
    offset: Dim = 0
    for axis, (start, end) in changed.items():
        made[axis] = combined("max", combined("sub", end, start), 0)
        offset = combined("add", offset, combined("mul", start, product(dims[axis + 1 :])))
    return offset, tuple(made)
