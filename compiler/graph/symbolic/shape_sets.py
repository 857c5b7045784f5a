"""Shape sets as people write them: `data=1x3x224x224,mask=1x1; data=2x3x224x224,mask=2x1`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...models.errors import ModelError
from .dims import Dim, Dims, Named

_NAME: Final = re.compile(r"[A-Za-wyz_][A-Za-wyz0-9_]*")
_BOUNDS: Final = re.compile(r"(?:(\d+)\.\.)?(\d+)(?::(\d+))?")
_LARGEST: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a named dimension can be; a maximum of 0 is none."""

    minimum: int = 1
    maximum: int = 0
    multiple_of: int = 1


def parse_shapes(text: str) -> list[dict[str, Dims]]:
    """The sets: a comma inside of one, a semicolon between two. Raises ModelError."""
    sets: list[dict[str, Dims]] = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        shapes: dict[str, Dims] = {}
        for entry in part.split(","):
            name, separator, dims = entry.strip().rpartition("=")
            if not separator or not name or name in shapes:
                raise ModelError(
                    f"shapes: {entry.strip()!r} is no input with its shape, such as "
                    "data=1x3x224x224; a comma stands between inputs, a semicolon between sets"
                )
            shapes[name] = parse_dims(dims, name)
        if shapes in sets:
            raise ModelError(f"shapes: {part!r} is there twice")
        sets.append(shapes)
    if not sets:
        raise ModelError("shapes: there is no set")
    return sets


def parse_dims(text: str, name: str) -> Dims:
    """`1x3xrows`, or `scalar`. Raises ModelError."""
    if text == "scalar":
        return ()
    return tuple(_dim(part.strip(), name) for part in text.split("x"))


def _dim(text: str, name: str) -> Dim:
    if text.isdigit() and int(text) <= _LARGEST:
        return int(text)
    if _NAME.fullmatch(text):
        return Named(text)
    raise ModelError(
        f"shapes: {text!r} of input {name} is no size; expected a number up to 2^40, or a name "
        "without an x in it"
    )


def parse_bounds(texts: Sequence[str]) -> dict[str, Bounds]:
    """`rows=1..128:16`: from 1 to 128, multiples of 16. Raises ModelError."""
    found: dict[str, Bounds] = {}
    for text in texts:
        name, _, bounds = text.partition("=")
        match = _BOUNDS.fullmatch(bounds.strip())
        if not _NAME.fullmatch(name.strip()) or match is None or name in found:
            raise ModelError(
                f"dim: {text!r} is no named dimension with its bounds, such as rows=1..128, or "
                "rows=16..128:16 for multiples of 16"
            )
        least, most, steps = int(match[1] or 1), int(match[2]), int(match[3] or 1)
        if not 0 <= least <= most <= _LARGEST or not 1 <= steps <= most:
            raise ModelError(f"dim: {text!r} has impossible bounds")
        found[name.strip()] = Bounds(least, most // steps * steps, steps)
    return found


def names_of(sets: Sequence[Mapping[str, Dims]]) -> list[str]:
    """The named dimensions of shape sets, in their order."""
    names = [
        dim.name
        for shapes in sets
        for dims in shapes.values()
        for dim in dims
        if isinstance(dim, Named)
    ]
    return list(dict.fromkeys(names))
