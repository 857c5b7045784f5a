"""What the NSS does: starts of units, each a token, and waits for tokens.

All starts up to the next wait are one task of the NSS: its units start together, and the next task
begins when those are done that the wait names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from assay.hw.torq.words.commands import Ndl

from .attributes import (
    Address,
    AddressAttr,
    Fields,
    FieldsAttr,
    Loops,
    LoopsAttr,
    TokenType,
    Value,
    fields_text,
    parsed_address,
    parsed_fields,
    parsed_loops,
)
from .operation import HwOp
from .symbols import Symbols

UNITS = ("XR", "XW", "SLC0", "SLC1", "CSS", "CDMA")


class StartOp(HwOp):
    """Starts a unit: the token can be waited for."""

    token = result_def(TokenType)
    parameters = prop_def(FieldsAttr)
    KINDS: ClassVar[dict[str, type]] = {}
    """The fields that it has, and of which type."""

    @property
    def unit(self) -> str:
        """The unit that it starts."""
        raise NotImplementedError

    def field(self, name: str, usual: Any) -> Any:
        """A field's value, or the usual one."""
        return dict(self.parameters.data).get(name, usual)

    @classmethod
    def started(cls, parameters: Fields, **properties: Any) -> Self:
        """An operation of this kind with its token."""
        given = {"parameters": FieldsAttr(parameters), **properties}
        made = cls.create(properties=given, result_types=[TokenType()])
        made.token.name_hint = made.unit.lower()
        return made

    def verify_(self) -> None:
        """It has only fields that it can have."""
        for name, value in self.parameters.data:
            kind = self.KINDS.get(name)
            if kind is None:
                known = ", ".join(self.KINDS) or "none"
                raise VerifyException(f"there is no field {name}; there are: {known}")
            if type(value) is not kind:
                raise VerifyException(f"field {name} has a value of another kind")


class DmaOp(StartOp):
    """A transfer between XRAM and LRAM; its agents are the channel's, in the order of the data."""

    agents = prop_def(ArrayAttr[LoopsAttr])
    SIDES: ClassVar[tuple[str, str]]
    KINDS: ClassVar[dict[str, type]] = {"mtu": int, "attr": int, "pad_value": int}

    @classmethod
    def made(cls, sides: Sequence[Loops], fields: Mapping[str, int]) -> Self:
        """Of both sides; fields that are 0 are usual."""
        given: Fields = tuple((name, value) for name, value in fields.items() if value)
        return cls.started(given, agents=ArrayAttr(map(LoopsAttr, sides)))

    def ndls(self, symbols: Symbols) -> tuple[Ndl, ...]:
        """The loops of both sides. Raises ValueError for unknown symbols."""
        return tuple(symbols.placed(attribute.data) for attribute in self.agents)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Reads what stands behind the name."""
        source = parsed_loops(parser)
        parser.parse_keyword("to")
        target = parsed_loops(parser)
        sides = ArrayAttr([LoopsAttr(source), LoopsAttr(target)])
        return cls.started(parsed_fields(parser), agents=sides)

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        source, target = (attribute.data for attribute in self.agents)
        given = self.parameters.data
        more = f" {fields_text(given)}" if given else ""
        printer.print_string(f" {source} to {target}{more}")
        self.print_remark(printer)

    def verify_(self) -> None:
        """The agents are those of the channel."""
        super().verify_()
        found = tuple(attribute.data.ndl.name for attribute in self.agents)
        if found != self.SIDES:
            raise VerifyException(f"moves by {' to '.join(found)}, not {' to '.join(self.SIDES)}")


@irdl_op_definition
class DmaInOp(DmaOp):
    """From XRAM to LRAM, up to four dimensions of XRAM:

    %xr = torq_hw.dma_in DIXR xram[0x100000] high [16 by 1, 8 by 56]
      to DILW lram[0x600] high [128 by 1] {mtu = 4}
    """

    name = "torq_hw.dma_in"
    SIDES: ClassVar[tuple[str, str]] = ("DIXR", "DILW")

    @property
    def unit(self) -> str:
        """The channel."""
        return "XR"


@irdl_op_definition
class DmaOutOp(DmaOp):
    """From LRAM to XRAM, as `dma_in`."""

    name = "torq_hw.dma_out"
    SIDES: ClassVar[tuple[str, str]] = ("DOLR", "DOXW")

    @property
    def unit(self) -> str:
        """The channel."""
        return "XW"


@irdl_op_definition
class SliceStartOp(StartOp):
    """`%slc0 = torq_hw.slice_start 0 lram[0x5a00]`: a slice runs the program there."""

    name = "torq_hw.slice_start"
    number = prop_def(IntegerAttr)
    place = prop_def(AddressAttr)

    @property
    def unit(self) -> str:
        """The slice."""
        return f"SLC{self.number.value.data}"

    @classmethod
    def made(cls, number: int, place: Address) -> Self:
        """Of a slice and where its commands are."""
        return cls.started((), number=IntegerAttr(number, i64), place=AddressAttr(place))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Reads what stands behind the name."""
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return cls.made(number, parsed_address(parser, "lram"))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f" {self.number.value.data} {self.place.data}")
        self.print_remark(printer)

    def verify_(self) -> None:
        """There is such a slice."""
        super().verify_()
        if self.unit not in UNITS:
            raise VerifyException(f"there is no slice {self.number.value.data}")


