"""Registers of the Torq NPU by name: addresses and bit fields, read from registers.toml.

Field names are `BLOCK.field` or `BLOCK.WORD.field`, as in `DE_D_R.w_size`, `NSS.START.xr`,
`DMA_XR.SRC.DIMS[0].DIM_SIZE.n`, `TBL_MEM[5].base`. Knows nothing of what a unit does with them.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...facts import CONFIDENCES, FactFile, SpecError, read_package_file, table, text

WORD_BYTES = 4
_FIELD = re.compile(r"([a-z][a-z0-9_]*)\[(\d+)(?::(\d+))?\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Bits `high` to `low` of the word at `address` (bytes, in the field's register space)."""

    name: str
    address: int
    high: int
    low: int

    @property
    def width(self) -> int:
        """How many bits it has."""
        return self.high - self.low + 1

    @property
    def mask(self) -> int:
        """The largest value it holds."""
        return (1 << self.width) - 1

    def get(self, word: int) -> int:
        """Its value, unsigned, in a register word."""
        return word >> self.low & (1 << self.high - self.low + 1) - 1

    def get_signed(self, word: int) -> int:
        """Its value in a register word, as two's complement."""
        value = self.get(word)
        return value - (1 << self.width) if value >> (self.width - 1) else value

    def put(self, word: int, value: int) -> int:
        """`word` with this field set. Raises ValueError unless value fits, unsigned or signed."""
        width = self.high - self.low + 1
        mask = (1 << width) - 1
        if not -(1 << (width - 1)) <= value <= mask:
            raise ValueError(
                f"{self.name} has {self.width} bits ({self.high}:{self.low} of the word at "
                f"{self.address:#05x}) and cannot hold {value}"
            )
        return word & ~(mask << self.low) | (value & mask) << self.low

    def wrap(self, word: int, value: int) -> int:
        """`word` with this field set to value modulo its size."""
        return word & ~(self.mask << self.low) | (value & self.mask) << self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Registers that belong together, with who says so (in words) and how surely."""

    name: str
    space: str
    what: str
    source: str
    confidence: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A register space: its size in bytes and its address in each view that has it."""

    name: str
    size: int
    views: Mapping[str, int]
    source: str
    confidence: str


class Registers:
    """The fields of one register space, by name and by address."""

    def __init__(self, space: Space, blocks: Sequence[Block]) -> None:
        self.space = space
        self.blocks = tuple(blocks)
        self.fields = {field.name: field for block in blocks for field in block.fields}
        self._at: dict[int, list[Field]] = {}
        for field in self.fields.values():
            self._at.setdefault(field.address, []).append(field)

    def __contains__(self, address: int) -> bool:
        return address in self._at

    def field(self, name: str) -> Field:
        """The field of that name. Raises SpecError, naming the nearest."""
        found = self.fields.get(name)
        if found is None:
            near = ", ".join(difflib.get_close_matches(name, self.fields, n=3)) or "none like it"
            raise SpecError(f"registers.toml: {self.space.name} has no field {name}; near: {near}")
        return found

    def address(self, name: str) -> int:
        """The byte address of the word that holds a field."""
        return self.field(name).address

    def at(self, address: int) -> tuple[Field, ...]:
        """The fields of the word at a byte address; empty where there is no register."""
        return tuple(self._at.get(address, ()))

    def describe(self, address: int, word: int) -> str:
        """A word's non-zero fields as text: `DE_D_R.w_size=66`; for people."""
        shown = [f"{f.name}={f.get(word):#x}" for f in self.at(address) if f.get(word)]
        return " ".join(shown)


class Image:
    """Register words being put together or taken apart: a stretch of one space, zero at first."""

    def __init__(self, registers: Registers, words: Mapping[int, int] | None = None) -> None:
        self.registers = registers
        self.words: dict[int, int] = dict(words or {})

    def __getitem__(self, name: str) -> int:
        field = self.registers.field(name)
        return field.get(self.words.get(field.address, 0))

    def __setitem__(self, name: str, value: int) -> None:
        field = self.registers.field(name)
        self.words[field.address] = field.put(self.words.get(field.address, 0), value)

    def signed(self, name: str) -> int:
        """A field as two's complement."""
        field = self.registers.field(name)
        return field.get_signed(self.words.get(field.address, 0))

    def wrap(self, name: str, value: int) -> None:
        """Sets a field to value modulo its size, where the hardware means just that."""
        field = self.registers.field(name)
        self.words[field.address] = field.wrap(self.words.get(field.address, 0), value)

    def wrap_word(self, name: str, word: int) -> None:
        """Sets the whole word that holds a field."""
        self.words[self.registers.address(name)] = word & 0xFFFFFFFF

    def stretch(self, first: int, count: int) -> tuple[int, ...]:
        """`count` consecutive words from byte address `first`."""
        return tuple(self.words.get(first + WORD_BYTES * i, 0) for i in range(count))


