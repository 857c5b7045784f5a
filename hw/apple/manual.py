"""Writes docs/reference/apple-gpus.md from this package's data.

python -m assay.hw.apple.manual > docs/reference/apple-gpus.md
"""

from .facts import FactFile, fact, read_package_file, table, text
from .limits import matrix_layout

_HEAD = """# Apple GPUs

This page is generated from `hw/apple/*.toml`; a test keeps it current. Confidence: *high* is a
primary document or two independent measurements, *medium* one measurement, *low* inferred or
chosen.
"""
_LANES = range(32)


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join((_HEAD, _limits(), _layout(), _chips()))


def _limits() -> str:
    file = read_package_file("limits.toml")
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
    owner = {layout.position(lane, 0): lane for lane in _LANES}
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


def _chips() -> str:
    file = read_package_file("chips.toml")
    rows = ["## Chips", "", "| key | name | family | cores of the largest variant |"]
    rows.append("|---|---|---|---|")
    for key, value in table(file.name, "chips", file.tables["chips"]).items():
        entry = table(file.name, f"chips.{key}", value)
        name = text(file.name, f"chips.{key}.name", entry["name"])
        family = fact(file, f"chips.{key}.family", entry["family"]).value
        cores = fact(file, f"chips.{key}.cores", entry["cores"]).value
        rows.append(f"| `{key}` | {name} | Apple{family} | {cores} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
