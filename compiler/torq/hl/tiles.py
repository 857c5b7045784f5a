"""How an operation's result is made tile by tile, as an attribute that pass `tile` adds."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .attributes import whole_numbers

TILES = "tiles"
"""The attribute's name on operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """A kernel and the tiles that it makes: alone, in parts of sums, or together with others.

    Attributes:
        kernel: the kernel's name.
        sizes: elements of a tile along each axis.
        order: the axes along which tiles follow each other, the innermost one last.
        terms: how many terms are summed at a time, in tiles that PRAM holds; 0: all of them.
        group: the number of the operations that are done together for each tile; -1: alone.
        rows: of the last one's result in a tile.
        kept: the result stays in LRAM as a whole until its last reader is done.
    """

    kernel: str
    sizes: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    terms: int = 0
    group: int = -1
    rows: int = 0
    kept: bool = False


@irdl_attr_definition
class TilesAttr(Data[Tiles]):
    """`#torq_hl.tiles<"convolution 64x4", [1, 16, 8, 56] by [0, 2, 1, 3], kept>`.

    Or `<"fully connected", terms 512>`, or `<"add", group 2, rows 8, kept>`.
    """

    name = "torq_hl.tiles"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Tiles:
        """Reads what is between the angle brackets."""
        with parser.in_angle_brackets():
            kernel = parser.parse_str_literal()
            parser.parse_punctuation(",")
            sizes: tuple[int, ...] = ()
            order: tuple[int, ...] = ()
            terms, group, rows = 0, -1, 0
            if parser.parse_optional_keyword("group") is not None:
                group = parser.parse_integer(allow_boolean=False)
                parser.parse_punctuation(",")
                parser.parse_keyword("rows")
                rows = parser.parse_integer(allow_boolean=False)
            elif parser.parse_optional_keyword("terms") is not None:
                terms = parser.parse_integer(allow_boolean=False)
            else:
                sizes = whole_numbers(parser)
                parser.parse_keyword("by")
                order = whole_numbers(parser)
            kept = parser.parse_optional_punctuation(",") is not None
            if kept:
                parser.parse_keyword("kept")
        return Tiles(
            kernel=kernel,
            sizes=sizes,
            order=order,
            terms=terms,
            group=group,
            rows=rows,
            kept=kept,
        )

    def print_parameter(self, printer: Printer) -> None:
        """Writes the angle brackets and what is between them."""
        data = self.data
        how = f"{list(data.sizes)} by {list(data.order)}"
        if data.group >= 0:
            how = f"group {data.group}, rows {data.rows}"
        elif data.terms:
            how = f"terms {data.terms}"
        printer.print_string("<")
        printer.print_string_literal(data.kernel)
        printer.print_string(f", {how}{', kept' if data.kept else ''}>")

    def verify(self) -> None:
        """Numbers that can be: sizes from 1 on, every axis once, rows of a group."""
        data = self.data
        if sorted(data.order) != list(range(len(data.sizes))) or min(data.sizes, default=1) < 1:
            raise VerifyException(f"tiles of {list(data.sizes)} by {list(data.order)}")
        if data.terms < 0 or data.group < -1 or data.rows < (1 if data.group >= 0 else 0):
            raise VerifyException(
                f"tiles of {data.terms} terms, group {data.group}, {data.rows} rows"
            )
