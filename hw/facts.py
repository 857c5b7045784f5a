"""Numbers with a unit, a source and a confidence, read from TOML files.

A number may also say from which published measurements it was taken: `rows` has their numbers in
the validation's table. Errors name the file and the key. Knows nothing of what the numbers mean.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from math import inf

CONFIDENCES = ("high", "medium", "low")


class SpecError(ValueError):
    """A data file of a machine is wrong; the message names file, key and what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One number: how much, of what, who says so (a key of the file's sources), how surely.

    `rows` are the published measurements that it was read off or fitted to; empty where its source
    says it elsewhere, None where the file does not tell.
    """

    value: int
    unit: str
    source: str
    confidence: str
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A quantity that need not be whole; otherwise like `Fact`."""

    value: float
    unit: str
    source: str
    confidence: str
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFile:
    """A parsed data file: its name for messages, who the sources are, and its tables."""

    name: str
    sources: Mapping[str, str]
    tables: Mapping[str, object]


def read_package_file(package: str, name: str) -> FactFile:
    """The data file `name` of a package. Raises SpecError when it cannot be read or parsed."""
    try:
        text = (resources.files(package) / name).read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(
            f"{name}: cannot be read ({error}); is the installation complete?"
        ) from error
    return parse(name, text)


def parse(name: str, text: str) -> FactFile:
    """`text` as a data file called `name` in messages. Raises SpecError."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{name}: is not TOML: {error}") from error
    sources = table(name, "sources", tables.pop("sources", None))
    for key, value in sources.items():
        if not isinstance(value, str) or not value:
            raise SpecError(f"{name}: sources.{key} must say who the source is, in words")
    return FactFile(name=name, sources={k: str(v) for k, v in sources.items()}, tables=tables)


def table(file_name: str, key: str, value: object) -> dict[str, object]:
    """`value` when it is a TOML table. Raises SpecError."""
    if not isinstance(value, dict):
        raise SpecError(f"{file_name}: [{key}] must be a table, and is {_kind(value)}")
    return value


def text(file_name: str, key: str, value: object) -> str:
    """`value` when it is non-empty text. Raises SpecError."""
    if not isinstance(value, str) or not value:
        raise SpecError(f"{file_name}: {key} must be non-empty text, and is {_kind(value)}")
    return value


def fact(file: FactFile, key: str, value: object) -> Fact:
    """`value`, found at `key`, when it is a whole number with unit, source and confidence."""
    entry = _sourced(file, key, value)
    number = entry["value"]
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise SpecError(f"{file.name}: {key}.value must be a whole number, and is {number!r}")
    return Fact(value=number, rows=_rows(file, key, entry), **_words(entry))


def measure(file: FactFile, key: str, value: object) -> Measure:
    """`value`, found at `key`, when it is a number with unit, source and confidence."""
    entry = _sourced(file, key, value)
    number = entry["value"]
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number < inf:
        raise SpecError(f"{file.name}: {key}.value must be a number from 0 on, and is {number!r}")
    return Measure(value=float(number), rows=_rows(file, key, entry), **_words(entry))


def _sourced(file: FactFile, key: str, value: object) -> dict[str, object]:
    """The entry of a number whose unit, source and confidence are right."""
    entry = table(file.name, key, value)
    expected = {"value", "unit", "source", "confidence"}
    if missing := sorted(expected - entry.keys()):
        raise SpecError(f"{file.name}: [{key}] lacks {', '.join(missing)}")
    allowed = expected | {"rows"}
    if unknown := sorted(entry.keys() - allowed):
        raise SpecError(
            f"{file.name}: [{key}] has {', '.join(unknown)}; "
            f"there are only {', '.join(sorted(allowed))}"
        )
    text(file.name, f"{key}.unit", entry["unit"])
    source = text(file.name, f"{key}.source", entry["source"])
    if source not in file.sources:
        raise SpecError(
            f"{file.name}: {key}.source is {source!r}; "
            f"[sources] has {', '.join(sorted(file.sources))}"
        )
    confidence = text(file.name, f"{key}.confidence", entry["confidence"])
    if confidence not in CONFIDENCES:
        raise SpecError(
            f"{file.name}: {key}.confidence is {confidence!r}; "
            f"it is one of {', '.join(CONFIDENCES)}"
        )
    return entry


def _rows(file: FactFile, key: str, entry: Mapping[str, object]) -> tuple[int, ...] | None:
    """The numbers of published measurements at `entry`, None where there is no such list."""
    if "rows" not in entry:
        return None
    found = entry["rows"]
    if not isinstance(found, list) or not all(type(row) is int and row >= 0 for row in found):
        raise SpecError(f"{file.name}: {key}.rows must be a list of row numbers, and is {found!r}")
    return tuple(found)


def _words(entry: Mapping[str, object]) -> dict[str, str]:
    return {name: str(entry[name]) for name in ("unit", "source", "confidence")}


def _kind(value: object) -> str:
    return "missing" if value is None else repr(value)
