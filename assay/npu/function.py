"""What can be called on an NPU: arrays in, arrays out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..elements import Value
    from ..signatures import Signature


class NpuFunction(ABC):
    """A function that runs on an NPU: an executable, or one of a host program that runs them.

    Arrays need the right number of bytes; type and shape are then taken for what is expected.
    """

    name: str
    """What it is called by."""
    declaration: str = ""
    """As of functions of modules, in IREE's own words; executables keep none."""

    @property
    def own_name(self) -> str:
        """What an executable calls itself, where `name` is its member's in the archive."""
        return self.name

    @property
    @abstractmethod
    def signature(self) -> Signature:
        """What goes in and comes out."""

    @abstractmethod
    def check_inputs(self, arguments: Sequence[Any]) -> None:
        """Raises NpuInputError if arrays do not fit; nothing is loaded for that."""

    @abstractmethod
    def zeros(self) -> list[Value]:
        """Inputs of zeros."""

    @abstractmethod
    def load(self) -> None:
        """Loads what it runs, if that was not done. Raises StatusError."""

    @abstractmethod
    def invoke(self, arguments: Sequence[Any]) -> list[Value]:
        """Runs it; always a list of results. Raises NpuInputError, and StatusError of the NPU."""

    def __call__(self, *arguments: Any) -> Any:
        """Runs it; gives None, one result, or a tuple of results."""
        results = self.invoke(arguments)
        if not results:
            return None
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<assay NPU function {self.signature}>"