class PlainStartOp(StartOp):
    """A start that has only fields."""

    @classmethod
    def made(cls, **fields: Value) -> Self:
        """Of its fields; those that are 0 are usual."""
        return cls.started(tuple((name, value) for name, value in fields.items() if value))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Reads what stands behind the name."""
        return cls.started(parsed_fields(parser))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f" {fields_text(self.parameters.data)}")
        self.print_remark(printer)


@irdl_op_definition
class CssStartOp(PlainStartOp):
    """`%css = torq_hw.css_start {address = 0, mailboxes = [65536, 0, 0, 0]}`: the core's task."""

    name = "torq_hw.css_start"
    KINDS: ClassVar[dict[str, type]] = {"mode": int, "address": int, "mailboxes": tuple}

    @property
    def unit(self) -> str:
        """The core."""
        return "CSS"


@irdl_op_definition
class CdmaStartOp(PlainStartOp):
    """`%cdma = torq_hw.cdma_start {source = 0x2000, target = 0x1c0000, size = 1024}`."""

    name = "torq_hw.cdma_start"
    KINDS: ClassVar[dict[str, type]] = {"source": int, "target": int, "size": int}

    @property
    def unit(self) -> str:
        """The channel between memories of the NPU."""
        return "CDMA"


@irdl_op_definition
class WaitOp(HwOp):
    """`torq_hw.wait(%xr, %slc0)`: ends a task when these are done.

    `idle XW` waits for a unit of which no token is left; `mode` says how the core is left.
    """

    name = "torq_hw.wait"
    tokens = var_operand_def(TokenType)
    idle = prop_def(ArrayAttr[StringAttr])
    mode = opt_prop_def(IntegerAttr)
    """How the core is left; only if it is waited for."""

    @classmethod
    def made(cls, tokens: Sequence[SSAValue], idle: Sequence[str], mode: int = 0) -> WaitOp:
        """Of tokens, and units of which there is none."""
        properties: dict[str, Any] = {"idle": ArrayAttr([StringAttr(unit) for unit in idle])}
        if mode:
            properties["mode"] = IntegerAttr(mode, i64)
        return cls.create(operands=list(tokens), properties=properties)

    @property
    def units(self) -> list[str]:
        """The units that are waited for. Raises ValueError for a value that is no start's."""
        found = []
        for token in self.tokens:
            if not isinstance(token.owner, StartOp):
                raise ValueError("waits for what nothing started")
            found.append(token.owner.unit)
        return [*found, *(unit.data for unit in self.idle)]

    @classmethod
    def parse(cls, parser: Parser) -> WaitOp:
        """Reads what stands behind the name."""
        given = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        tokens = [parser.resolve_operand(token, TokenType()) for token in given]
        idle = []
        if parser.parse_optional_keyword("idle"):
            idle = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: parser.parse_keyword_in(UNITS)
            )
        mode = parser.parse_integer() if parser.parse_optional_keyword("mode") else 0
        return cls.made(tokens, idle, mode)

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        with printer.in_parens():
            printer.print_list(self.tokens, printer.print_ssa_value)
        if self.idle:
            printer.print_string(f" idle {', '.join(unit.data for unit in self.idle)}")
        if self.mode is not None:
            printer.print_string(f" mode {self.mode.value.data}")

    def verify_(self) -> None:
        """A unit is waited for once."""
        try:
            units = self.units
        except ValueError as error:
            raise VerifyException(str(error)) from None
        if len(set(units)) != len(units):
            raise VerifyException(f"waits twice for one unit: {', '.join(units)}")


@irdl_op_definition
class BlockOp(HwOp):
    """`torq_hw.block xram[0x10a000] at lram[0x280]`: where the commands that follow are kept, and
    where they are when the NSS takes them up."""

    name = "torq_hw.block"
    kept = opt_prop_def(AddressAttr)
    place = prop_def(AddressAttr)

    @classmethod
    def made(cls, place: Address, kept: Address | None) -> BlockOp:
        """Of both."""
        properties = {"place": AddressAttr(place)}
        if kept is not None:
            properties["kept"] = AddressAttr(kept)
        return cls.create(properties=properties)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        """Reads what stands behind the name."""
        kept = None
        if parser.parse_optional_keyword("at") is None:
            kept = parsed_address(parser, "xram")
            parser.parse_keyword("at")
        return cls.made(parsed_address(parser, "lram"), kept)

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        kept = "" if self.kept is None else f" {self.kept.data}"
        printer.print_string(f"{kept} at {self.place.data}")
        self.print_remark(printer)


@irdl_op_definition
class NextOp(HwOp):
    """`torq_hw.next lram[0x280]`: ends a block; the NSS goes on with the commands there."""

    name = "torq_hw.next"
    place = prop_def(AddressAttr)

    @classmethod
    def made(cls, place: Address) -> NextOp:
        """Of where it goes on."""
        return cls.create(properties={"place": AddressAttr(place)})

    @classmethod
    def parse(cls, parser: Parser) -> NextOp:
        """Reads what stands behind the name."""
        return cls.made(parsed_address(parser, "lram"))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f" {self.place.data}")
