"""Function signatures: what goes in and comes out, argument by argument."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.hal.vm import FunctionInfo

_DECLARATION = re.compile(
    r"func\s+@(?P<name>[^(]+)\((?P<arguments>.*)\)\s*->\s*\((?P<results>.*)\)"
)


_SIZES = re.compile(r"tensor<((?:(?:\d+|\?)x)*)")
_SIZE = re.compile(r"(\d+|\?)x")


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One argument or result."""

    name: str
    type: str
    """As IREE writes it: `tensor<4x?xf32>`, `i32`, `!hal.buffer_view`."""

    @property
    def is_tensor(self) -> bool:
        """Whether an array goes here."""
        return self.type.startswith("tensor<")

    @property
    def is_open(self) -> bool:
        """Whether nothing is known of it: the module neither declares it nor looks at its type."""
        return self.type == "ref"

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of a tensor, None where they are known only at run time."""
        return tuple(None if size == "?" else int(size) for size in _SIZE.findall(self._sizes))

    @property
    def element(self) -> str:
        """The element type of a tensor, or the type of a scalar."""
        if not self.is_tensor:
            return self.type
        return self.type[len("tensor<") + len(self._sizes) : -1]

    @property
    def _sizes(self) -> str:
        """The part of a tensor's type that says its shape, `4x?x` of `tensor<4x?xf32>`."""
        match = _SIZES.match(self.type)
        return match[1] if match else ""

    @property
    def text(self) -> str:
        """The type in the notation of `--input`: `4x?xf32`."""
        sizes = ["?" if size is None else str(size) for size in self.shape]
        return "x".join([*sizes, self.element])


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """What a function takes and gives."""

    name: str
    arguments: tuple[Slot, ...]
    results: tuple[Slot, ...]

    def __str__(self) -> str:
        arguments = ", ".join(f"{slot.name}: {slot.type}" for slot in self.arguments)
        results = ", ".join(slot.type for slot in self.results)
        return f"{self.name}({arguments}) -> ({results})"


def signature_of(info: FunctionInfo) -> Signature:
    """The signature of a function as the VM knows it."""
    return Signature(
        name=info.name,
        arguments=_slots("input", info.arguments),
        results=_slots("output", info.results),
    )


def _slots(name: str, types: tuple[str, ...]) -> tuple[Slot, ...]:
    return tuple(Slot(name=f"{name}{n}", type=kind) for n, kind in enumerate(types))
