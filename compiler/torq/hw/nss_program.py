"""The NSS's programs: blocks of tasks, as operations and as what the encoder takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from assay.hw.torq.words.commands import Ndl, NssTask
from assay.hw.torq.words.encode.nss import encode_nss_task
from assay.hw.torq.words.errors import EncodeError
from assay.hw.torq.words.stream import LAST, next_word

from .attributes import Address, Loops
from .nss import (
    UNITS,
    BlockOp,
    CdmaStartOp,
    CssStartOp,
    DmaInOp,
    DmaOp,
    DmaOutOp,
    NextOp,
    SliceStartOp,
    StartOp,
    WaitOp,
)
from .operation import HwOp, body, print_body
from .symbols import Symbols, without_symbols


@dataclass(kw_only=True)
class CommandBlock:
    """Tasks whose commands are behind one another.

    Attributes:
        place: the LRAM address of the first command; None if it is not decided.
        kept: its XRAM address; None if it is kept nowhere that is known.
        follows: where the NSS goes on; None at the end.
        problem: why the commands could not be read further.
    """

    tasks: list[NssTask] = field(default_factory=list)
    place: int | None = None
    kept: int | None = None
    follows: int | None = None
    problem: str = ""


def block_words(block: CommandBlock, owned: bool = False) -> tuple[tuple[int, ...], bool]:
    """A block's words, and whether the NPU still has CDMA behind it, if so before (`owned`).

    Raises EncodeError.
    """
    words: tuple[int, ...] = ()
    header = 0
    for number, task in enumerate(block.tasks):
        try:
            encoded = encode_nss_task(task, owned)
        except EncodeError as error:
            raise error.within(number) from None
        header = len(words) + encoded.last_header
        words, owned = words + encoded.words, encoded.cdma_owned
    if block.follows is not None:
        return (*words, next_word(block.follows)), owned
    if not words:
        raise EncodeError("a program ends with a task")
    return (*words[:header], words[header] | LAST, *words[header + 1 :]), owned


@irdl_op_definition
class NssProgramOp(HwOp):
    """Tasks of the NSS one after the other, in blocks once these are made:

    torq_hw.nss_program {
      torq_hw.block xram[0x10a000] at lram[0x0]
      %xr = torq_hw.dma_in DIXR xram[0x100000] high [64 by 1] to DILW lram[0x600] high [64 by 1]
      torq_hw.wait(%xr)
    }
    """

    name = "torq_hw.nss_program"
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    @classmethod
    def made(cls, ops: Sequence[Operation]) -> NssProgramOp:
        """Of its operations."""
        return cls.create(regions=[Region(Block(list(ops)))])

    def blocks(self, symbols: Symbols) -> list[CommandBlock]:
        """The tasks by block. Raises ValueError."""
        return list(_blocks(self.body.block.ops, symbols))

    @classmethod
    def parse(cls, parser: Parser) -> NssProgramOp:
        """Reads what stands behind the name."""
        return cls.create(regions=[body(parser)])

    def print(self, printer: Printer) -> None:
        """Writes what stands behind the name."""
        print_body(printer, self.body)

    def verify_(self) -> None:
        """Units are started when they are idle, waits name what is under way, and the hardware has
        commands for each task."""
        _check_tokens(self.body.block.ops)
        try:
            owned = False
            for block in self.blocks(without_symbols()):
                _, owned = block_words(block, owned)
        except ValueError as error:
            raise VerifyException(str(error)) from None


def _check_tokens(ops: Iterable[Operation]) -> None:
    under_way: dict[str, SSAValue] = {}
    for op in ops:
        if isinstance(op, StartOp):
            if op.unit in under_way:
                raise VerifyException(f"{op.unit} is started, and nothing has waited for its end")
            under_way[op.unit] = op.token
        elif isinstance(op, WaitOp):
            for token in op.tokens:
                unit = token.owner.unit if isinstance(token.owner, StartOp) else ""
                if under_way.pop(unit, None) is not token:
                    raise VerifyException(f"waits for {unit}, which has ended")
            for idle in op.idle:
                if idle.data in under_way:
                    raise VerifyException(f"{idle.data} is waited for as idle, and is not")
        elif not isinstance(op, BlockOp | NextOp):
            raise VerifyException(f"{op.name} is nothing that the NSS does")


def _blocks(ops: Iterable[Operation], symbols: Symbols) -> Iterator[CommandBlock]:
    block = CommandBlock()
    starts: list[StartOp] = []
    ended = False
    for op in ops:
        if isinstance(op, BlockOp):
            if block.tasks or block.place is not None:
                yield block
            kept = None if op.kept is None else symbols.byte(op.kept.data)
            block = CommandBlock(place=symbols.byte(op.place.data), kept=kept)
            ended = False
        elif ended:
            raise ValueError("commands stand behind the end of a block")
        elif isinstance(op, StartOp):
            starts.append(op)
        elif isinstance(op, WaitOp):
            block.tasks.append(_task(starts, op, symbols))
            starts = []
        elif isinstance(op, NextOp):
            block.follows, ended = symbols.byte(op.place.data), True
        if starts and isinstance(op, NextOp):
            raise ValueError("a block ends without a wait behind its starts")
    if starts:
        raise ValueError("no wait ends the last task")
    yield block


def _task(starts: Sequence[StartOp], wait: WaitOp, symbols: Symbols) -> NssTask:
    """The task of some starts and the wait behind them. Raises ValueError."""
    found: dict[str, Any] = {"ndls": ()}
    for op in starts:
        for name, value in _start_fields(op, symbols).items():
            if name == "ndls":
                found["ndls"] += value
            elif name == "pad_value" and found.get(name, value) != value:
                raise ValueError("both channels of a task pad with one value")
            else:
                found[name] = value
    chosen = {op.unit: op for op in starts}
    if len(chosen) != len(starts):
        raise ValueError("a task starts a unit twice")
    waited = wait.units
    slices = [chosen.get(unit) for unit in ("SLC0", "SLC1")]
    places = [symbols.byte(op.place.data) if isinstance(op, SliceStartOp) else 0 for op in slices]
    return NssTask(
        **found,
        slc_start=("SLC0" in chosen, "SLC1" in chosen),
        slc_cfg_addr=(places[0], places[1]),
        slc_wait=("SLC0" in waited, "SLC1" in waited),
        dma_xr_wait="XR" in waited,
        dma_xw_wait="XW" in waited,
        css_wait="CSS" in waited,
        cdma_wait="CDMA" in waited,
        css_wait_mode=0 if wait.mode is None else wait.mode.value.data,
    )


def _start_fields(op: StartOp, symbols: Symbols) -> dict[str, Any]:
    if isinstance(op, DmaOp):
        channel = op.unit.lower()
        return {
            "ndls": op.ndls(symbols),
            f"dma_{channel}_start": True,
            f"dma_{channel}_attr": op.field("attr", 0),
            f"dma_mtu_{channel}": op.field("mtu", 0),
            "pad_value": op.field("pad_value", 0),
        }
    if isinstance(op, CssStartOp):
        mailboxes = op.field("mailboxes", (0, 0, 0, 0))
        if len(mailboxes) != 4:
            raise ValueError("the core has four mailboxes")
        return {
            "css_start": True,
            "css_start_mode": op.field("mode", 0),
            "css_start_addr": op.field("address", 0),
            "css_mbx": mailboxes,
        }
    if isinstance(op, CdmaStartOp):
        return {
            "cdma_start": True,
            "cdma_src_addr": op.field("source", 0),
            "cdma_dst_addr": op.field("target", 0),
            "cdma_len": op.field("size", 0),
        }
    return {}


@dataclass
class TaskOps:
    """Makes operations of tasks; tokens are remembered until they are waited for."""

    under_way: dict[str, SSAValue] = field(default_factory=dict)

    def of(self, task: NssTask, symbol_of: dict[str, str] | None = None) -> Iterator[HwOp]:
        """A task's starts and its wait; `symbol_of` names what agents' addresses count from."""
        ndls = {ndl.agent: ndl for ndl in task.ndls}
        for op in _starts(task, ndls, symbol_of or {}):
            yield op
            self.under_way[op.unit] = op.token
        waits = dict(zip(UNITS, _waits(task), strict=True))
        waited = [unit for unit, is_waited in waits.items() if is_waited]
        idle = [unit for unit in waited if unit not in self.under_way]
        tokens = [self.under_way.pop(unit) for unit in waited if unit in self.under_way]
        yield WaitOp.made(tokens, idle, task.css_wait_mode)


def _waits(task: NssTask) -> tuple[bool, ...]:
    return (
        task.dma_xr_wait,
        task.dma_xw_wait,
        *task.slc_wait,
        task.css_wait,
        task.cdma_wait,
    )


def _starts(task: NssTask, ndls: dict[str, Ndl], names: dict[str, str]) -> Iterator[StartOp]:
    """In the order of the words."""
    for number in (0, 1):
        if task.slc_start[number]:
            yield SliceStartOp.made(number, Address("lram", task.slc_cfg_addr[number]))
    if task.dma_xr_start:
        loops = [Loops(ndls[agent], names.get(agent, "")) for agent in DmaInOp.SIDES]
        fields = {"mtu": task.dma_mtu_xr, "attr": task.dma_xr_attr, "pad_value": task.pad_value}
        yield DmaInOp.made(loops, fields)
    if task.dma_xw_start:
        loops = [Loops(ndls[agent], names.get(agent, "")) for agent in DmaOutOp.SIDES]
        fields = {"mtu": task.dma_mtu_xw, "attr": task.dma_xw_attr, "pad_value": task.pad_value}
        yield DmaOutOp.made(loops, fields)
    if task.cdma_start:
        yield CdmaStartOp.made(
            source=task.cdma_src_addr, target=task.cdma_dst_addr, size=task.cdma_len
        )
    if task.css_start:
        yield CssStartOp.made(
            mode=task.css_start_mode, address=task.css_start_addr, mailboxes=task.css_mbx
        )
