"""What expressions of MSL gave on Apple GPUs, as published: `results.toml` as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...facts import CONFIDENCES, FactFile, SpecError, read_package_file, table, text

_ALWAYS = {"x", "y", "code", "given", "published", "fast_math", "source", "confidence"}
_DIFFERING = {"emulated", "because"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """What `code` made of `x`, in bits.

    Attributes:
        x, y: the types of what is given and of the result, in MSL.
        source: who published it, in words.
        emulated: what Assay gives, where that is something else; `because` says why.
    """

    name: str
    x: str
    y: str
    code: str
    given: tuple[int, ...]
    published: tuple[int, ...]
    fast_math: bool
    source: str
    confidence: str
    emulated: tuple[int, ...] | None = None
    because: str = ""


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """All of them. Raises SpecError when the data file is wrong."""
    return results_of(read_package_file("assay.hw.apple.facts", "results.toml"))


def results_of(file: FactFile) -> tuple[PublishedResult, ...]:
    """The results that `file` states. Raises SpecError."""
    entries = table(file.name, "results", file.tables.get("results"))
    return tuple(_result(file, name, entry) for name, entry in entries.items())


def _result(file: FactFile, name: str, value: object) -> PublishedResult:
    key = f"results.{name}"
    entry = table(file.name, key, value)
    expected = _ALWAYS | (_DIFFERING if _DIFFERING & entry.keys() else set())
    if expected != entry.keys():
        wrong = ", ".join(sorted(expected ^ entry.keys()))
        raise SpecError(f"{file.name}: [{key}] lacks or should not have {wrong}")
    given, published = (_bits(file, key, entry, part) for part in ("given", "published"))
    emulated = _bits(file, key, entry, "emulated") if "emulated" in entry else None
    if len(given) != len(published) or (emulated is not None and len(emulated) != len(given)):
        raise SpecError(f"{file.name}: [{key}] has lists of several lengths")
    source = text(file.name, f"{key}.source", entry["source"])
    if source not in file.sources:
        raise SpecError(f"{file.name}: {key}.source is {source!r}, which [sources] lacks")
    confidence = text(file.name, f"{key}.confidence", entry["confidence"])
    if confidence not in CONFIDENCES:
        raise SpecError(f"{file.name}: {key}.confidence is one of {', '.join(CONFIDENCES)}")
    words = {part: text(file.name, f"{key}.{part}", entry[part]) for part in ("x", "y", "code")}
    return PublishedResult(
        name=name,
        **words,
        given=given,
        published=published,
        fast_math=bool(entry["fast_math"]),
        source=file.sources[source],
        confidence=confidence,
        emulated=emulated,
        because=text(file.name, f"{key}.because", entry["because"]) if emulated else "",
    )


def _bits(file: FactFile, key: str, entry: Mapping[str, object], part: str) -> tuple[int, ...]:
    found = entry[part]
    if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
        raise SpecError(f"{file.name}: {key}.{part} must be a list of whole numbers")
    return tuple(found)
