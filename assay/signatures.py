"""Function signatures, read from the declaration text that IREE keeps in a module."""

import re
from dataclasses import dataclass

_DECLARATION = re.compile(
    r"func\s+@(?P<name>[^(]+)\((?P<arguments>.*)\)\s*->\s*\((?P<results>.*)\)"
)


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
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of a tensor, None where they are known only at run time."""
        sizes = self.type[len("tensor<") : -1].split("x")[:-1] if self.is_tensor else []
        return tuple(int(size) if size.isdigit() else None for size in sizes)

    @property
    def element(self) -> str:
        """The element type of a tensor, or the type of a scalar."""
        if not self.is_tensor:
            return self.type
        inner = self.type[len("tensor<") : -1]
        while match := re.match(r"(\d+|\?)x", inner):
            inner = inner[match.end() :]
        return inner

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


def parse_declaration(text: str) -> Signature | None:
    """Reads `sync func @main(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)`.

    None when the text is something else: the declaration is a comment to IREE, not a contract.
    """
    match = _DECLARATION.search(text)
    if match is None:
        return None
    return Signature(
        name=match["name"].strip().strip('"'),
        arguments=tuple(_slots(match["arguments"])),
        results=tuple(_slots(match["results"])),
    )


def _slots(text: str) -> list[Slot]:
    slots = []
    for part in _split(text):
        name, separator, kind = part.partition(":")
        if separator:
            kind = kind.split("{", 1)[0].strip()  # attributes such as {iree.abi.output = 0}
            slots.append(Slot(name=name.strip().removeprefix("%"), type=kind))
    return slots


def _split(text: str) -> list[str]:
    """Splits at the commas that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "<({[":
            depth += 1
        elif character in ">)}]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]