@cache
def file() -> FactFile:
    """The parsed register table. Raises SpecError."""
    return read_package_file("assay.hw.torq.facts", "registers.toml")


@cache
def registers(space: str) -> Registers:
    """The registers of a space: nss, slice, css, cpu or cdma. Raises SpecError."""
    known = spaces()
    if space not in known:
        raise SpecError(f"registers.toml: no space {space!r}; there are {', '.join(known)}")
    return Registers(known[space], [block for block in blocks() if block.space == space])


@cache
def spaces() -> Mapping[str, Space]:
    """Every register space by name."""
    entries = table(file().name, "spaces", file().tables.get("spaces"))
    return {name: _space(file(), name, entry) for name, entry in entries.items()}


@cache
def blocks() -> tuple[Block, ...]:
    """Every block of registers, in the order of the file."""
    return blocks_of(file())


def blocks_of(source: FactFile) -> tuple[Block, ...]:
    """The blocks of a register table. Raises SpecError."""
    entries = table(source.name, "blocks", source.tables.get("blocks"))
    return tuple(_block(source, name, entry) for name, entry in entries.items())


def _space(source: FactFile, name: str, value: object) -> Space:
    key = f"spaces.{name}"
    entry = dict(table(source.name, key, value))
    who, confidence = provenance(source, key, entry)
    numbers = {view: _whole(source, f"{key}.{view}", number) for view, number in entry.items()}
    size = numbers.pop("size", 0)
    return Space(name=name, size=size, views=numbers, source=who, confidence=confidence)


def _block(source: FactFile, name: str, value: object) -> Block:
    key = f"blocks.{name}"
    entry = dict(table(source.name, key, value))
    who, confidence = provenance(source, key, entry)
    words = entry.get("words")
    if not isinstance(words, list) or not words:
        raise SpecError(f"{source.name}: {key}.words must be a list of words")
    fields = tuple(f for word in words for f in _fields(source, key, name, word))
    _refuse_overlaps(source, key, fields)
    return Block(
        name=name,
        space=text(source.name, f"{key}.space", entry.get("space")),
        what=text(source.name, f"{key}.what", entry.get("what")),
        source=who,
        confidence=confidence,
        fields=fields,
    )


def provenance(source: FactFile, key: str, entry: dict[str, object]) -> tuple[str, str]:
    """Takes source and confidence out of an entry. Raises SpecError when either is missing."""
    who = text(source.name, f"{key}.source", entry.pop("source", None))
    if who not in source.sources:
        raise SpecError(
            f"{source.name}: {key}.source is {who!r}; [sources] has {', '.join(source.sources)}"
        )
    confidence = text(source.name, f"{key}.confidence", entry.pop("confidence", None))
    if confidence not in CONFIDENCES:
        raise SpecError(
            f"{source.name}: {key}.confidence is {confidence!r}; "
            f"it is one of {', '.join(CONFIDENCES)}"
        )
    return source.sources[who], confidence


def _fields(source: FactFile, key: str, block: str, value: object) -> Iterator[Field]:
    word = table(source.name, f"{key}.words", value)
    at = _whole(source, f"{key}.words.at", word.get("at"))
    count = _whole(source, f"{key}.words.count", word.get("count", 1))
    declared = text(source.name, f"{key}.words.fields", word.get("fields"))
    name = word.get("name")
    prefix = f"{block}.{name}" if name else block
    for index in range(count):
        owner = f"{prefix}[{index}]" if count > 1 else prefix
        for part in declared.split(", "):
            found = _FIELD.fullmatch(part)
            if found is None:
                raise SpecError(f"{source.name}: {key} at {at:#x}: {part!r} is not name[high:low]")
            high, low = int(found[2]), int(found[3] or found[2])
            if not 31 >= high >= low:
                raise SpecError(f"{source.name}: {key} at {at:#x}: {part!r} is not within 31:0")
            yield Field(
                name=f"{owner}.{found[1]}", address=at + WORD_BYTES * index, high=high, low=low
            )


def _refuse_overlaps(source: FactFile, key: str, fields: tuple[Field, ...]) -> None:
    used: dict[int, int] = {}
    names: set[str] = set()
    for field in fields:
        bits = field.mask << field.low
        if used.get(field.address, 0) & bits or field.name in names:
            raise SpecError(f"{source.name}: {key}: {field.name} is there twice or overlaps")
        used[field.address] = used.get(field.address, 0) | bits
        names.add(field.name)


def _whole(source: FactFile, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SpecError(f"{source.name}: {key} must be a whole number, and is {value!r}")
    return value
