"""The passes by name, and the order in which they make TorqHL of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...graph.errors import naming
from ...models.errors import ModelError
from ..hl.dialect import hl_context
from .base import HlPass
from .canonicalise import Canonicalise
from .expand_tables import ExpandTables
from .fold_adds import FoldAdds
from .fold_means import FoldMeans
from .fold_scales import FoldClamps, FoldScales, NarrowProducts
from .fold_tables import FoldTables
from .fold_windows import FoldPads, FoldSlices, FoldWeightZeroPoints
from .hoist_transposes import HoistTransposes
from .legalise import LegaliseTosa
from .operands import ExpandBroadcasts, SplitZeroPoints
from .planes import CancelTransposes, FoldTransposes, ToPlanes
from .reductions import FlattenReductions
from .segments import FuseSegments, SegmentStrides
from .shift_products import ShiftProducts
from .sort_channels import SortChannels
from .strides import RewriteStrides

PIPELINE: tuple[type[HlPass], ...] = (
    LegaliseTosa,
    Canonicalise,
    FoldTables,
    FoldAdds,
    FoldMeans,
    NarrowProducts,
    FoldScales,
    FoldClamps,
    FoldPads,
    FoldSlices,
    FoldWeightZeroPoints,
    ExpandTables,
    SplitZeroPoints,
    ExpandBroadcasts,
    ShiftProducts,
    FlattenReductions,
    RewriteStrides,
    Canonicalise,
    ToPlanes,
    CancelTransposes,
    HoistTransposes,
    SegmentStrides,
    FuseSegments,
    FoldTransposes,
    SortChannels,
    Canonicalise,
)
"""From TOSA to what is scheduled."""
PASSES = {kind.name: kind for kind in PIPELINE}
"""All passes by name."""
After = Callable[[str, ModuleOp], None]
"""Called with the name of a pass and what it left."""


def passes_named(
    names: Sequence[str], pipeline: Sequence[type[ModulePass]] = PIPELINE
) -> list[ModulePass]:
    """Passes of a pipeline by their names. Raises ModelError."""
    known = {kind.name: kind for kind in pipeline}
    for name in names:
        if name not in known:
            raise ModelError(f"there is no pass {name}; there are {', '.join(known)}")
    return [known[name]() for name in names]


def run_passes(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    after: After | None = None,
    source: str = "module",
) -> None:
    """Runs passes one behind the other; the module is verified after each.

    Raises GraphRefused, which says what is wrong with `source`.
    """
    context = hl_context()
    for each in passes:
        with naming(source):
            each.apply(context, module)
        module.verify()
        if after is not None:
            after(each.name, module)


def usual_passes(
    stop_after: str = "",
    pipeline: Sequence[type[ModulePass]] = PIPELINE,
    without: Sequence[str] = (),
) -> list[ModulePass]:
    """All of a pipeline, or those up to and with the last one of this name. Raises ModelError.

    `without` names passes that are left out.
    """
    pipeline = [kind for kind in pipeline if kind.name not in without]
    if not stop_after:
        return [kind() for kind in pipeline]
    passes_named([stop_after], pipeline)
    last = max(place for place, kind in enumerate(pipeline) if kind.name == stop_after)
    return [kind() for kind in pipeline[: last + 1]]
