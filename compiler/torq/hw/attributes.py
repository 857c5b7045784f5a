"""TorqHW's attributes: addresses, loops of agents, fields of tasks, bytes of memory.

Each has one text, which operations print without the dialect's prefix where it stands in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from xdsl.ir import Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from assay.hw.torq.words.commands import Dim, Ndl

SPACES = ("lram", "xram")
MEMORY_AGENTS = {"DIXR": "xram", "DOXW": "xram"}
"""Agents whose addresses are not of LRAM."""
_ELIDED = "elided"
_DMA_LOW = (Dim(count=1, stride=1, tag="B"),)
Scalar = int | bool | str
Value = Scalar | tuple[int, ...]
Fields = tuple[tuple[str, Value], ...]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Address:
    """A byte of a memory: `offset` from a symbol, or from the memory's beginning."""

    space: str
    offset: int
    symbol: str = ""

    def __str__(self) -> str:
        if not self.symbol:
            return f"{self.space}[{self.offset:#x}]"
        more = f" + {self.offset:#x}" if self.offset else ""
        return f"{self.space}[@{quoted(self.symbol)}{more}]"


def parsed_address(parser: AttrParser, *spaces: str) -> Address:
    """`lram[0x600]`, `xram[@"x" + 0x40]`, in one of some memories."""
    space = parser.parse_keyword_in(spaces or SPACES)
    parser.parse_punctuation("[")
    symbol = parser.parse_optional_symbol_name()
    if symbol is None or parser.parse_optional_punctuation("+") is not None:
        offset = parser.parse_integer(allow_boolean=False, allow_negative=False)
    else:
        offset = 0
    parser.parse_punctuation("]")
    return Address(space, offset, "" if symbol is None else symbol.data)


@dataclass(frozen=True, slots=True)
class Loops:
    """An agent's loops; its base address is `offset` from a symbol if that is not empty."""

    ndl: Ndl
    symbol: str = ""

    def __str__(self) -> str:
        ndl = self.ndl
        parts = [ndl.name]
        if has_address(ndl.agent):
            space = MEMORY_AGENTS.get(ndl.agent, "lram")
            parts.append(str(Address(space, ndl.base_address, self.symbol)))
        if ndl.low and (ndl.agent not in _DMA_AGENTS or ndl.low != _DMA_LOW):
            parts.append(f"low {_dims(ndl.low)}")
        if ndl.high:
            parts.append(f"high {_dims(ndl.high)}")
        if ndl.special:
            parts.append(f"special {_dims(ndl.special)}")
        if ndl.sync_mode or ndl.sync_nhd:
            parts.append(f"sync {quoted(ndl.sync_mode)} {ndl.sync_nhd}")
        if ndl.descriptor_address is not None:
            parts.append(f"descriptor {Address('lram', ndl.descriptor_address)}")
        return " ".join(parts)


_ADDRESSED = ("DEDR", "DEWR", "DEBR", "DEQW", "DIXR", "DILW", "DOLR", "DOXW")
_DMA_AGENTS = _ADDRESSED[4:]


def has_address(agent: str) -> bool:
    """Whether an agent's loops begin at an address of a memory."""
    return agent in _ADDRESSED


def parsed_loops(parser: AttrParser) -> Loops:
    """An agent with its address and loops, as they are printed."""
    name = parser.parse_identifier()
    # Only the index streams DEDR1 and DEBR1, and the second operation set, have a number.
    number = int(name[-1]) if name[-1:].isdigit() else 0
    agent = name[:-1] if name[-1:].isdigit() else name
    ndl = Ndl(agent=agent, set=number)
    symbol = ""
    if has_address(agent):
        place = parsed_address(parser, MEMORY_AGENTS.get(agent, "lram"))
        ndl, symbol = replace(ndl, base_address=place.offset), place.symbol
    if agent in _DMA_AGENTS:
        ndl = replace(ndl, low=_DMA_LOW)
    if parser.parse_optional_keyword("low"):
        ndl = replace(ndl, low=_parsed_dims(parser))
    if parser.parse_optional_keyword("high"):
        ndl = replace(ndl, high=_parsed_dims(parser))
    if parser.parse_optional_keyword("special"):
        ndl = replace(ndl, special=_parsed_dims(parser))
    if parser.parse_optional_keyword("sync"):
        mode = parsed_string(parser)
        ndl = replace(ndl, sync_mode=mode, sync_nhd=parser.parse_integer())
    if parser.parse_optional_keyword("descriptor"):
        ndl = replace(ndl, descriptor_address=parsed_address(parser, "lram").offset)
    return Loops(ndl, symbol)


def _dims(dims: tuple[Dim, ...]) -> str:
    return f"[{', '.join(map(_dim, dims))}]"


def _dim(dim: Dim) -> str:
    tag = f"{dim.tag} " if dim.tag else ""
    stride = f" by {dim.stride}" if dim.stride else ""
    pad = f" pad {dim.pad}" if dim.pad else ""
    return f"{tag}{dim.count}{stride}{pad}"


def _parsed_dims(parser: AttrParser) -> tuple[Dim, ...]:
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parsed_dim(parser), " of loops"
        )
    )


def _parsed_dim(parser: AttrParser) -> Dim:
    tag = parser.parse_optional_identifier() or ""
    count = parser.parse_integer(allow_boolean=False)
    stride = parser.parse_integer() if parser.parse_optional_keyword("by") else 0
    pad = parser.parse_integer() if parser.parse_optional_keyword("pad") else 0
    return Dim(count=count, stride=stride, tag=tag, pad=pad)


