"""What a library of kernels offers, whether it was compiled here or by Apple's compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from .kernel_function import KernelFunction
from .rewrite.function_constants import ConstantValue, FunctionConstant


class KernelLibrary(Protocol):
    """Kernels by name; `Library` and `AirLibrary` are such."""

    @property
    def file_name(self) -> str:
        """What messages call it."""

    @property
    def constants(self) -> tuple[FunctionConstant, ...]:
        """Its function constants."""

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in their order."""

    @property
    def visible_names(self) -> tuple[str, ...]:
        """Names of the visible functions."""

    def constants_of(self, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants that a kernel may depend on."""

    def places(self) -> Mapping[str, tuple[str, int]]:
        """File and line of each kernel."""

    def sources(self) -> Mapping[str, str]:
        """Texts that its kernels' places are in, by file name."""

    def lines_of(self, file: str) -> frozenset[int]:
        """Lines of a file of which the compiler saw something; none if that is not known."""

    def prepare(self, names: Iterable[str]) -> None:
        """Make ready what will be asked for."""

    def function(
        self,
        name: str,
        constants: Mapping[int | str, ConstantValue] | None = None,
        *,
        linked: Sequence[str] = (),
    ) -> KernelFunction:
        """The kernel `name` with values of function constants. Raises CompileError."""
