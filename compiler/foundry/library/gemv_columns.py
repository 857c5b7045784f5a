"""Products with FP4 weights whose words of neighbouring rows lie side by side, as Marlin's do."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from ..errors import FoundryError
from ..formats import WordColumns
from ..kernels import (
    Compound,
    Epilogue,
    PolicyStage,
    TemplateStage,
    custom,
)
from .base import Listed, Ready, defines_of, scalar_of, text_of
from .kernels import gemv_arguments


def gemv_columns(
    weights: WordColumns,
    rows: int,
    element: Any = float,
    *,
    epilogue: Sequence[Epilogue] = (),
    rows_per_lane: int = 2,
    simdgroups: int = 8,
    unroll: int = 4,
    groups_together: int = 1,
) -> Ready:
    """`y = epilogue(W x)` for FP4 in words along K, and `x` [..., columns].

    A lane computes `rows_per_lane` rows, 2 or 4, of which `rows` is a multiple; `simdgroups`
    share the groups of a row, and each reads `groups_together` of them at a time: the more, the
    fewer rows a threadgroup has, and the more threadgroups there are for large chips. Codes become
    halves by shifts, and groups are scaled as a whole. Raises FoundryError.
    """
    if not isinstance(weights, WordColumns) or weights.kind != "fp4":
        raise FoundryError("gemv-format", f"{weights.name}: gemv_columns reads fp4, as fp4_128")
    if rows_per_lane not in (2, 4) or rows % rows_per_lane:
        raise FoundryError(
            "gemv-rows", f"{rows} rows, {rows_per_lane} per lane: 2 or 4, that divide the rows"
        )
    if groups_together not in (1, 2, 4, 8):
        raise FoundryError("gemv-groups", f"{groups_together} groups together: 1, 2, 4 or 8")
    scalar = scalar_of(element)
    along = 32 * rows_per_lane // groups_together
    defines = {
        "ROWS": rows_per_lane,
        "SIMDGROUPS": simdgroups,
        "GROUP": weights.group,
        "UNROLL": unroll,
        "TOGETHER": groups_together,
    }
    main = TemplateStage(
        text_of("gemv_columns", scalar, defines=defines_of(defines)),
        "gemv_columns",
        gemv_arguments(scalar, weights, rows),
        threadgroup=f"float partial[{along * simdgroups}]",
        with_epilogue=True,
    )
    name = "_".join(["gemv_columns", weights.name, *(each.name for each in epilogue)])
    fused = Compound(name, prologue=[PolicyStage(weights)], main=main, epilogue=epilogue)
    groups = -(-rows // along)
    return fused, custom(lambda given: (groups, prod(given["x"].shape[:-1])), (32 * simdgroups,))


LISTED: Final = {
    "gemv_columns": Listed(gemv_columns, sizes={"weights": WordColumns("fp4"), "rows": 4}),
}
