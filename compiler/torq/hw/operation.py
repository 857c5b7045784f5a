"""What TorqHW's operations have in common."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer

from .attributes import Fields, FieldsAttr, fields_text, parsed_fields

_REMARK = "remark"


class HwOp(IRDLOperation, ABC):
    """An operation; a remark is printed as a comment and means nothing."""

    def remarked(self, text: str) -> None:
        """Gives it a remark."""
        if text:
            self.attributes[_REMARK] = StringAttr(text)

    @property
    def remark(self) -> str:
        """What a compiler says that it is for; empty if it does not."""
        found = self.attributes.get(_REMARK)
        return found.data if isinstance(found, StringAttr) else ""

    def print_remark(self, printer: Printer) -> None:
        """Prints the remark, if there is one, as a comment to the end of the line."""
        if self.remark:
            plain = "".join(c if c.isprintable() else "?" for c in self.remark)
            printer.print_string(f"  // {plain}")


class FieldsOp(HwOp):
    """An operation that has nothing but fields."""

    @property
    def given(self) -> Fields:
        """The fields."""
        return fields_in(self.properties["fields"])

    @classmethod
    def parse(cls, parser: Parser) -> FieldsOp:
        """Reads what stands behind the name."""
        return cls.create(properties={"fields": FieldsAttr(parsed_fields(parser))})

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(f" {fields_text(self.given)}")
        self.print_remark(printer)


def fields_in(attribute: Attribute) -> Fields:
    """What a FieldsAttr holds."""
    assert isinstance(attribute, FieldsAttr)
    return attribute.data


def body(parser: Parser) -> Region:
    """A region of one block."""
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    if len(region.blocks) > 1:
        parser.raise_error("one block is possible")
    return region


def print_body(printer: Printer, region: Region) -> None:
    """A region between braces, an operation a line."""
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)
