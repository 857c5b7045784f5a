"""The sum over slices of k, which a striped product leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from ..kernels import Argument, Emitted, Output, Params, Tensor, ThreadgroupArray, derived
from ..kernels.includes import Included
from ..structs import struct
from ..structs.names import FLOAT, uint
from ..structs.types import Scalar

_TEXT: Final = """\
// Adds the slices of one element in their order, so that sums are the same to the bit in every run.
// Slices come from a dispatch before this one: nothing else orders threadgroups of a grid.
template <typename Epilogue>
void sum_slices(const device float* partials, device ELEMENT* y, constant SliceParams* params,
                uint at, Epilogue epilogue) {
    const uint count = params->rows * params->columns;
    if (at >= count) {
        return;
    }
    float sum = 0;
    for (uint slice = 0; slice < params->slices; ++slice) {
        sum += partials[ulong(slice) * count + at];
    }
    y[at] = ELEMENT(epilogue(sum, at, at % params->columns));
}
"""


@struct
class SliceParams:
    """Of `sum_slices`: products [rows, columns]."""

    rows: uint
    columns: uint
    slices: uint


@dataclass(frozen=True, slots=True)
class SumStage:
    """A main stage: y = epilogue(sum of `partials` [slices, ..., columns] over the first)."""

    element: Scalar
    name: str = "sum_slices"
    threadgroup: tuple[ThreadgroupArray, ...] = ()
    result: None = None
    with_epilogue: bool = True

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """In the order of buffers."""

        def params(given: Mapping[str, Any]) -> SliceParams:
            slices, *rows, columns = given["partials"].shape
            return SliceParams(rows=prod(rows), columns=columns, slices=slices)

        made: Params = derived(SliceParams, params)
        y = Output(self.element, lambda given: given["partials"].shape[1:])
        return {"partials": Tensor(FLOAT), "y": y, "params": made}

    def text(self, included: Included) -> str:
        """The function."""
        return _TEXT.replace("ELEMENT", self.element.name)

    def emit(self, variable: str | None) -> Emitted:
        """The call: a thread for each element."""
        at = "gid.x * tptg.x + lid.x"
        return Emitted((f"sum_slices(partials, y, params, {at}, epilogue);",))
