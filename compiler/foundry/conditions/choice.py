"""A kernel with variants: exactly one of them fits whatever the values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import FoundryError
from .predicate import Predicate
from .solve import Witness, find, pairs_not_apart
from .variables import Domain, domain_of

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Variant(Generic[_T]):
    """What is chosen when a condition holds."""

    condition: Predicate
    kernel: _T


class Conditional(Generic[_T]):
    """Chooses among kernels by conditions, such as `batch == 1 and seq > 8`.

    That exactly one condition holds, whatever the values, is proved when it is declared: by z3, for
    all values that `variables` allow.

    Args:
        name: for messages.
        variables: by name an integer type (`uint`), a `range`, `bool`, or a tuple of names.
        variants: pairs of a condition and what is chosen then.

    Raises:
        FoundryError: for conditions that overlap or leave a gap, with values that show it; for a
            condition that cannot hold; for one that cannot be read or decided.
    """

    def __init__(
        self, name: str, variables: Mapping[str, Any], variants: Iterable[tuple[str, _T]]
    ) -> None:
        self.name = name
        self.variables: Mapping[str, Domain] = {
            each: domain_of(declared, f"{name}: {each}") for each, declared in variables.items()
        }
        self.variants = tuple(
            Variant(Predicate.parse(text, self.variables), kernel) for text, kernel in variants
        )
        self._prove()

    def select(self, **values: Any) -> _T:
        """The kernel for these values. Raises FoundryError for values that cannot be."""
        unknown = [name for name in values if name not in self.variables]
        missing = [name for name in self.variables if name not in values]
        if unknown or missing:
            wrong = f"no variable {unknown[0]}" if unknown else f"no value for {missing[0]}"
            known = ", ".join(self.variables)
            raise FoundryError("conditional-value", f"{self.name}: {wrong}; it takes {known}")
        numbers = {
            name: domain.number(values[name], f"{self.name}: {name}")
            for name, domain in self.variables.items()
        }
        return next(v.kernel for v in self.variants if v.condition.holds(numbers))

    def _prove(self) -> None:
        conditions = [variant.condition for variant in self.variants]
        for condition in conditions:
            if find(self.variables, holding=[condition]) is None:
                raise FoundryError(
                    "conditional-never", f"{self.name}: {condition.text!r} never holds"
                )
        for one, other in pairs_not_apart(self.variables, conditions):
            found = find(self.variables, holding=[one, other])
            if found is not None:
                raise FoundryError(
                    "conditional-overlap",
                    f"{self.name}: both {one.text!r} and {other.text!r} hold for "
                    f"{self._shown(found)}",
                )
        found = find(self.variables, failing=conditions)
        if found is not None:
            raise FoundryError(
                "conditional-gap", f"{self.name}: no condition holds for {self._shown(found)}"
            )

    def _shown(self, witness: Witness) -> str:
        parts = [f"{name} = {self.variables[name].shown(n)}" for name, n in witness.items()]
        return ", ".join(parts) or "no variables"
