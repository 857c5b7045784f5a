"""The stage that computes a product by a pipeline: its text, and its call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ..kernels import Argument, Emitted, Output, Params, ThreadgroupArray
from ..kernels.arguments import spelled
from ..kernels.includes import Included
from ..kernels.stages import MATRIX, SCALES
from ..lines import folded
from ..structs.types import Scalar
from .budget import Budget
from .operands import Operands
from .pipeline import Pipeline
from .text import constants, functions, product, used

_ALIGNMENT: Final = 16
"""Bytes: results of four bytes lie where tiles of two did."""
_WIDTH: Final = 96
"""Columns of a line that the entry point indents."""
_THREAD: Final = {
    "gid": "uint3 gid",
    "lid.x": "uint thread_index",
    "simdgroup_index": "uint simdgroup",
    "lane": "uint lane",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductStage:
    """A main stage for `Compound`: y = epilogue(product of the operands).

    Raises:
        FoundryError: `threadgroup-budget` if its tiles take more memory than there is.
    """

    pipeline: Pipeline
    operands: Operands
    output: Output
    params: Params
    """A struct with `m`, `n` and `k`, and what operands and stripes ask for."""
    is_plain: bool = False
    """Whether there is no epilogue."""
    is_striped: bool = False
    """Whether threadgroups take slices of k in turn, and y has a product for each slice."""
    name: str = "product"
    result: None = None
    with_epilogue: bool = True

    def __post_init__(self) -> None:
        _ = self.budget

    @property
    def budget(self) -> Budget:
        """Threadgroup memory. Raises FoundryError."""
        return Budget(pipeline=self.pipeline, element=self.operands.element)

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """In the order of buffers."""
        return {**self.operands.arguments, "y": self.output, "params": self.params}

    @property
    def threadgroup(self) -> tuple[ThreadgroupArray, ...]:
        """Tiles, room for decoded or packed weights; results take the room of `a_tiles`."""
        element, budget = self.operands.element, self.budget
        is_fused = self.pipeline.weights == "fused"
        sizes = {
            "a_tiles": budget.a_tiles + budget.staging,
            "decoded" if is_fused else "b_tiles": budget.decoded or budget.b_tiles,
        }
        arrays = [
            ThreadgroupArray(element.name, name, size // element.size, _ALIGNMENT)
            for name, size in sizes.items()
        ]
        if budget.packed:
            arrays.append(ThreadgroupArray("uint", "word_tiles", budget.packed // 4, _ALIGNMENT))
        return tuple(arrays)

    def text(self, included: Included) -> str:
        """Types and constants of the declaration, functions for tiles, and `product`."""
        output = self.output.element
        assert isinstance(output, Scalar)
        is_direct = self.is_plain and output == self.pipeline.accumulator
        numbers = constants(
            self.pipeline,
            self.operands,
            output,
            self.params.layout.name,
            self.budget.staged,
            is_direct=is_direct,
        )
        lines = product(
            self.pipeline, self.operands, list(self._parameters()), is_striped=self.is_striped
        )
        body = "\n".join([functions(self.pipeline, self.operands), *lines])
        return "\n".join([*used(numbers, body), "", body])

    def emit(self, variable: str | None) -> Emitted:
        """The call."""
        policy = "<Policy>" if self.operands.weights is not None else ""
        names = [*self._buffers(), *_THREAD, *(each.name for each in self.threadgroup)]
        call = f"product{policy}({', '.join([*names, 'epilogue'])});"
        return Emitted((*self._assumed(), *folded(call, "", _WIDTH)))

    def _assumed(self) -> Iterator[str]:
        """What asynchronous copies need: they do not look whether their tile begins in the matrix.

        Where threadgroups find their tiles by number, those are within it.
        """
        pipeline = self.pipeline
        if not pipeline.is_async or pipeline.band > 1 or self.is_striped:
            return
        tile, weights = pipeline.tile, self.operands.weights
        is_packed = pipeline.weights == "packed"
        yield f"// assay: assume({tile.m} * groups.y < params.m + {tile.m})"
        if weights is None or is_packed:
            yield f"// assay: assume({tile.n} * groups.x < params.n + {tile.n})"
        if weights is not None and is_packed:
            yield f"// assay: assume(params.k % {weights.multiple} == 0)"

    def _buffers(self) -> dict[str, str]:
        """By name, as parameters of a function."""
        own = {name: spelled(name, argument) for name, argument in self.arguments.items()}
        if self.operands.weights is None:
            return own
        packed = {name: f"const device uchar* {name}" for name in (MATRIX, SCALES)}
        return {**packed, **own}

    def _parameters(self) -> Iterator[str]:
        yield from self._buffers().values()
        yield from _THREAD.values()
        for array in self.threadgroup:
            yield f"threadgroup {array.element}* {array.name}"
        yield "Epilogue epilogue"
