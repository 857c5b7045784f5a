"""Words as text, one line each: address, word, and what it says; and the same as JSON values."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..facts.registers import WORD_BYTES, Field, registers, spaces
from .decode.memory import TAGS
from .decode.slice import descriptor_lists, raw_tasks
from .decode.stream import Command, RawDescriptor, Read, read_commands
from .encode.nss import UNITS, WAIT_CDMA, WAIT_CSS
from .errors import DecodeError
from .stream import SUB_OPERATIONS

_SLICE_BITS = ("dr", "wr", "br", "qw", "act", "ce0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One word at an LRAM byte address, what it is, and its fields (only those that are not 0)."""

    address: int
    word: int
    what: str
    depth: int = 0
    fields: dict[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """For people."""
        values = " ".join(f"{name}={_number(value)}" for name, value in self.fields.items())
        shown = f"{'  ' * self.depth}{self.what} {values}".rstrip()
        return f"{self.address:#07x}: {self.word:08x}  {shown}"

    def json(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "address": self.address,
            "word": self.word,
            "what": self.what,
            "fields": dict(self.fields),
        }


def disassemble(read: Read, address: int, kind: str) -> list[Line]:
    """All words of the program (`kind` slice or nss) at an LRAM address, descriptors included.

    Raises DecodeError.
    """
    commands = read_commands(read, address)
    lines = list(command_lines(read, commands, kind))
    if kind == "slice":
        for task in raw_tasks(commands):
            for agent, descriptors in descriptor_lists(read, task.image).items():
                lines += descriptor_lines(read, agent, descriptors)
    return lines


def command_lines(read: Read, commands: Iterable[Command], kind: str) -> Iterator[Line]:
    """The lines of commands, their data words below them."""
    for command in commands:
        word = read(command.address)
        if command.kind == "CFG":
            yield Line(address=command.address, word=word, what=_header(command, kind))
            yield from _data_lines(command, kind)
        elif command.kind == "SYN":
            yield Line(address=command.address, word=word, what=_wait(command, kind))
        else:
            what = f"NXT go on at {command.target:#07x}"
            yield Line(address=command.address, word=word, what=what)


def descriptor_lines(
    read: Read, agent: str, descriptors: Sequence[RawDescriptor]
) -> Iterator[Line]:
    """The lines of an agent's descriptors."""
    for index, raw in enumerate(descriptors):
        last = ", last" if index + 1 == len(descriptors) else ""
        yield Line(
            address=raw.address,
            word=read(raw.address),
            what=f"{agent} descriptor from {raw.start:#08x}, {len(raw.dims)} loops{last}",
        )
        for number, dim in enumerate(raw.dims):
            at = raw.address + WORD_BYTES * (1 + 2 * number)
            tag = f" tag {TAGS[dim.code]}" if TAGS.get(dim.code) else ""
            yield Line(
                address=at, word=read(at), what=f"loop {number}: {dim.count} steps{tag}", depth=1
            )
            pad = f", pad {dim.pad}" if dim.pad else ""
            yield Line(
                address=at + WORD_BYTES,
                word=read(at + WORD_BYTES),
                what=f"moves {dim.delta:+d}{pad}",
                depth=1,
            )


def register_fields(address: int, kind: str) -> tuple[Field, ...]:
    """The fields of the register at an address of a slice's or the NPU's command stream."""
    if kind == "slice":
        return registers("slice").at(address)
    for name, space in spaces().items():
        base = space.views.get("stream")
        if base is not None and base <= address < base + space.size:
            return _at(name, address - base)
    return ()


def _at(space: str, address: int) -> tuple[Field, ...]:
    """The fields there; the space `nss` holds the slices' own registers, of which two are known."""
    fields = registers(space).at(address)
    if fields or space != "nss":
        return fields
    for base in (spaces()["slice"].views["slice0"], spaces()["slice"].views["slice1"]):
        if address == base:
            return registers("slice").at(0)
    return ()


def _header(command: Command, kind: str) -> str:
    last = ", last" if command.last else ""
    count = len(command.values)
    words = "word" if count == 1 else "words"
    owner = _unit(command.register, kind)
    return f"CFG {count} {words} from {command.register:#06x}{owner}{last}"


def _unit(address: int, kind: str) -> str:
    """Which slice a write of the NPU's stream is for."""
    if kind == "nss":
        for name in ("slice0", "slice1"):
            if address == spaces()["slice"].views[name]:
                return f" of {name}"
    return ""


def _data_lines(command: Command, kind: str) -> Iterator[Line]:
    for index, value in enumerate(command.values):
        address = command.register + WORD_BYTES * index
        fields = register_fields(address, kind)
        shown = {f.name.rsplit(".", 1)[1]: f.get(value) for f in fields if f.get(value)}
        owner = fields[0].name.rsplit(".", 1)[0] if fields else "unknown register"
        yield Line(
            address=command.address + WORD_BYTES * (1 + index),
            word=value,
            what=f"{address:#06x} {owner}",
            depth=1,
            fields=shown,
        )


def _wait(command: Command, kind: str) -> str:
    last = ", last" if command.last else ""
    names = _waited(command.mask, kind)
    if command.sub_operation >= len(SUB_OPERATIONS):
        raise DecodeError(command.address, f"SYN has no sub-operation {command.sub_operation}")
    how = SUB_OPERATIONS[command.sub_operation]
    return f"SYN {how}: {' '.join(names) or 'nothing'}{last}"


def _waited(mask: int, kind: str) -> list[str]:
    if kind == "slice":
        known = {name: registers("slice").field(f"START.{name}").low for name in _SLICE_BITS}
    else:
        known = {name: registers("nss").field(f"NSS.START.{name}").low for name in UNITS}
        known |= {"css": WAIT_CSS, "cdma": WAIT_CDMA}
    named = [name for name, bit in known.items() if mask >> bit & 1]
    rest = mask & ~sum(1 << bit for bit in known.values())
    return [*named, *([f"{rest:#x}"] if rest else [])]


def _number(value: int) -> str:
    return str(value) if value < 1024 else f"{value:#x}"
