"""Names of places in memory: what addresses in TorqHW are counted from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from assay.hw.torq.words.commands import Ndl

from .attributes import Address, AddressAttr, Loops, parsed_address, parsed_string, quoted
from .operation import HwOp


@irdl_op_definition
class SymbolOp(HwOp):
    """`torq_hw.symbol "weights" lram[0x600] 1024`: a name for so many bytes."""

    name = "torq_hw.symbol"
    symbol = prop_def(StringAttr)
    place = prop_def(AddressAttr)
    size = prop_def(IntegerAttr)

    @classmethod
    def made(cls, name: str, place: Address, size: int) -> SymbolOp:
        """Of a name and its bytes."""
        return cls.create(
            properties={
                "symbol": StringAttr(name),
                "place": AddressAttr(place),
                "size": IntegerAttr(size, i64),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> SymbolOp:
        """Reads what stands behind the name."""
        name = parsed_string(parser)
        place = parsed_address(parser)
        return cls.made(name, place, parser.parse_integer(allow_negative=False))

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        printer.print_string(
            f" {quoted(self.symbol.data)} {self.place.data} {self.size.value.data}"
        )


@dataclass(frozen=True)
class Symbols:
    """Where names are, by memory and name. None stands for names that nobody looks up."""

    places: dict[tuple[str, str], int] | None

    def byte(self, address: Address) -> int:
        """The byte that an address means. Raises ValueError for an unknown name."""
        if not address.symbol or self.places is None:
            return address.offset
        base = self.places.get((address.space, address.symbol))
        if base is None:
            raise ValueError(f"{address}: nothing is called {address.symbol!r} there")
        return base + address.offset

    def placed(self, loops: Loops) -> Ndl:
        """Loops that begin at a byte. Raises ValueError."""
        ndl = loops.ndl
        space = "xram" if ndl.agent in ("DIXR", "DOXW") else "lram"
        base = self.byte(Address(space, ndl.base_address, loops.symbol))
        return replace(ndl, base_address=base)


def without_symbols() -> Symbols:
    """For checks that do not depend on where something is."""
    return Symbols(None)
