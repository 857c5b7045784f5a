"""Operations and number formats of ALU and activation unit with their codes, from modes.toml.

Knows nothing of words: which field takes which code is the encoder's and decoder's business.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...facts import FactFile, SpecError, read_package_file, table, text
from .registers import provenance

GROUPS = (
    "alu_op0",
    "alu_op1",
    "act_mode",
    "act_round_mode",
    "act_sum_bits",
    "weight_format",
    "number_format",
    "lanes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One row: its name, what it does, and its codes by name (an absent one is 0)."""

    name: str
    what: str
    codes: Mapping[str, object]

    def code(self, key: str = "code") -> int:
        """The number `key`; 0 when the row does not name it."""
        value = self.codes.get(key, 0)
        if not isinstance(value, int):
            raise SpecError(f"modes.toml: {self.name}.{key} must be a whole number: {value!r}")
        return value

    def word(self, key: str) -> str:
        """The text `key`. Raises SpecError when the row does not have it."""
        return text("modes.toml", f"{self.name}.{key}", self.codes.get(key))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeGroup:
    """All rows of one kind, with who says so (in words) and how surely."""

    name: str
    source: str
    confidence: str
    modes: Mapping[str, Mode]

    def __contains__(self, name: str) -> bool:
        return name in self.modes

    def __getitem__(self, name: str) -> Mode:
        return self.modes[name]

    def named(self, **codes: int) -> str | None:
        """The first row with these codes."""
        for mode in self.modes.values():
            if all(mode.code(key) == value for key, value in codes.items()):
                return mode.name
        return None


@cache
def modes(group: str) -> ModeGroup:
    """One of GROUPS. Raises SpecError."""
    return group_of(read_package_file("assay.hw.torq.facts", "modes.toml"), group)


def group_of(file: FactFile, group: str) -> ModeGroup:
    """A group of modes of a parsed file. Raises SpecError."""
    entry = dict(table(file.name, group, file.tables.get(group)))
    source, confidence = provenance(file, group, entry)
    rows = table(file.name, f"{group}.modes", entry.get("modes"))
    return ModeGroup(
        name=group,
        source=source,
        confidence=confidence,
        modes={name: _mode(file, group, name, row) for name, row in rows.items()},
    )


def _mode(file: FactFile, group: str, name: str, value: object) -> Mode:
    codes = dict(table(file.name, f"{group}.modes.{name}", value))
    what = text(file.name, f"{group}.modes.{name}.what", codes.pop("what", None))
    return Mode(name=name, what=what, codes=codes)
