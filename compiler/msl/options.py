"""What a caller may choose about a compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """Options of one library, named as in Metal's ``MTLCompileOptions``.

    `macros` are defined before the source, `include_paths` searched for its includes. `fast_math`
    licenses the contraction of a multiplication and an addition into one fused operation, nothing
    else: NaN, infinity, signed zeros and the order of operations are kept either way.
    """

    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    fast_math: bool = True
    language_version: tuple[int, int] = (3, 2)
