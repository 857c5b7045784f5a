"""What modules of any machine share: their functions are attributes and items, by name."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

F = TypeVar("F")


class ByName(Generic[F]):
    """Functions by name.

    Args:
        what: what messages call the module.
        kind: what they call one of its functions.
        functions: the functions by name.
    """

    def __init__(self, what: str, kind: str, functions: dict[str, F]) -> None:
        self._what = what
        self._kind = kind
        self._functions = functions

    @property
    def functions(self) -> Mapping[str, F]:
        """The functions by name."""
        return self._functions

    def __getitem__(self, name: str) -> F:
        try:
            return self._functions[name]
        except KeyError:
            raise KeyError(self._unknown(name)) from None

    def __getattr__(self, name: str) -> F:
        if name.startswith("__") or "_functions" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(self._unknown(name)) from None

    def _unknown(self, name: str) -> str:
        known = ", ".join(self._functions) or "none"
        return f"{self._what} has no {self._kind} {name!r}; it has {known}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]
