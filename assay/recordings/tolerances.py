"""How far results of a replay may be from those of a recording: a TOML file."""

from __future__ import annotations

import fnmatch
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec


class ToleranceError(Exception):
    """A tolerance file says what none can; the message names the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What counts as right: an element within any of the limits.

    Attributes:
        ulp: representable values apart, of floats; integers must be equal.
        rtol, atol: |here - recorded| <= atol + rtol * |recorded|, of floats.
        any_nan: whether NaN of any bits are right, where all other bits must be equal. With one of
            the other limits they are.
    """

    ulp: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    any_nan: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether every bit must be equal, but perhaps for those of NaN."""
        return not (self.ulp or self.rtol or self.atol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerances:
    """Limits by kernel.

    Attributes:
        default: of kernels that no pattern names.
        kernels: by pattern of names; the first that fits counts.
    """

    default: Limits = field(default_factory=Limits)
    kernels: Mapping[str, Limits] = field(default_factory=dict)

    def of(self, kernel: str) -> Limits:
        """The limits of a kernel."""
        for pattern, limits in self.kernels.items():
            if fnmatch.fnmatchcase(kernel, pattern):
                return limits
        return self.default

    def unused(self, names: Iterable[str]) -> tuple[str, ...]:
        """The patterns that fit none of these kernels."""
        found = tuple(names)
        fits = fnmatch.fnmatchcase
        return tuple(each for each in self.kernels if not any(fits(name, each) for name in found))


def read_tolerances(path: Path) -> Tolerances:
    """The tolerances of a file.

    Raises:
        ToleranceError: for what is no TOML, or no tolerances.
        OSError: if it cannot be read.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = _unknown(data)
        if unknown:
            raise ToleranceError(
                f"{path}: {unknown} is no limit; there are ulp, rtol, atol and any_nan"
            )
        for place, value in _limits(data):
            if not 0 <= value < math.inf:
                raise ToleranceError(f"{path}: {place} = {value}: expected a number of at least 0")
        return msgspec.convert(data, Tolerances)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ToleranceError(f"{path}: {error}") from None


def _unknown(data: dict[str, object]) -> str:
    """A key that is misspelled, with where it stands; "" if there is none."""
    wrong = [name for name in data if name not in ("default", "kernels")]
    for where, table in _tables(data):
        wrong += [f"{where}.{key}" for key in table if key not in Limits.__slots__]
    return wrong[0] if wrong else ""


def _limits(data: dict[str, object]) -> Iterator[tuple[str, int | float]]:
    """All numbers, each with where it stands."""
    for where, table in _tables(data):
        for key, value in table.items():
            if isinstance(value, int | float):
                yield f"{where}.{key}", value


def _tables(data: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """The tables of limits, each with its name."""
    kernels = data.get("kernels", {})
    tables = {"default": data.get("default", {})}
    if isinstance(kernels, dict):
        tables |= {f"kernels.{name}": table for name, table in kernels.items()}
    for where, table in tables.items():
        if isinstance(table, dict):
            yield where, table
