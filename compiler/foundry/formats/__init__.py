"""Formats of weights: how they are packed, what they stand for, and how a kernel reads them."""

from typing import Final

from ..errors import FoundryError
from .affine import MlxAffine
from .blocks import BlockFormat
from .columns import WordColumns
from .fp8 import FP8_E4M3
from .gguf import Q4_0, Q4_1, Q8_0
from .kquants import Q4_K, Q5_K, Q6_K
from .microscaled import MLX_MXFP4, MLX_NVFP4, MLX_NVFP4_SCALED, MXFP4, NVFP4, MlxFloat
from .packed import Format, Packed, check_columns
from .plain import BF16, F16, F32, U32, Plain
from .prelude import PRELUDE

_BLOCKS: Final = (Q8_0, Q4_0, Q4_1, Q4_K, Q5_K, Q6_K, MXFP4, NVFP4)

_NAMED: Final[tuple[Format, ...]] = (
    F32,
    F16,
    BF16,
    U32,
    FP8_E4M3,
    *_BLOCKS,
    *(each.split() for each in _BLOCKS),
    *(each.canonical() for each in _BLOCKS),
    WordColumns("fp4"),
    WordColumns("nf4"),
    WordColumns("u4"),
    MLX_MXFP4,
    MLX_NVFP4,
    MLX_NVFP4_SCALED,
    *(MlxAffine(bits) for bits in (2, 3, 4, 5, 6, 8)),
)

FORMATS: Final[dict[str, Format]] = {each.name: each for each in _NAMED}
"""The formats that have a name of their own; those with parameters are made: `MlxAffine(4, 32)`."""


def format_of(name: str) -> Format:
    """The format of a name. Raises FoundryError that lists them."""
    try:
        return FORMATS[name]
    except KeyError:
        raise FoundryError(
            "format-name", f"there is no format {name}; there are {', '.join(FORMATS)}"
        ) from None


__all__ = [
    "FORMATS",
    "PRELUDE",
    "BlockFormat",
    "Format",
    "MlxAffine",
    "MlxFloat",
    "Packed",
    "Plain",
    "WordColumns",
    "check_columns",
    "format_of",
]
