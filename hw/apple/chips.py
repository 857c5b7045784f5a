"""Apple chips by short name: what Metal calls the GPU, its family, its cores."""

from dataclasses import dataclass
from functools import cache

from .facts import FactFile, SpecError, fact, read_package_file, table, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One chip: `name` as MTLDevice.name says it, `family` N of MTLGPUFamilyAppleN."""

    key: str
    name: str
    family: int
    cores: int


@cache
def chips() -> dict[str, Chip]:
    """All chips by key ("m1", "m4-max"). Raises SpecError when the data file is wrong."""
    return chips_of(read_package_file("chips.toml"))


def chip(key: str) -> Chip:
    """The chip called `key`. Raises SpecError that lists the chips there are."""
    known = chips()
    if key not in known:
        raise SpecError(f"chip {key!r} is not known; there are {', '.join(known)}")
    return known[key]


def chips_of(file: FactFile) -> dict[str, Chip]:
    """The chips that `file` states. Raises SpecError."""
    entries = table(file.name, "chips", file.tables.get("chips"))
    return {key: _chip(file, key, value) for key, value in entries.items()}


def _chip(file: FactFile, key: str, value: object) -> Chip:
    entry = table(file.name, f"chips.{key}", value)
    if unknown := sorted(entry.keys() - {"name", "family", "cores"}):
        raise SpecError(f"{file.name}: [chips.{key}] has {', '.join(unknown)}, which nothing reads")
    return Chip(
        key=key,
        name=text(file.name, f"chips.{key}.name", entry.get("name")),
        family=fact(file, f"chips.{key}.family", entry.get("family")).value,
        cores=fact(file, f"chips.{key}.cores", entry.get("cores")).value,
    )
