"""Apple chips by short name: what Metal calls the GPU, its family, cores, clock and memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache

from assay.sim.names import choices

from ...facts import FactFile, SpecError, fact, measure, read_package_file, table, text

# The numbers of a chip: the unit of each, and what it is multiplied with to be in that of `Chip`.
_NUMBERS = {
    "cores": ("core", 1.0),
    "clock": ("MHz", 1e6),
    "bandwidth": ("GB/s", 1e9),
    "sustained": ("ratio", 1.0),
    "slc": ("MiB", float(1 << 20)),
    "l2": ("KiB", float(1 << 10)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One chip: `name` as MTLDevice.name says it, `family` N of MTLGPUFamilyAppleN.

    Attributes:
        key: the name that people type; `m4-max-32` is the M4 Max with 32 cores.
        timing: key of the chip's tables in the files of instructions, memory and occupancy.
        clock: cycles per second.
        bandwidth: nominal bytes per second of DRAM.
        sustained: share of it that streaming kernels reach.
        slc: bytes of the system level cache.
        l2: bytes of the GPU's second level cache.
    """

    key: str
    name: str
    timing: str
    family: int
    cores: int
    clock: float
    bandwidth: float
    sustained: float
    slc: int
    l2: int


@cache
def chips() -> dict[str, Chip]:
    """All chips by key ("m1", "m4-max"). Raises SpecError when the data file is wrong."""
    return chips_of(read_package_file("assay.hw.apple.facts", "chips.toml"))


def chip(key: str) -> Chip:
    """The chip called `key`. Raises SpecError that lists the chips there are."""
    known = chips()
    if key in known:
        return known[key]
    name, _, cores = str(key).rpartition("-")
    if name in known and cores == str(known[name].cores):
        return known[name]  # all cores, said outright
    raise SpecError(f"chip {key!r} is not known; {choices(key, known)}")


def chips_of(file: FactFile) -> dict[str, Chip]:
    """The chips that `file` states. Raises SpecError."""
    entries = table(file.name, "chips", file.tables.get("chips"))
    return {
        chip.key: chip
        for key, value in entries.items()
        for chip in _with_variants(file, key, value)
    }


def _with_variants(file: FactFile, key: str, value: object) -> Iterator[Chip]:
    entry = table(file.name, f"chips.{key}", value)
    known = {"name", "timing", "family", "variants", *_NUMBERS}
    _refuse_unknown(file, f"chips.{key}", entry, known)
    numbers = {name: _number(file, f"chips.{key}", name, entry.get(name)) for name in _NUMBERS}
    yield _chip(file, key, key, entry, numbers)
    for cores, changed in table(file.name, key, entry.get("variants", {})).items():
        where = f"chips.{key}.variants.{cores}"
        fewer = table(file.name, where, changed)
        _refuse_unknown(file, where, fewer, _NUMBERS.keys())
        other = {name: _number(file, where, name, fewer[name]) for name in fewer}
        if cores != f"{other.get('cores', 0):.0f}" or other["cores"] >= numbers["cores"]:
            raise SpecError(
                f"{file.name}: [{where}] must have cores = {cores}, fewer than the chip's "
                f"{numbers['cores']:.0f}"
            )
        yield _chip(file, key, f"{key}-{cores}", entry, {**numbers, **other})


def _chip(
    file: FactFile,
    base: str,
    key: str,
    entry: Mapping[str, object],
    numbers: Mapping[str, float],
) -> Chip:
    return Chip(
        key=key,
        name=text(file.name, f"chips.{base}.name", entry.get("name")),
        timing=text(file.name, f"chips.{base}.timing", entry.get("timing")),
        family=fact(file, f"chips.{base}.family", entry.get("family")).value,
        cores=int(numbers["cores"]),
        clock=numbers["clock"],
        bandwidth=numbers["bandwidth"],
        sustained=numbers["sustained"],
        slc=int(numbers["slc"]),
        l2=int(numbers["l2"]),
    )


def _number(file: FactFile, where: str, name: str, value: object) -> float:
    key = f"{where}.{name}"
    found = measure(file, key, value)
    unit, scale = _NUMBERS[name]
    if found.unit != unit:
        raise SpecError(f"{file.name}: {key}.unit is {found.unit!r}; it must be {unit!r}")
    if found.value <= 0:
        raise SpecError(f"{file.name}: {key}.value must be more than 0, and is {found.value}")
    if name == "sustained" and found.value > 1:
        raise SpecError(f"{file.name}: {key}.value must be at most 1, and is {found.value}")
    if name == "cores" and found.value % 1:
        raise SpecError(f"{file.name}: {key}.value must be a whole number, and is {found.value}")
    return found.value * scale


def _refuse_unknown(file: FactFile, key: str, entry: Mapping[str, object], known: Set[str]) -> None:
    if unknown := sorted(entry.keys() - known):
        raise SpecError(f"{file.name}: [{key}] has {', '.join(unknown)}, which nothing reads")
