"""Names of a function's operators, each of which there is once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .mlir_operations import named_at


class Names:
    """By location; where operations have none, by kind and place."""

    def __init__(self, operations: Iterable[Any], taken: Iterable[str]) -> None:
        """`taken` are names that are others'."""
        self._last = {named_at(each.location): each for each in operations}
        self._taken = set(taken)
        self._counts: Counter[str] = Counter()

    def of(self, operation: Any, position: int) -> str:
        """The name of an operator; of those that have one in common, the last has it."""
        name = named_at(operation.location)
        if name and self._last.get(name) is operation and name not in self._taken:
            self._taken.add(name)
            return name
        if name:
            return self.free(f"{name}/{_kind(operation)}")
        return self.plain(operation, position)

    def plain(self, operation: Any, position: int) -> str:
        """By kind and place."""
        return self.free(f"{_kind(operation)}_{position}")

    def free(self, name: str) -> str:
        """The name, or with a number behind it, if it is taken."""
        self._counts[name] += 1
        made = name if self._counts[name] == 1 else f"{name}_{self._counts[name]}"
        if made in self._taken:
            return self.free(name)
        self._taken.add(made)
        return made


def _kind(operation: Any) -> str:
    name: str = operation.name
    return name.rpartition(".")[2]