def parsed_string(parser: AttrParser) -> str:
    """A string between quotation marks, which may have any character."""
    text = _parsed_optional_string(parser)
    return parser.parse_str_literal() if text is None else text


def _parsed_optional_string(parser: AttrParser) -> str | None:
    text = parser.parse_optional_str_literal()
    if text is not None:
        return text
    data = parser.parse_optional_bytes_literal()  # Characters beyond ASCII are escaped bytes.
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        parser.raise_error("this is no text in UTF-8")


def fields_text(given: Fields) -> str:
    """`{act_rsh = 20, act_mode = ACT}`."""
    return "{" + ", ".join(f"{name} = {_value(value)}" for name, value in given) + "}"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 16 else f"{'-' * (value < 0)}{abs(value):#x}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    is_word = value.isascii() and value.isidentifier() and value not in ("true", "false")
    return value if is_word else quoted(value)


def parsed_fields(parser: AttrParser) -> Fields:
    """Fields between braces; a name is there once."""
    found = tuple(
        parser.parse_optional_comma_separated_list(
            parser.Delimiter.BRACES, lambda: _parsed_field(parser), " of fields"
        )
        or ()
    )
    names = [name for name, _ in found]
    if len(set(names)) != len(names):
        parser.raise_error("a field is there twice")
    return found


def _parsed_field(parser: AttrParser) -> tuple[str, Value]:
    name = parser.parse_identifier()
    parser.parse_punctuation("=")
    return name, _parsed_value(parser)


def _parsed_value(parser: AttrParser) -> Value:
    truth = parser.parse_optional_boolean()
    if truth is not None:
        return truth
    word = parser.parse_optional_identifier()
    if word is None:
        word = _parsed_optional_string(parser)
    if word is not None:
        return word
    items = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    if items is not None:
        return tuple(items)
    return parser.parse_integer(allow_boolean=False)


def fields_of(made: object, *left_out: str) -> Fields:
    """What a dataclass has otherwise than by default, but for some of it."""
    return tuple(
        (field.name, getattr(made, field.name))
        for field in fields(made)  # type: ignore[arg-type]
        if field.compare
        and field.name not in left_out
        and getattr(made, field.name) != field.default
    )


def made_of(kind: Callable[..., _T], given: Fields, **more: Any) -> _T:
    """A dataclass of fields. Raises ValueError for those it has not, or has with another type."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for name, value in given:
        if name not in known or name in more or not known[name].compare:
            allowed = ", ".join(each for each in known if each not in more)
            raise ValueError(f"there is no field {name}; there are {allowed}")
        wanted = _kind(known[name].type)
        if not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
            raise ValueError(f"field {name} is {_value(value)}, and must be {_NAMES[wanted]}")
    return kind(**dict(given), **more)


_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a number",
    str: "a word",
    tuple: "a list of numbers",
}


def _kind(annotation: object) -> type:
    """The type of a field's values: enumerations are numbers here."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    text = name or str(annotation)
    if text.startswith("tuple"):
        return tuple
    return {"bool": bool, "str": str}.get(text, int)


def quoted(text: str) -> str:
    """A string literal, with what a file could steer a terminal with escaped."""
    return f'"{_NOT_PLAIN.sub(_escaped, text)}"'


_NOT_PLAIN = re.compile(r"[^ !#-\[\]-~]")


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"\\{byte:02X}" for byte in found[0].encode())


@irdl_attr_definition
class AddressAttr(Data[Address]):
    """`#torq_hw.address<lram[0x600]>`."""

    name = "torq_hw.address"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Address:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            return parsed_address(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class LoopsAttr(Data[Loops]):
    """`#torq_hw.loops<DEBR lram[0x2100] low [B 4 by 1, D 2 by 4] high [1, 4 by 8]>`."""

    name = "torq_hw.loops"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Loops:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            return parsed_loops(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class FieldsAttr(Data[Fields]):
    """`#torq_hw.fields<{act_rsh = 20}>`."""

    name = "torq_hw.fields"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Fields:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            return parsed_fields(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f"<{fields_text(self.data)}>")


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes of memory; None if they were left out of a text."""

    data: bytes | None
    size: int

    def text(self, most: int | None = None) -> str:
        """Hexadecimal, or only how many if there are more than `most`."""
        if self.data is None or (most is not None and self.size > most):
            return f"{_ELIDED} {self.size}"
        return f'"{self.data.hex()}"'


def parsed_content(parser: AttrParser) -> Content:
    """Bytes in hexadecimal, or how many were left out."""
    if parser.parse_optional_keyword(_ELIDED):
        return Content(None, parser.parse_integer(allow_boolean=False, allow_negative=False))
    text = parser.parse_str_literal()
    try:
        data = bytes.fromhex(text)
    except ValueError:
        parser.raise_error("bytes are pairs of hexadecimal digits")
    return Content(data, len(data))


@irdl_attr_definition
class ContentAttr(Data[Content]):
    """`#torq_hw.content<"0005ff">`."""

    name = "torq_hw.content"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Content:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            return parsed_content(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        printer.print_string(f"<{self.data.text(getattr(printer, 'most_bytes', None))}>")


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`!torq_hw.token`: a unit was started and can be waited for."""

    name = "torq_hw.token"
