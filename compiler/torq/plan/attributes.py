"""TorqPlan's attributes: kernels, regions, transfers, and tensors in buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..hl.attributes import whole_numbers
from ..operators.tensors import ELEMENT_BYTES, Region
from ..slice.tensor import Tensor


@dataclass(frozen=True, kw_only=True)
class Move:
    """One transfer: rows of `row` bytes at all steps of `loops` (count, stride) from `outside` on
    in XRAM, one behind the other from `inside` on in LRAM."""

    outside: int
    inside: int
    row: int
    loops: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """Bytes."""
        size = self.row
        for count, _ in self.loops:
            size *= count
        return size


@irdl_attr_definition
class MoveAttr(Data[Move]):
    """`#torq_plan.move<16, 8 by 56, xram + 128, lram + 0>`: 8 rows of 16 bytes, 56 apart."""

    name = "torq_plan.move"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Move:
        """Reads what is between the angle brackets."""
        loops: list[tuple[int, int]] = []
        with parser.in_angle_brackets():
            row = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            while parser.parse_optional_keyword("xram") is None:
                count = parser.parse_integer(allow_boolean=False)
                parser.parse_keyword("by")
                loops.append((count, parser.parse_integer(allow_boolean=False)))
                parser.parse_punctuation(",")
            outside = _offset(parser)
            parser.parse_punctuation(",")
            parser.parse_keyword("lram")
            inside = _offset(parser)
        return Move(outside=outside, inside=inside, row=row, loops=tuple(loops))

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        move = self.data
        loops = "".join(f"{count} by {stride}, " for count, stride in move.loops)
        printer.print_string(f"<{move.row}, {loops}xram + {move.outside}, lram + {move.inside}>")

    def verify(self) -> None:
        """Some bytes, from places that there are."""
        move = self.data
        if min((move.row, *(count for count, _ in move.loops))) < 1:
            raise VerifyException(f"a transfer of {move.size} bytes")
        if min(move.outside, move.inside) < 0:
            raise VerifyException("a transfer from before the beginning of memory")


def _offset(parser: AttrParser) -> int:
    parser.parse_punctuation("+")
    return parser.parse_integer(allow_boolean=False)


@irdl_attr_definition
class RegionAttr(Data[Region]):
    """`#torq_plan.region<[0, 8, 0, 0], [1, 8, 16, 16]>`: the first elements, and how many."""

    name = "torq_plan.region"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Region:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            starts = whole_numbers(parser)
            parser.parse_punctuation(",")
            return Region(starts=starts, sizes=whole_numbers(parser))

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f"<{list(self.data.starts)}, {list(self.data.sizes)}>")

    def verify(self) -> None:
        """As many sizes as starts."""
        if len(self.data.starts) != len(self.data.sizes):
            raise VerifyException("a region has as many sizes as starts")


@dataclass(frozen=True, kw_only=True)
class KernelName:
    """A kernel; one that sums over some of the terms: the first of them, and how many."""

    name: str
    terms: tuple[int, int] | None = None


@irdl_attr_definition
class KernelAttr(Data[KernelName]):
    """`#torq_plan.kernel<"clamp">`, or `<"fully connected", terms 512 from 1024>`."""

    name = "torq_plan.kernel"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelName:
        """Reads what is between the angle brackets."""
        terms = None
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("terms")
                count = parser.parse_integer(allow_boolean=False)
                parser.parse_keyword("from")
                terms = parser.parse_integer(allow_boolean=False), count
        return KernelName(name=name, terms=terms)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string("<")
        printer.print_string_literal(self.data.name)
        if self.data.terms is not None:
            first, count = self.data.terms
            printer.print_string(f", terms {count} from {first}")
        printer.print_string(">")


@dataclass(frozen=True, kw_only=True)
class Lying:
    """What a kernel calls a tensor, and how it lies in its buffer, whose first address is 0."""

    role: str
    tensor: Tensor


@irdl_attr_definition
class LyingAttr(Data[Lying]):
    """`#torq_plan.lying<"y", "clamp 0" int8 [16] by [1] + 64>`: 64 bytes behind the beginning."""

    name = "torq_plan.lying"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Lying:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            role = parser.parse_str_literal()
            parser.parse_punctuation(",")
            name = parser.parse_str_literal()
            dtype = parser.parse_keyword_in(tuple(ELEMENT_BYTES))
            shape = whole_numbers(parser)
            parser.parse_keyword("by")
            strides = whole_numbers(parser)
            address = _offset(parser)
        tensor = Tensor(name=name, address=address, dtype=dtype, shape=shape, strides=strides)
        return Lying(role=role, tensor=tensor)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        tensor = self.data.tensor
        printer.print_string("<")
        printer.print_string_literal(self.data.role)
        printer.print_string(", ")
        printer.print_string_literal(tensor.name)
        lies = f"{_list(tensor.shape)} by {_list(tensor.strides)} + {tensor.address}"
        printer.print_string(f" {tensor.dtype} {lies}>")

    def verify(self) -> None:
        """A tensor that can be."""
        tensor = self.data.tensor
        if len(tensor.shape) != len(tensor.strides) or min(tensor.shape, default=1) < 1:
            raise VerifyException(f"a tensor of {_list(tensor.shape)} by {_list(tensor.strides)}")
        if min((tensor.address, *tensor.strides)) < 0:
            raise VerifyException("a tensor that begins before its buffer")


def _list(numbers: Sequence[int]) -> str:
    return str(list(numbers))


@irdl_attr_definition
class MemoryType(ParametrizedAttribute, TypeAttribute):
    """`!torq_plan.memory`: bytes in XRAM."""

    name = "torq_plan.memory"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """`!torq_plan.buffer`: bytes in LRAM."""

    name = "torq_plan.buffer"


@irdl_attr_definition
class CommandsType(ParametrizedAttribute, TypeAttribute):
    """`!torq_plan.commands`: what a slice is to do."""

    name = "torq_plan.commands"
