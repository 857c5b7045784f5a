"""The stage of fused products: one or more matrices times the same vectors, in one kernel.

A hand-written stage: two buffers for the weights of each matrix, formats of their own, and lines
that call the functions of `gemv_parts.metal`. No thread leaves before another, and there is no
barrier: sums of a row are those of one simdgroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Final

from ..errors import FoundryError
from ..formats import PRELUDE, BlockFormat, Format
from ..kernels import Argument, Emitted, Output, Params, Result, Tensor, ThreadgroupArray
from ..kernels.includes import Included
from ..lines import folded
from ..structs import array, layout_of, struct
from ..structs.names import UCHAR, uint
from ..structs.types import Scalar
from .base import columns_of, defines_of, text_of

MOST_HEADS: Final = 4
MOST_VECTORS: Final = 8
_MOST_BOTH: Final = 4
_WIDTH: Final = 96
"""Columns of a line that the entry point indents."""


@struct
class FusedParams:
    """`rows` of each matrix, all of `columns`; `epsilon` of a norm."""

    rows: Annotated[tuple[int, ...], array(uint, MOST_HEADS)]
    columns: uint
    vectors: uint
    epsilon: float


@dataclass(frozen=True, slots=True)
class Head:
    """One matrix of several: its name, the format of its weights, its rows; with a bias or not."""

    name: str
    weights: Format
    rows: int
    has_bias: bool = False

    @property
    def suffix(self) -> str:
        """Of its arguments; the only matrix of a kernel has no name."""
        return f"_{self.name}" if self.name else ""


@dataclass(frozen=True, slots=True)
class Combine:
    """One result of all matrices: an expression of their values `value_<name>`.

    `text` are functions that it calls.
    """

    name: str
    expression: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GemvStage:
    """Products of `heads` with x [..., columns]; `rows` of each simdgroup, `vectors` at a time.

    With `norm`, x is normalised by RMSNorm on the way, with the weights `gamma`.
    """

    heads: tuple[Head, ...]
    element: Scalar
    combine: Combine | None = None
    norm: float | None = None
    vectors: int = 1
    rows: int = 4
    simdgroups: int = 2
    has_epilogue: bool = False

    def __post_init__(self) -> None:
        names = [each.name for each in self.heads]
        if not 1 <= len(names) <= MOST_HEADS or len(set(names)) < len(names):
            raise FoundryError(
                "gemv-heads", f"matrices {', '.join(names)}: 1 to {MOST_HEADS}, of different names"
            )
        if self.combine is not None and len({each.rows for each in self.heads}) > 1:
            raise FoundryError(
                "gemv-heads", f"{self.combine.name} combines matrices of one number of rows"
            )
        if self.combine is None and self.has_epilogue and len(self.heads) > 1:
            raise FoundryError(
                "gemv-heads", "an epilogue is for one result; these matrices have one each"
            )
        if not 1 <= self.vectors <= MOST_VECTORS:
            raise FoundryError("gemv-vectors", f"{self.vectors} vectors; 1 to {MOST_VECTORS}")

    @property
    def name(self) -> str:
        """What errors call it."""
        return "fused products"

    @property
    def threadgroup(self) -> tuple[ThreadgroupArray, ...]:
        """None is needed."""
        return ()

    @property
    def result(self) -> Result | None:
        """It writes its outputs itself."""
        return None

    @property
    def with_epilogue(self) -> bool:
        """Whether epilogues change what it writes."""
        return self.has_epilogue

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """Weights of each matrix, then x, outputs, parameters, biases, gamma."""
        found: dict[str, Argument] = {}
        for head in self.heads:
            found[f"matrix{head.suffix}"] = Tensor(UCHAR)
            found[f"scales{head.suffix}"] = Tensor(UCHAR)
        found["x"] = Tensor(self.element)
        for name, rows in self._outputs:
            found[name] = Output(self.element, _shape(rows))
        layout = layout_of(FusedParams)
        assert layout is not None
        found["params"] = Params(layout, self._params)
        for head in self.heads:
            if head.has_bias:
                found[f"bias{head.suffix}"] = Tensor(self.element)
        if self.norm is not None:
            found["gamma"] = Tensor(self.element)
        return found

    @property
    def _outputs(self) -> list[tuple[str, int]]:
        if self.combine is not None:
            return [("y", self.heads[0].rows)]
        return [(f"y{head.suffix}", head.rows) for head in self.heads]

    def _params(self, given: Mapping[str, Any]) -> FusedParams:
        shape = given["x"].shape
        rows = [each.rows for each in self.heads]
        return FusedParams(
            rows=(*rows, *[0] * (MOST_HEADS - len(rows))),
            columns=columns_of(given, *(each.weights for each in self.heads)),
            vectors=prod(shape[:-1]),
            epsilon=self.norm or 0.0,
        )

    def text(self, included: Included) -> str:
        """The policies, each once, and the functions."""
        policies = dict.fromkeys(head.weights.text for head in self.heads)
        is_whole = all(head.weights.multiple % 8 == 0 for head in self.heads)
        own = text_of("gemv_parts", self.element, defines=defines_of({"IS_WHOLE": int(is_whole)}))
        parts = included.of_text(own, "gemv_parts.metal")
        combine = "" if self.combine is None else self.combine.text
        return "\n".join([PRELUDE, *policies, *filter(None, [combine]), parts])

    def emit(self, variable: str | None) -> Emitted:
        """Its lines in the entry point."""
        return Emitted(tuple(self._lines()))

    def _lines(self) -> Iterator[str]:
        rows, vectors = self.rows, self.vectors
        yield f"const uint first = (gid.x * {self.simdgroups} + simdgroup_index) * {rows};"
        yield f"const uint vector = gid.y * {vectors};"
        yield "const uint columns = params->columns;"
        for head in self.heads:
            yield f"float sums{head.suffix}[{rows}][{vectors}] = {{}};"
        if self.norm is not None:
            yield f"float squares[{vectors}] = {{}};"
        names = ["values", "others"] if self._takes_both else ["values"]
        if self._takes_both:
            yield "for (uint part = lane; part < columns / 16; part += 32) {"
            yield "    const uint k = part / 2 * 32 + part % 2 * 8;"
        else:
            yield "for (uint k = lane * 8; k < columns; k += 256) {"
        for name, k in zip(names, ("k", "k + 16"), strict=False):
            yield f"    float {name}[{vectors}][8];"
            yield f"    load_vectors<{vectors}>(x, columns, params->vectors, vector, {k}, {name});"
            if self.norm is not None:
                yield f"    scale_vectors<{vectors}>(gamma, columns, {k}, {name}, squares);"
        for number, head in enumerate(self.heads):
            yield from self._products(number, head)
        yield "}"
        yield from self._stores()

    def _products(self, number: int, head: Head) -> Iterator[str]:
        """Of a chunk of columns; none for a simdgroup whose rows are all beyond the matrix."""
        s = head.suffix
        function, more = self._function(head), ", others" if self._takes_both else ""
        template = f"{function}<{head.weights.policy}, {self.rows}, {self.vectors}>"
        yield f"    if (first < params->rows[{number}]) {{"
        yield from folded(
            f"        {template}(matrix{s}, scales{s}, params->rows[{number}], columns, first, k, "
            f"values{more}, sums{s});",
            "",
            _WIDTH,
        )
        yield "    }"

    @property
    def _takes_both(self) -> bool:
        """Whether lanes take both halves of bytes, which all formats must have alike.

        Sixteen numbers of more vectors than these do not fit in registers beside the rest.
        """
        if self.vectors > _MOST_BOTH:
            return False
        found = [each.weights for each in self.heads]
        return all(isinstance(each, BlockFormat) and each.both_codes is not None for each in found)

    def _function(self, head: Head) -> str:
        if self._takes_both:
            return "add_both_products"
        has_codes = isinstance(head.weights, BlockFormat) and head.weights.codes is not None
        return "add_code_products" if has_codes else "add_products"

    def _stores(self) -> Iterator[str]:
        yield f"for (uint v = 0; v < {self.vectors}; ++v) {{"
        factor = ""
        if self.norm is not None:
            yield "    const float mean = simd_sum(squares[v]) / float(columns);"
            yield "    const float scale = rsqrt(mean + params->epsilon);"
            factor = " * scale"
        yield f"    for (uint r = 0; r < {self.rows}; ++r) {{"
        for head in self.heads:
            s = head.suffix
            yield f"        float value{s} = simd_sum(sums{s}[r][v]){factor};"
        yield "        const uint row = first + r;"
        yield "        const bool is_own = lane == 0 && vector + v < params->vectors;"
        for number, head in enumerate(self.heads):
            if self.combine is None or number == 0:
                yield f"        if (is_own && row < params->rows[{number}]) {{"
                yield from (f"            {line}" for line in self._store(number, head))
                yield "        }"
        yield "    }"
        yield "}"

    def _store(self, number: int, head: Head) -> Iterator[str]:
        shown = self.heads if self.combine is not None else (head,)
        for each in shown:
            if each.has_bias:
                yield f"value{each.suffix} += float(bias{each.suffix}[row]);"
        value, output = f"value{head.suffix}", f"y{head.suffix}"
        if self.combine is not None:
            value, output = self.combine.expression, "y"
        yield f"const uint at = (vector + v) * params->rows[{number}] + row;"
        if self.has_epilogue:
            value = f"epilogue({value}, at, row)"
        yield f"{output}[at] = {self.element.name}({value});"


def _shape(rows: int) -> Any:
    return lambda given: (*given["x"].shape[:-1], rows)
