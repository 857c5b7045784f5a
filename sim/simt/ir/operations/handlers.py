"""A pass' own table: what it does for each operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

from .operation import Operation

H = TypeVar("H")


class Handlers(dict[Operation, H]):
    """Handlers by operation, for the operations that `covers` says.

    `missing` is empty if the table is complete, which a test sees to for all tables there are.
    """

    all: ClassVar[list[Handlers[Any]]] = []

    def __init__(self, what: str, covers: Callable[[Operation], bool]) -> None:
        super().__init__()
        self.what = what
        self.covers = covers
        Handlers.all.append(self)

    def __missing__(self, operation: Operation) -> H:
        raise LookupError(f"{self.what} knows nothing of '{operation}'")

    def of(self, *operations: Operation) -> Callable[[H], H]:
        """Decorates the handler of some operations."""

        def take(handler: H) -> H:
            self.put(operations, handler)
            return handler

        return take

    def put(self, operations: Iterable[Operation], handler: H) -> None:
        """One handler for several operations."""
        for operation in operations:
            if operation in self:
                raise ValueError(f"{self.what} has two handlers of '{operation}'")
            if not self.covers(operation):
                raise ValueError(f"{self.what} has no use for a handler of '{operation}'")
            self[operation] = handler

    def missing(self, operations: Iterable[Operation]) -> list[Operation]:
        """Those of `operations` that should have a handler and have none."""
        return [each for each in operations if self.covers(each) and each not in self]
