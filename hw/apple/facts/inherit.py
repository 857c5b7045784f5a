"""Tables of a data file that build on each other: `inherits` names the one to start from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from ...facts import FactFile, SpecError, measure, table, text

T = TypeVar("T")


def inherited(file: FactFile, name: str) -> dict[str, object]:
    """The table `name` of `file` laid over those it inherits from. Raises SpecError."""
    return _inherited(file, name, ())


def _inherited(file: FactFile, name: str, above: tuple[str, ...]) -> dict[str, object]:
    if name not in file.tables:
        raise SpecError(f"{file.name}: there is no table [{name}], only {', '.join(file.tables)}")
    if name in above:
        raise SpecError(f"{file.name}: [{name}] inherits from itself")
    own = dict(table(file.name, name, file.tables[name]))
    base = own.pop("inherits", None)
    if base is None:
        return own
    word = text(file.name, f"{name}.inherits", base)
    return _over(_inherited(file, word, (*above, name)), own)


def _over(base: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """`own` laid over `base`, table by table; numbers are replaced whole."""
    result = dict(base)
    for key, value in own.items():
        before = result.get(key)
        if isinstance(value, dict) and isinstance(before, dict) and "value" not in value:
            result[key] = _over(before, value)
        else:
            result[key] = value
    return result


def numbers(file: FactFile, key: str, entries: Mapping[str, object]) -> dict[str, float]:
    """The numbers of a table that holds nothing else. Raises SpecError."""
    return {name: measure(file, f"{key}.{name}", entries[name]).value for name in entries}


def steps(file: FactFile, key: str, entries: Mapping[str, object]) -> tuple[tuple[int, float], ...]:
    """A curve whose keys end in where each point stands ("bytes_4096"), in ascending order."""
    points = []
    for name, value in numbers(file, key, entries).items():
        at = name.rpartition("_")[2]
        if not at.isdigit():
            raise SpecError(f"{file.name}: {key}.{name} must end in a whole number")
        points.append((int(at), value))
    return tuple(sorted(points))


def filled(
    file: FactFile,
    key: str,
    kind: Callable[..., T],
    names: tuple[str, ...],
    found: dict[str, float],
) -> T:
    """`kind` made of exactly the numbers `names`. Raises SpecError for too few or too many."""
    if missing := sorted(set(names) - found.keys()):
        raise SpecError(f"{file.name}: [{key}] lacks {', '.join(missing)}")
    if unknown := sorted(found.keys() - set(names)):
        raise SpecError(f"{file.name}: [{key}] has {', '.join(unknown)}, which nothing reads")
    return kind(**found)
