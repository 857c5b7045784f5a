"""What each class of instruction costs a core, by GPU family, from `instructions.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...facts import FactFile, SpecError, measure, read_package_file, table, text
from .inherit import inherited, numbers, steps

WIDTHS = ("wide", "narrow", "paired")
_COLUMNS = {"unit", "operands", "issue", "interval", "busy", "latency"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionClass:
    """One class of instructions; all times in cycles of the core.

    Attributes:
        unit: kind of work: "fp32", "complex", "memory", ...
        pipe: the partition's pipe that does it.
        issue: issue cycles of the partition that one instruction takes.
        interval: until the pipe takes the next of the same class.
        busy: until the pipe takes one of another class.
        latency: until the result may be used; 0 where other tables say it.
        operands: one of `WIDTHS` if reading a fresh result keeps the pipe longer, else "".
    """

    name: str
    unit: str
    pipe: str
    issue: float
    interval: float
    busy: float
    latency: float
    operands: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionSet:
    """All classes of one GPU family.

    Attributes:
        pipes: the pipes of a partition, in the order in which they are first named.
        turnaround: cycles that a pipe loses when its unit changes, by pipe.
        reuse: by kind of operands, extra issue cycles of an instruction that reads
            a result made 1, 2, ... instructions before.
    """

    classes: Mapping[str, InstructionClass]
    pipes: tuple[str, ...]
    turnaround: Mapping[str, float]
    reuse: Mapping[str, tuple[float, ...]]


@cache
def instruction_set(timing: str) -> InstructionSet:
    """The instructions of the tables called `timing` ("apple7"). Raises SpecError."""
    file = read_package_file("assay.hw.apple.facts", "instructions.toml")
    return instruction_set_of(file, timing)


def instruction_set_of(file: FactFile, timing: str) -> InstructionSet:
    """What `file` states for `timing`. Raises SpecError."""
    tables = inherited(file, timing)
    sections = ("units", "classes", "turnaround", "reuse")
    if unknown := sorted(tables.keys() - set(sections)):
        raise SpecError(f"{file.name}: [{timing}] has {', '.join(unknown)}, which nothing reads")
    units, classes, turnaround, reuse = (
        table(file.name, f"{timing}.{name}", tables.get(name)) for name in sections
    )
    where = f"{timing}.units"
    described = {name: _unit(file, f"{where}.{name}", value) for name, value in units.items()}
    return InstructionSet(
        classes={
            name: _class(file, f"{timing}.classes.{name}", name, value, described)
            for name, value in classes.items()
        },
        pipes=tuple(dict.fromkeys(pipe for pipe, _ in described.values())),
        turnaround=numbers(file, f"{timing}.turnaround", turnaround),
        reuse={name: _reuse(file, f"{timing}.reuse.{name}", reuse.get(name)) for name in WIDTHS},
    )


def _unit(file: FactFile, key: str, value: object) -> tuple[str, float]:
    entry = table(file.name, key, value)
    pipe = text(file.name, f"{key}.pipe", entry.get("pipe"))
    return pipe, measure(file, f"{key}.issue", entry.get("issue")).value


def _reuse(file: FactFile, key: str, value: object) -> tuple[float, ...]:
    return tuple(cycles for _, cycles in steps(file, key, table(file.name, key, value)))


def _class(
    file: FactFile, key: str, name: str, value: object, units: Mapping[str, tuple[str, float]]
) -> InstructionClass:
    entry = table(file.name, key, value)
    if unknown := sorted(entry.keys() - _COLUMNS):
        raise SpecError(f"{file.name}: [{key}] has {', '.join(unknown)}, which nothing reads")
    unit = text(file.name, f"{key}.unit", entry.get("unit"))
    if unit not in units:
        raise SpecError(f"{file.name}: {key}.unit is {unit!r}; there are {', '.join(units)}")
    operands = entry.get("operands", "")
    if operands not in ("", *WIDTHS):
        raise SpecError(f"{file.name}: {key}.operands is {operands!r}, not one of {WIDTHS}")
    interval = measure(file, f"{key}.interval", entry.get("interval")).value
    pipe, issue = units[unit]
    return InstructionClass(
        name=name,
        unit=unit,
        pipe=pipe,
        issue=measure(file, f"{key}.issue", entry["issue"]).value if "issue" in entry else issue,
        interval=interval,
        busy=measure(file, f"{key}.busy", entry["busy"]).value if "busy" in entry else interval,
        latency=(
            measure(file, f"{key}.latency", entry["latency"]).value if "latency" in entry else 0.0
        ),
        operands=str(operands),
    )
