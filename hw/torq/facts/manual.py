"""Writes docs/reference/torq.md from this package's data.

python -m assay.hw.torq.facts.manual > docs/reference/torq.md
"""

from collections.abc import Iterable, Sequence

from .hardware import FORM, hardware, names
from .machine import agents, file, limits, memories
from .modes import GROUPS, ModeGroup, modes
from .registers import Block, Field, blocks, spaces
from .registers import file as register_file

_HEAD = """# The Torq NPU

This page is generated from `hw/torq/*.toml`; a test keeps it current. Confidence: *high* is the
vendor's own source or words its encoder emits, *medium* one indirect source, *low* inferred.
How to write, encode and look at programs: [Torq programs](../guides/torq-programs.md).
"""
_COMMANDS = """## Command words

32-bit little-endian words in LRAM, fetched by the configuration agent of the NPU or of a slice.

| command | bits | meaning |
|---|---|---|
| CFG | [15:0] register, [27:16] number of words, [30:28] = 1 | writes the words that follow |
| SYN | [15:0] mask, [27:24] 0 all, 1 any, 2 set, 3 clear, [30:28] = 6 | waits |
| NXT | [23:0] LRAM address, [30:28] = 7 | goes on there |

Bit 31 of a header ends the program. The NPU waits with the bits of NSS.START, and of CSS.IEN_NSS
for the RISC-V core (mbx1) and CDMA; a slice with those of START. A slice task is CFG(512) at 0x200
if it has a table, CFG(14) at 0x080, CFG(31) at 0x004, SYN.

A descriptor of a memory agent is a header ([31] and [29] on the last one of a list, [27:24] number
of loops, [23:0] start address) and two words per loop, innermost first: steps ([31] on the last
loop, [30:28] tag) and what the address moves when the loop steps (signed 24 bits, [31:28] pad),
which is its stride less what the loops inside it have moved. Tags: A 4, J 2, I 1; with stride 2 the
first J 6 and the last I 5.
"""
_MODE_TITLES = {
    "alu_op0": "First ALU operation",
    "alu_op1": "Second ALU operation",
    "act_mode": "Activation modes",
    "act_round_mode": "Rounding of the activation unit",
    "act_sum_bits": "Width of the sum in the activation unit",
    "weight_format": "Weights that are expanded",
    "number_format": "Formats of ALU, activation and weight bus",
    "lanes": "Lanes of integer products",
}


def page() -> str:
    """The whole page as Markdown."""
    parts = [_HEAD, _memories(), _limits(), _profiles(), _agents(), _COMMANDS]
    parts += [_modes(modes(group)) for group in GROUPS]
    parts.append(_views())
    parts += [_block(block) for block in blocks()]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    lines += [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    return lines


def _escaped(cell: object) -> str:
    return str(cell).replace("|", "\\|")


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _memories() -> str:
    rows = [
        (m.name, f"{m.size:#x}", f"{m.host:#010x}", f"{m.cpu:#010x}", m.what)
        for m in memories().values()
    ]
    header = ("memory", "bytes", "host and CDMA see it at", "the RISC-V core", "what")
    return _text("## Memories", "", *_table(header, rows))


def _limits() -> str:
    sources = file().sources
    rows = [
        (name.replace("_", " "), f"{_amount(f.value)} {f.unit}", sources[f.source], f.confidence)
        for name, f in limits().items()
    ]
    header = ("limit", "value", "source", "confidence")
    return _text("## Sizes and widths", "", *_table(header, rows))


def _amount(value: int) -> str:
    return f"{value:#x}" if value >= 1 << 16 else str(value)


def _profiles() -> str:
    rows = []
    for name in names():
        npu = hardware(name)
        dma = f"{float(npu.dma_bytes_per_cycle):g} x {float(npu.dma_factor):g}"
        rows.append((name, npu.hw_id, npu.lram // 1024, npu.slices, npu.css, npu.nss, dma))
    header = ("profile", "hardware id", "LRAM, KiB", "slices", "CSS", "NSS", "DMA, B/cycle")
    return _text(
        "## Profiles", "", *_table(header, rows), "", f"Custom hardware is written `{FORM}`."
    )


def _agents() -> str:
    rows = [(a.name, a.kind, a.path, a.rule) for a in agents().values()]
    header = ("agent", "loops travel in", "path", "what is legal")
    return _text("## Agents", "", *_table(header, rows))


def _modes(group: ModeGroup) -> str:
    keys = sorted({key for mode in group.modes.values() for key in mode.codes})
    rows = [
        (mode.name, *(_cell(mode.codes.get(key, "")) for key in keys), mode.what)
        for mode in group.modes.values()
    ]
    title = _MODE_TITLES[group.name]
    return _text(f"## {title}", "", *_table(("name", *keys, "what"), rows), "", _provenance(group))


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return f"{value:#x}" if isinstance(value, int) and value > 255 else str(value)


def _provenance(entry: ModeGroup | Block) -> str:
    return f"Source: {entry.source}; confidence {entry.confidence}."


def _views() -> str:
    keys = ("host", "cpu", "stream", "slice0", "slice1")
    rows = [
        (space.name, f"{space.size:#x}", *(_view(space.views.get(key)) for key in keys))
        for space in spaces().values()
    ]
    header = ("space", "bytes", "host", "RISC-V core", "NPU stream", "slice 0", "slice 1")
    return _text(
        "## Register spaces",
        "",
        *_table(header, rows),
        "",
        f"Source: {register_file().sources['views']}. A slice's own stream sees its space at 0.",
    )


def _view(address: int | None) -> str:
    return "" if address is None else f"{address:#x}"


def _block(block: Block) -> str:
    words: dict[int, list[Field]] = {}
    for field in block.fields:
        words.setdefault(field.address, []).append(field)
    rows = [
        (f"{address:#05x}", _owner(block, fields), ", ".join(_bits(field) for field in fields))
        for address, fields in words.items()
    ]
    if block.name == "TBL_MEM":
        rows = [(f"{min(words):#05x} + 4 i", "[i], i from 0 to 511", rows[0][2])]
    return _text(
        f"### {block.name}",
        "",
        f"{block.what}. Space `{block.space}`.",
        "",
        *_table(("address", "register", "fields"), rows),
        "",
        _provenance(block),
    )


def _owner(block: Block, fields: list[Field]) -> str:
    return fields[0].name.rsplit(".", 1)[0].removeprefix(block.name).lstrip(".")


def _bits(field: Field) -> str:
    bits = f"{field.high}" if field.high == field.low else f"{field.high}:{field.low}"
    return f"{field.name.rsplit('.', 1)[1]}[{bits}]"


if __name__ == "__main__":
    print(page(), end="")
