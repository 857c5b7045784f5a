"""How exact Apple promises functions to be, as typed values from `promises.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from ...facts import SpecError, measure, read_package_file, table

_FILE = "promises.toml"
Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """Promises by function, as the specification spells it; operators are `add`, `divide`...

    Attributes:
        precise: units in the last place that a float may be off, without fast math.
        fast: the same with fast math.
        fast_slope: with fast math, as many units more for each whole |2x|.
        fast_absolute: with fast math, how far off in value, where there are no units.
        fast_domain: with fast math, the largest magnitude of arguments with a promise.
        fast_near_one: with fast math, how far off in value for arguments from 0.5 to 2.
        half: units in the last place of halves.
    """

    precise: Numbers
    fast: Numbers
    fast_slope: Numbers
    fast_absolute: Numbers
    fast_domain: Numbers
    fast_near_one: Numbers
    half: Numbers


@cache
def promises() -> Promises:
    """The promises. Raises SpecError when the data file is wrong."""
    file = read_package_file("assay.hw.apple.facts", _FILE)
    names = [field.name for field in fields(Promises)]
    if set(file.tables) != set(names):
        raise SpecError(f"{file.name}: its tables must be {', '.join(names)}")
    return Promises(
        **{
            name: {
                function: measure(file, f"{name}.{function}", entry).value
                for function, entry in table(file.name, name, file.tables[name]).items()
            }
            for name in names
        }
    )
