"""What simdgroups spend on a tile of k: loading, multiplying, waiting for each other."""

from __future__ import annotations

from typing import Final

import numpy as np

from assay.foundry.products import Pipeline
from assay.hw.apple.core.result import SIMDGROUP_CAUSES
from assay.prediction import DispatchResult
from assay.sim.site import Site

_LOADS: Final = frozenset({"copy_tile", "decode_tile"})
_PRODUCTS: Final = frozenset({"multiply", "multiply_decoded"})
_BARRIER: Final = SIMDGROUP_CAUSES.index("barrier")


def phases_of(dispatch: DispatchResult, pipeline: Pipeline, k: int) -> dict[str, float]:
    """Cycles of a simdgroup for one tile, on average, in the loop over the tiles of k.

    `load` is that of simdgroups that load, `multiply` of those that multiply, each with all that
    it waits for in between but barriers, which are `wait_loading` and `wait_multiplying`.
    """
    timeline = dispatch.time.timeline
    assert timeline is not None
    tiles = -(-k // pipeline.tile.k)
    kinds = np.array([_kind(site) for site in timeline.sites] + [""])[timeline.site]
    is_wait = timeline.cause == _BARRIER
    in_loop = (timeline.met > 0) | (pipeline.buffers == 1)
    loads = timeline.simdgroup < (pipeline.loaders or pipeline.threads // 32)
    multiplies = timeline.simdgroup >= pipeline.loaders
    lasts = timeline.end - timeline.begin
    groups = len(np.unique(timeline.threadgroup))
    simdgroups = pipeline.threads // 32
    loaders, computers = pipeline.loaders or simdgroups, simdgroups - pipeline.loaders
    # Of the tiles of k, so many are loaded before the loop.
    loaded = max(tiles - (pipeline.buffers - 1), 1)

    def mean(chosen: np.ndarray, count: int, tiles: int) -> float:
        return float(f"{lasts[chosen].sum() / (groups * count * tiles):.5g}")

    return {
        "load": mean(in_loop & loads & (kinds == "load") & ~is_wait, loaders, loaded),
        "multiply": mean(multiplies & (kinds == "product") & ~is_wait, computers, tiles),
        "wait_loading": mean(in_loop & loads & is_wait, loaders, tiles),
        "wait_multiplying": mean(in_loop & multiplies & is_wait, computers, tiles),
    }


def _kind(site: Site) -> str:
    """By the functions that the place is in, and called from."""
    names = {place.function.partition("<")[0] for place in (site, *site.inlined)}
    # Fused products decode in passing.
    return "product" if names & _PRODUCTS else "load" if names & _LOADS else ""
