"""TorqHL's attributes, and the Python values that stand for all attributes of its operators."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..operators.quantisation import FloatRange, Rescale

MOST_SHIFT = 62


@irdl_attr_definition
class RescaleAttr(Data[Rescale]):
    """`#torq_hl.rescale<[1717986944], [37], zp -20, range -20 to 127, double>`."""

    name = "torq_hl.rescale"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Rescale:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            multipliers = whole_numbers(parser)
            parser.parse_punctuation(",")
            shifts = whole_numbers(parser)
            parser.parse_punctuation(",")
            parser.parse_keyword("zp")
            zero_point = parser.parse_integer()
            parser.parse_punctuation(",")
            parser.parse_keyword("range")
            low = parser.parse_integer()
            parser.parse_keyword("to")
            high = parser.parse_integer()
            double = parser.parse_optional_punctuation(",") is not None
            if double:
                parser.parse_keyword("double")
        return Rescale(
            multipliers=multipliers,
            shifts=shifts,
            zero_point=zero_point,
            low=low,
            high=high,
            double_round=double,
        )

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        data = self.data
        end = ", double" if data.double_round else ""
        printer.print_string(
            f"<{list(data.multipliers)}, {list(data.shifts)}, zp {data.zero_point}, "
            f"range {data.low} to {data.high}{end}>"
        )

    def verify(self) -> None:
        """As many shifts as multipliers, all in their ranges, and limits in order."""
        data = self.data
        if len(data.multipliers) != len(data.shifts) or not data.shifts:
            raise VerifyException(
                f"{len(data.multipliers)} multipliers with {len(data.shifts)} shifts"
            )
        if min(data.shifts) < 0 or max(data.shifts) > MOST_SHIFT:
            raise VerifyException(f"shifts from {min(data.shifts)} to {max(data.shifts)}")
        if data.low > data.high:
            raise VerifyException(f"a range from {data.low} to {data.high}")


@irdl_attr_definition
class FloatRangeAttr(Data[FloatRange]):
    """`#torq_hl.range<"0.0", "6.0">`: limits of results that are floating-point numbers."""

    name = "torq_hl.range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> FloatRange:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            low = float(parser.parse_str_literal())
            parser.parse_punctuation(",")
            return FloatRange(low, float(parser.parse_str_literal()))

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f'<"{self.data.low!r}", "{self.data.high!r}">')


def whole_numbers(parser: AttrParser) -> tuple[int, ...]:
    """Reads `[1, 2, 3]`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def attribute_of(value: Any) -> Attribute:
    """The attribute that stands for a Python value."""
    match value:
        case Attribute():
            return value
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case tuple() | list():
            return DenseArrayBase.from_list(i64, list(value))
        case Rescale():
            return RescaleAttr(value)
        case FloatRange():
            return FloatRangeAttr(value)
    raise TypeError(f"no attribute stands for {value!r}")


def value_of(attribute: Attribute) -> Any:
    """The Python value that an attribute stands for."""
    match attribute:
        case RescaleAttr() | FloatRangeAttr():
            return attribute.data
        case IntegerAttr():
            number = int(attribute.value.data)
            return bool(number) if attribute.type == BoolAttr.from_bool(True).type else number
        case FloatAttr():
            return float(attribute.value.data)
        case StringAttr():
            return attribute.data
        case DenseArrayBase():
            return tuple(int(number) for number in attribute.get_values())
    return attribute
