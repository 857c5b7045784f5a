"""The FP4 pipelines of Marlin for Metal, each by what it is declared as.

Names, buffers and roles of the kernels follow RESMP-DEV/metal-marlin, `src/marlin_gemm.metal`, and
its design note on pipeline stages; texts are made from the declarations here. Its `async` forms
copy plainly, weights by way of packed words in threadgroup memory; here they are asynchronous,
without that way and, `packed`, with it.
"""

from __future__ import annotations

from typing import Final

from .pipeline import Pipeline
from .tile import Simdgroups, Tile

_WHOLE: Final = Tile(64, 64, 32)
# Two simdgroups that compute stand above each other, with half of the rows each.
_PAIR: Final = Simdgroups(2, 1)

MARLIN: Final[dict[str, Pipeline]] = {
    "single": Pipeline(tile=_WHOLE, buffers=1),
    "two_stages": Pipeline(tile=_WHOLE, buffers=2),
    "three_stages": Pipeline(tile=_WHOLE, buffers=3),
    "divergent": Pipeline(tile=_WHOLE, buffers=2, by=_PAIR, loaders=2),
    "three_stages_divergent": Pipeline(tile=_WHOLE, buffers=3, by=_PAIR, loaders=2),
    "async": Pipeline(tile=_WHOLE, buffers=2, is_async=True),
    "async_deep": Pipeline(tile=_WHOLE, buffers=3, is_async=True),
    "async_packed": Pipeline(tile=_WHOLE, buffers=2, is_async=True, weights="packed"),
    "async_packed_deep": Pipeline(tile=_WHOLE, buffers=3, is_async=True, weights="packed"),
    "fused": Pipeline(tile=_WHOLE, buffers=2, weights="fused"),
    "hybrid": Pipeline(tile=_WHOLE, buffers=3, weights="fused"),
    "decode": Pipeline(tile=Tile(16, 64, 32), buffers=3),
    "decode_hybrid": Pipeline(tile=Tile(16, 64, 32), buffers=3, weights="fused"),
}
"""By name; `replace(MARLIN["two_stages"], tile=Tile(32, 64, 32))` makes others of them."""
