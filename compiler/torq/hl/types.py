"""TorqHL's type: a tensor with its element type, layout, memory and quantisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Data, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...graph.elements import LIMITS, NUMPY, dtype_of, element_type
from ..operators.tensors import Layout


class Space(Enum):
    """Where a tensor is: not decided, in the board's memory, or in the NPU's."""

    ANY = "any"
    XRAM = "xram"
    LRAM = "lram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """What the type says.

    Attributes:
        dtype, shape, layout: as of the operators' types; int48 and bool are types besides.
        space: the memory that it is in.
        zero_point: the value that stands for 0; None if it is not quantised, or not known to be.
        scale: what a step of the value is worth; None if that is not known.
    """

    dtype: str
    shape: tuple[int, ...]
    layout: Layout = Layout.ROWS
    space: Space = Space.ANY
    zero_point: int | None = None
    scale: float | None = None

    def like(
        self,
        *,
        dtype: str | None = None,
        shape: tuple[int, ...] | None = None,
        layout: Layout | None = None,
    ) -> Tensor:
        """The same quantisation with another type, shape or layout, in any memory."""
        kept = dtype is None or dtype == self.dtype
        return Tensor(
            dtype=dtype or self.dtype,
            shape=self.shape if shape is None else shape,
            layout=layout or self.layout,
            zero_point=self.zero_point if kept else None,
            scale=self.scale if kept else None,
        )

    def placed(self, space: Space) -> Tensor:
        """The same in a memory."""
        return replace(self, space=space)


@irdl_attr_definition
class TensorAttr(Data[Tensor], TypeAttribute):
    """`!torq_hl.tensor<1x16x40x40xi8, planes, lram, zp -3, scale 0.5>`.

    Rows, any memory and no quantisation are not written.
    """

    name = "torq_hl.tensor"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Tensor:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            dims, element = parser.parse_ranked_shape()
            dtype = dtype_of(element)
            if dtype is None:
                parser.raise_error("a tensor of this element type is not known")
            made = Tensor(dtype=dtype, shape=tuple(dims))
            while parser.parse_optional_punctuation(",") is not None:
                made = _with_word(made, parser)
        return made

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        data = self.data
        with printer.in_angle_brackets():
            for size in data.shape:
                printer.print_string(f"{size}x")
            printer.print_attribute(element_type(data.dtype))
            for word in _words(data):
                printer.print_string(f", {word}")

    def verify(self) -> None:
        """A shape that the layout can have, and a zero point that the type can have."""
        data = self.data
        if data.dtype not in NUMPY:
            raise VerifyException(f"no element type {data.dtype}")
        if any(size < 1 for size in data.shape):
            raise VerifyException(f"a tensor of {data.shape} has no elements, or no known shape")
        if data.layout is not Layout.ROWS and len(data.shape) != 4:
            raise VerifyException(f"{data.layout.value} have 4 dimensions, not {len(data.shape)}")
        if data.layout is Layout.QUADRANTS and (data.shape[2] % 2 or data.shape[3] % 2):
            raise VerifyException(
                f"quadrants of {data.shape[2]}x{data.shape[3]}: both must be even"
            )
        if data.zero_point is not None:
            low, high = LIMITS.get(data.dtype, (0, -1))
            if not low <= data.zero_point <= high:
                raise VerifyException(f"zero point {data.zero_point} is not one of {data.dtype}")


_LAYOUTS = {layout.value: layout for layout in Layout}
_SPACES = {space.value: space for space in Space}


def _words(data: Tensor) -> list[str]:
    words = []
    if data.layout is not Layout.ROWS:
        words.append(data.layout.value)
    if data.space is not Space.ANY:
        words.append(data.space.value)
    if data.zero_point is not None:
        words.append(f"zp {data.zero_point}")
    if data.scale is not None:
        words.append(f"scale {StringAttr(repr(data.scale))}")
    return words


def _with_word(made: Tensor, parser: AttrParser) -> Tensor:
    word = parser.parse_identifier()
    if word in _LAYOUTS:
        return replace(made, layout=_LAYOUTS[word])
    if word in _SPACES:
        return replace(made, space=_SPACES[word])
    if word == "zp":
        return replace(made, zero_point=parser.parse_integer())
    if word == "scale":
        return replace(made, scale=float(parser.parse_str_literal()))
    parser.raise_error(f"{word}: expected a layout, a memory, zp or scale")


def tensor_of(value: SSAValue | Attribute) -> Tensor:
    """What a TorqHL value's type says."""
    kind = value.type if isinstance(value, SSAValue) else value
    assert isinstance(kind, TensorAttr), kind
    return kind.data
