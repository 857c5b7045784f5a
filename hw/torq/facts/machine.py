"""The NPU's memories, limits, agents and profiles, read from machine.toml and agents.toml."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...facts import Fact, FactFile, SpecError, fact, read_package_file, table, text
from .registers import provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory on the chip: bytes, and where the host and the RISC-V core see it."""

    name: str
    what: str
    size: int
    host: int
    cpu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent: `kind` is software, memory, register or dma; `rule` what is legal, in words."""

    name: str
    kind: str
    path: str
    rule: str


@cache
def file() -> FactFile:
    """The parsed machine file. Raises SpecError."""
    return _read("machine.toml")


@cache
def memories() -> Mapping[str, Memory]:
    """LRAM, ITCM and DTCM of the SL2610."""
    source = file()
    found = {}
    for name, value in table(source.name, "memories", source.tables.get("memories")).items():
        key = f"memories.{name}"
        entry = table(source.name, key, value)
        found[name] = Memory(
            name=name,
            what=text(source.name, f"{key}.what", entry.get("what")),
            size=fact(source, f"{key}.size", entry.get("size")).value,
            host=fact(source, f"{key}.host", entry.get("host")).value,
            cpu=fact(source, f"{key}.cpu", entry.get("cpu")).value,
        )
    return found


@cache
def limits() -> Mapping[str, Fact]:
    """Widths, sizes and counts by name."""
    source = file()
    entries = table(source.name, "limits", source.tables.get("limits"))
    return {name: fact(source, f"limits.{name}", value) for name, value in entries.items()}


def limit(name: str) -> int:
    """One of `limits` by name. Raises SpecError."""
    known = limits()
    if name not in known:
        raise SpecError(f"machine.toml: no limit {name!r}; there are {', '.join(known)}")
    return known[name].value


@cache
def agents() -> Mapping[str, Agent]:
    """Every agent of a command list by name."""
    source = _read("agents.toml")
    entry = dict(table(source.name, "agents", source.tables.get("agents")))
    provenance(source, "agents", entry)
    found = {}
    for name, value in table(source.name, "agents.rows", entry.get("rows")).items():
        row = table(source.name, f"agents.rows.{name}", value)
        path = row.get("path")
        found[name] = Agent(
            name=name,
            kind=text(source.name, f"agents.rows.{name}.kind", row.get("kind")),
            path=path if isinstance(path, str) else "",
            rule=text(source.name, f"agents.rows.{name}.rule", row.get("rule")),
        )
    return found


def _read(name: str) -> FactFile:
    return read_package_file("assay.hw.torq.facts", name)
