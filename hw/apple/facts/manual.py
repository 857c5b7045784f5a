"""Writes docs/reference/apple-gpus.md from this package's data.

python -m assay.hw.apple.facts.manual > docs/reference/apple-gpus.md
"""

from collections.abc import Mapping

from assay.sim.lanes import LANES

from ...facts import FactFile, Measure, fact, measure, read_package_file, table, text
from .inherit import inherited
from .instructions import instruction_set
from .limits import matrix_layout
from .promises_text import promises_section
from .results_text import results_section

_HEAD = """# Apple GPUs

This page is generated from `hw/apple/*.toml`; a test keeps it current. Confidence: *high* is a
primary document or two independent measurements, *medium* one measurement, *low* inferred or
chosen.
"""


def page() -> str:
    """The whole page as Markdown."""
    parts = (
        _limits,
        _layout,
        _chips,
        _sustained,
        _instructions,
        _memory,
        _overheads,
        promises_section,
        results_section,
    )
    return "\n".join((_HEAD, *(part() for part in parts)))


def _limits() -> str:
    file = read_package_file("assay.hw.apple.facts", "limits.toml")
    rows = ["## Limits of a compute program", "", "| limit | value | source | confidence |"]
    rows.append("|---|---|---|---|")
    names = table(file.name, "limits", file.tables["limits"])
    rows += [_row(file, "limits", name) for name in names]
    return "\n".join(rows) + "\n"


def _row(file: FactFile, key: str, name: str) -> str:
    entry = fact(file, f"{key}.{name}", table(file.name, key, file.tables[key])[name])
    words = name.replace("_", " ")
    source = file.sources[entry.source]
    return f"| {words} | {entry.value} {entry.unit} | {source} | {entry.confidence} |"


def _layout() -> str:
    layout = matrix_layout()
    owner = {layout.position(lane, 0): lane for lane in range(LANES)}
    rows = [
        "## Lanes of an 8x8 simdgroup matrix",
        "",
        "The lane that holds columns c and c+1 of each row. Apple leaves the layout unspecified;",
        "shipping kernels depend on this one (MLX, `steel/gemm/mma.h`).",
        "",
        "| row | c = 0 | c = 2 | c = 4 | c = 6 |",
        "|---|---|---|---|---|",
    ]
    for row in range(8):
        lanes = " | ".join(str(owner[row, column]) for column in range(0, 8, 2))
        rows.append(f"| {row} | {lanes} |")
    return "\n".join(rows) + "\n"


_CHIP_COLUMNS = ("clock", "bandwidth", "sustained", "slc", "l2")


def _chips() -> str:
    file = read_package_file("assay.hw.apple.facts", "chips.toml")
    rows = [
        "## Chips",
        "",
        "`sustained` is the share of the nominal bandwidth that streaming kernels reach. The",
        "letter is the confidence: high, medium or low.",
        "",
        f"| key | name | family | cores | {' | '.join(_CHIP_COLUMNS)} |",
        f"|---|---|---|---|{'---|' * len(_CHIP_COLUMNS)}",
    ]
    for key, value in table(file.name, "chips", file.tables["chips"]).items():
        entry = table(file.name, f"chips.{key}", value)
        rows.append(_chip_row(file, key, key, entry))
        for cores, changed in table(file.name, key, entry.get("variants", {})).items():
            fewer = table(file.name, f"chips.{key}.variants.{cores}", changed)
            rows.append(_chip_row(file, key, f"{key}-{cores}", {**entry, **fewer}))
    return "\n".join(rows) + "\n"


def _chip_row(file: FactFile, base: str, key: str, entry: Mapping[str, object]) -> str:
    where = f"chips.{base}"
    name = text(file.name, f"{where}.name", entry["name"])
    family = fact(file, f"{where}.family", entry["family"]).value
    cores = fact(file, f"{where}.cores", entry["cores"]).value
    found = (measure(file, f"{where}.{column}", entry[column]) for column in _CHIP_COLUMNS)
    cells = " | ".join(_short(one) for one in found)
    return f"| `{key}` | {name} | Apple{family} | {cores} | {cells} |"


def _short(found: Measure) -> str:
    unit = "" if found.unit == "ratio" else f" {found.unit}"
    return f"{found.value:g}{unit} {found.confidence[0].upper()}"


def _sustained() -> str:
    file = read_package_file("assay.hw.apple.facts", "chips.toml")
    rows = [
        "## What DRAM sustains",
        "",
        "Where each chip's share of the nominal bandwidth is from. Rows are those of",
        "[the validation](../how-it-works/timing-validation.md); they do not count in it. A chip",
        "with fewer cores has the same share.",
        "",
        "| chip | sustained | from | rows |",
        "|---|---|---|---|",
    ]
    for key, value in table(file.name, "chips", file.tables["chips"]).items():
        entry = table(file.name, f"chips.{key}", value)
        found = measure(file, f"chips.{key}.sustained", entry["sustained"])
        named = ", ".join(str(row) for row in found.rows or ())
        rows.append(f"| `{key}` | {_short(found)} | {file.sources[found.source]} | {named} |")
    return "\n".join(rows) + "\n"


_FAMILIES = ("apple7", "apple9", "apple10")


def _instructions() -> str:
    rows = [
        "## Instructions",
        "",
        "Cycles for which one instruction of a simdgroup takes its pipe, and cycles until its",
        "result may be used, by GPU family; Apple8 is like Apple7. Sources are in",
        "`hw/apple/facts/instructions.toml`.",
        "",
        f"| class | unit | {' | '.join(_FAMILIES)} |",
        f"|---|---|{'---|' * len(_FAMILIES)}",
    ]
    families = [instruction_set(name).classes for name in _FAMILIES]
    for name, first in families[0].items():
        cells = (f"{known[name].interval:g} / {known[name].latency:g}" for known in families)
        rows.append(f"| `{name}` | {first.unit} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _memory() -> str:
    file = read_package_file("assay.hw.apple.facts", "memory.toml")
    rows = [
        "## Memory of a core",
        "",
        "By GPU family; `hw/apple/facts/memory.toml` says what each number means and its source.",
        "",
        f"| number | {' | '.join(_FAMILIES)} |",
        f"|---|{'---|' * len(_FAMILIES)}",
    ]
    tables = [inherited(file, name) for name in _FAMILIES]
    for name in tables[0]:
        found = (measure(file, name, known[name]) for known in tables)
        rows.append(f"| {name.replace('_', ' ')} | {' | '.join(_short(one) for one in found)} |")
    return "\n".join(rows) + "\n"


def _overheads() -> str:
    file = read_package_file("assay.hw.apple.facts", "overheads.toml")
    rows = [
        "## What it costs to hand work over",
        "",
        "Beside the work itself; `default` counts where a family has no number of its own.",
        "",
        "| what | family | value | source | confidence |",
        "|---|---|---|---|---|",
    ]
    for family, value in table(file.name, "overheads", file.tables["overheads"]).items():
        for name, number in table(file.name, family, value).items():
            found = fact(file, f"overheads.{family}.{name}", number)
            cells = (f"{found.value} {found.unit}", file.sources[found.source], found.confidence)
            rows.append(f"| {name.replace('_', ' ')} | {family} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
