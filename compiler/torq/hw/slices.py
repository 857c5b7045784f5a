"""What slices run: programs of tasks, each a configuration of a slice's agents."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Region
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

from assay.hw.torq.words.commands import SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode
from assay.hw.torq.words.errors import EncodeError

from .attributes import (
    Address,
    AddressAttr,
    FieldsAttr,
    Loops,
    LoopsAttr,
    fields_of,
    fields_text,
    made_of,
    parsed_address,
    parsed_fields,
    parsed_loops,
)
from .operation import HwOp, body, print_body
from .symbols import Symbols, without_symbols

_LINK = "from"


@irdl_op_definition
class SliceTaskOp(HwOp):
    """One run of a slice. Fields are those of `SliceTask` that are not the usual ones:

    torq_hw.slice_task {act_rsh = 20, act_clip_min = -128, act_clip_max = 127}
      DEDR lram[0x1000] low [B 1 by 1, D 66 by 1] high [1, I 1 by 3, J 3 by 8]
      DEWR lram[0x2000] low [B 1 by 1, D 4 by 1] high [1, 18 by 4]
    """

    name = "torq_hw.slice_task"
    configuration = prop_def(FieldsAttr)
    agents = prop_def(ArrayAttr[LoopsAttr])
    link = opt_prop_def(AddressAttr)
    """Where its commands are, if they are not behind those of the task before."""

    @classmethod
    def made(cls, task: SliceTask, symbols: Sequence[str] = ()) -> SliceTaskOp:
        """Of a task; `symbols` name what its agents' addresses are counted from."""
        names = symbols or [""] * len(task.ndls)
        loops = [LoopsAttr(Loops(ndl, s)) for ndl, s in zip(task.ndls, names, strict=True)]
        made = cls.create(
            properties={
                "configuration": FieldsAttr(fields_of(task, "ndls", "address")),
                "agents": ArrayAttr(loops),
            }
        )
        if task.address is not None:
            made.properties["link"] = AddressAttr(Address("lram", task.address))
        return made

    def task(self, symbols: Symbols) -> SliceTask:
        """The task. Raises ValueError for what is no field of one, and for unknown symbols."""
        ndls = tuple(symbols.placed(attribute.data) for attribute in self.agents)
        address = None if self.link is None else symbols.byte(self.link.data)
        return made_of(SliceTask, self.configuration.data, ndls=ndls, address=address, note=None)

    @classmethod
    def parse(cls, parser: Parser) -> SliceTaskOp:
        """Reads what stands behind the name."""
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword(_LINK):
            properties["link"] = AddressAttr(parsed_address(parser, "lram"))
        configuration = FieldsAttr(parsed_fields(parser))
        loops = []
        while parser.parse_optional_keyword("agent"):
            loops.append(LoopsAttr(parsed_loops(parser)))
        properties |= {"configuration": configuration, "agents": ArrayAttr(loops)}
        return cls.create(properties=properties)

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        link = "" if self.link is None else f" {_LINK} {self.link.data}"
        printer.print_string(f"{link} {fields_text(self.configuration.data)}")
        self.print_remark(printer)
        for attribute in self.agents:
            printer.print_string(f"\n  agent {attribute.data}")

    def verify_(self) -> None:
        """Fields are those of a task, and agents have the sets that there are."""
        try:
            made_of(SliceTask, self.configuration.data)
        except ValueError as error:
            raise VerifyException(str(error)) from None


@irdl_op_definition
class SliceProgramOp(HwOp):
    """Tasks that a slice runs one after the other: where they are kept, and where they run.

    torq_hw.slice_program xram[0x108000] at lram[0x5a00] {
      torq_hw.slice_task ...
    }
    """

    name = "torq_hw.slice_program"
    kept = opt_prop_def(AddressAttr)
    place = prop_def(AddressAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    @classmethod
    def made(
        cls, tasks: Sequence[SliceTaskOp], place: Address, kept: Address | None
    ) -> SliceProgramOp:
        """Of its tasks."""
        properties = {"place": AddressAttr(place)}
        if kept is not None:
            properties["kept"] = AddressAttr(kept)
        return cls.create(properties=properties, regions=[Region(Block(list(tasks)))])

    def program(self, symbols: Symbols) -> SliceProgram:
        """The program. Raises ValueError."""
        tasks = [op.task(symbols) for op in self.body.block.ops if isinstance(op, SliceTaskOp)]
        kept = None if self.kept is None else symbols.byte(self.kept.data)
        place = symbols.byte(self.place.data)
        return SliceProgram(tasks=tuple(tasks), address=place, xram_address=kept)

    @classmethod
    def parse(cls, parser: Parser) -> SliceProgramOp:
        """Reads what stands behind the name."""
        properties = {}
        if parser.parse_optional_keyword("at") is None:
            properties["kept"] = AddressAttr(parsed_address(parser, "xram"))
            parser.parse_keyword("at")
        properties["place"] = AddressAttr(parsed_address(parser, "lram"))
        return cls.create(properties=properties, regions=[body(parser)])

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        kept = "" if self.kept is None else f" {self.kept.data}"
        printer.print_string(f"{kept} at {self.place.data}")
        print_body(printer, self.body)

    def verify_(self) -> None:
        """The hardware has a configuration for each task."""
        for op in self.body.block.ops:
            if not isinstance(op, SliceTaskOp):
                raise VerifyException(f"{op.name} is no task of a slice")
        try:
            encode(self.program(without_symbols()))
        except EncodeError as error:
            raise VerifyException(str(error)) from None
