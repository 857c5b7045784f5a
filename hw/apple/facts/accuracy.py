"""How far off predicted times were, by kind of kernel, from `accuracy.toml`.

The validation benchmark writes that file from the published measurements that count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...facts import SpecError, fact, measure, read_package_file, table

_FILE = "accuracy.toml"
_WHAT = {
    "matrix": "matrix products and attention",
    "memory": "streams and reductions",
    "arithmetic": "times of instructions",
    "shared": "kernels of threadgroup memory, atomics, branches and transforms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelError:
    """Errors of predictions against measurements of one kind, relative.

    Attributes:
        kind: which kernels: "matrix", "memory", "arithmetic" or "shared".
        what: the same for people.
        count: how many published measurements were compared.
        median: half of the predictions were closer.
        p90: nine in ten were closer.
    """

    kind: str
    what: str
    count: int
    median: float
    p90: float


@cache
def model_error(kind: str) -> ModelError:
    """That of a kind of kernel. Raises SpecError if the data file is wrong or has no such kind."""
    file = read_package_file("assay.hw.apple.facts", _FILE)
    kinds = table(file.name, "kinds", file.tables.get("kinds"))
    where = f"kinds.{kind}"
    if kind not in kinds or kind not in _WHAT:
        raise SpecError(f"{file.name}: [{where}] is missing; there are {', '.join(kinds)}")
    entry = table(file.name, where, kinds[kind])
    return ModelError(
        kind=kind,
        what=_WHAT[kind],
        count=fact(file, f"{where}.count", entry.get("count")).value,
        median=measure(file, f"{where}.median", entry.get("median")).value,
        p90=measure(file, f"{where}.p90", entry.get("p90")).value,
    )
