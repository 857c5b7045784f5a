"""What can be chosen about a variant, by name, and how its values are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Value = int | str


def _count(value: Any) -> Value | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _number(value: Any) -> Value | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sides(count: int) -> Callable[[Any], Value | None]:
    pattern = re.compile(r"[1-9]\d*" + r"x[1-9]\d*" * (count - 1))
    return lambda value: value if isinstance(value, str) and pattern.fullmatch(value) else None


def _one_of(*names: str) -> Callable[[Any], Value | None]:
    return lambda value: value if value in names else None


Kinds = Mapping[str, tuple[Callable[[Any], Value | None], str]]
"""By the name of a knob what reads a value, None for one that cannot be, and what it expects."""

PRODUCT: Final[Kinds] = {
    "tile": (_sides(3), "MxNxK, as 64x64x32"),
    "simdgroups": (_sides(2), "ROWSxCOLUMNS, as 2x2"),
    "stages": (_count, "a number from 1 on"),
    "loaders": (_number, "a number from 0 on"),
    "weights": (_one_of("tile", "fused", "packed"), "tile, fused or packed"),
    "accumulator": (_one_of("float", "half"), "float or half"),
    "band": (_count, "a number from 1 on"),
}
"""Of products by a pipeline; `stages` are the tiles held at a time, `Pipeline.buffers`."""

COLUMNS: Final[Kinds] = {
    "rows_per_lane": (_count, "a number from 1 on"),
    "groups_together": (_count, "a number from 1 on"),
    "simdgroups": (_count, "a number from 1 on"),
    "unroll": (_count, "a number from 1 on"),
}
"""Of `gemv_columns`."""

FUSED: Final[Kinds] = {
    "rows_together": (_count, "a number from 1 on"),
    "simdgroups": (_count, "a number from 1 on"),
    "vectors": (_count, "a number from 1 on"),
}
"""Of `fused_gemv`."""


def anything(value: Any) -> Value | None:
    """A knob of a kernel that is not ours: numbers and words."""
    return value if isinstance(value, str) or _number(value) is not None else None
