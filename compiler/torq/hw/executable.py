"""What an executable holds besides programs: memory, tensors of callers, what the host does."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from .attributes import (
    Address,
    AddressAttr,
    Content,
    ContentAttr,
    Fields,
    FieldsAttr,
    fields_text,
    parsed_address,
    parsed_content,
    parsed_fields,
    parsed_string,
    quoted,
)
from .operation import FieldsOp, HwOp, body, print_body
from .symbols import SymbolOp, Symbols

_LARGEST = 1 << 29
"""Bytes of XRAM that are emulated."""


@irdl_op_definition
class SegmentOp(HwOp):
    """`torq_hw.segment xram[0x100000] 640 "00ff"`: bytes that are put into XRAM.

    Those behind the bytes that are given are 0, but for programs and blocks that are kept there;
    `unset` stands for memory that is only reserved.
    """

    name = "torq_hw.segment"
    place = prop_def(AddressAttr)
    size = prop_def(IntegerAttr)
    content = opt_prop_def(ContentAttr)
    """None: only reserved."""

    @classmethod
    def made(cls, address: int, size: int, content: Content | None) -> SegmentOp:
        """Of its place and bytes."""
        place = AddressAttr(Address("xram", address))
        made = cls.create(properties={"place": place, "size": IntegerAttr(size, i64)})
        if content is not None:
            made.properties["content"] = ContentAttr(content)
        return made

    @classmethod
    def parse(cls, parser: Parser) -> SegmentOp:
        """Reads what stands behind the name."""
        place = parsed_address(parser, "xram").offset
        size = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if parser.parse_optional_keyword("unset"):
            return cls.made(place, size, None)
        return cls.made(place, size, parsed_content(parser))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        most = getattr(printer, "most_bytes", None)
        data = "unset" if self.content is None else self.content.data.text(most)
        printer.print_string(f" {self.place.data} {self.size.value.data} {data}")
        self.print_remark(printer)

    def verify_(self) -> None:
        """There is such memory, and the bytes fit."""
        size = self.size.value.data
        if size > _LARGEST or self.place.data.offset + size > 1 << 32:
            raise VerifyException(f"{size} bytes at {self.place.data} are more than there can be")
        if self.content is not None and self.content.data.size > self.size.value.data:
            raise VerifyException("it has more bytes than its size says")


@irdl_op_definition
class ArgumentOp(FieldsOp):
    """A tensor of the caller's, as long as a program has no blocks."""

    name = "torq_hw.argument"
    fields = prop_def(FieldsAttr)


@irdl_op_definition
class BindingOp(FieldsOp):
    """Where in XRAM a buffer of the caller's is expected."""

    name = "torq_hw.binding"
    fields = prop_def(FieldsAttr)


@irdl_op_definition
class BufferOp(FieldsOp):
    """What a compiler remembers of a buffer."""

    name = "torq_hw.buffer"
    fields = prop_def(FieldsAttr)


@irdl_op_definition
class ActionOp(HwOp):
    """`torq_hw.action StartNss {address = 0}`: what the host does, one after the other."""

    name = "torq_hw.action"
    kind = prop_def(StringAttr)
    fields = prop_def(FieldsAttr)

    @classmethod
    def made(cls, kind: str, fields: Fields) -> ActionOp:
        """Of its kind and fields."""
        return cls.create(properties={"kind": StringAttr(kind), "fields": FieldsAttr(fields)})

    @classmethod
    def parse(cls, parser: Parser) -> ActionOp:
        """Reads what stands behind the name."""
        kind = parser.parse_identifier()
        return cls.made(kind, parsed_fields(parser))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f" {self.kind.data} {fields_text(self.fields.data)}")


@irdl_op_definition
class HostCodeOp(HwOp):
    """Machine code of the host's, which nothing here reads."""

    name = "torq_hw.host_code"
    content = prop_def(ContentAttr)

    @classmethod
    def made(cls, data: bytes) -> HostCodeOp:
        """Of its bytes."""
        return cls.create(properties={"content": ContentAttr(Content(data, len(data)))})

    @classmethod
    def parse(cls, parser: Parser) -> HostCodeOp:
        """Reads what stands behind the name."""
        return cls.create(properties={"content": ContentAttr(parsed_content(parser))})

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        most = getattr(printer, "most_bytes", None)
        printer.print_string(f" {self.content.data.text(most)}")


@irdl_op_definition
class NotesOp(HwOp):
    """What the compiler knows beside the words, as JSON: what each task is meant to touch."""

    name = "torq_hw.notes"
    text = prop_def(StringAttr)

    @classmethod
    def made(cls, text: str) -> NotesOp:
        """Of its JSON."""
        return cls.create(properties={"text": StringAttr(text)})

    @classmethod
    def parse(cls, parser: Parser) -> NotesOp:
        """Reads what stands behind the name."""
        return cls.made(parsed_string(parser))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name; nothing of it where constants are left out, too."""
        most = getattr(printer, "most_bytes", None)
        text = self.text.data
        shown = '""' if most is not None and len(text) > most else quoted(text)
        printer.print_string(f" {shown}")


@irdl_op_definition
class ExecutableOp(HwOp):
    """All of a program for the NPU: symbols, memory, programs, tensors, what the host does."""

    name = "torq_hw.executable"
    title = prop_def(StringAttr)
    fields = prop_def(FieldsAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    @classmethod
    def made(cls, title: str, fields: Fields, ops: list[Operation]) -> ExecutableOp:
        """Of its name, fields and operations."""
        return cls.create(
            properties={"title": StringAttr(title), "fields": FieldsAttr(fields)},
            regions=[Region(Block(ops))],
        )

    def symbols(self) -> Symbols:
        """Where its names are. Raises ValueError for a name that is there twice."""
        places: dict[tuple[str, str], int] = {}
        for op in self.body.block.ops:
            if isinstance(op, SymbolOp):
                key = (op.place.data.space, op.symbol.data)
                if key in places:
                    raise ValueError(f"{op.place.data.space} has {op.symbol.data!r} twice")
                places[key] = op.place.data.offset
        return Symbols(places)

    @classmethod
    def parse(cls, parser: Parser) -> ExecutableOp:
        """Reads what stands behind the name."""
        title = parsed_string(parser)
        fields = (
            FieldsAttr(parsed_fields(parser))
            if parser.parse_optional_keyword("with")
            else (FieldsAttr(()))
        )
        return cls.create(
            properties={"title": StringAttr(title), "fields": fields}, regions=[body(parser)]
        )

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        given = self.fields.data
        more = f" with {fields_text(given)}" if given else ""
        printer.print_string(f" {quoted(self.title.data)}{more}")
        print_body(printer, self.body)

    def verify_(self) -> None:
        """Names are there once."""
        try:
            self.symbols()
        except ValueError as error:
            raise VerifyException(str(error)) from None
