"""Builds the LLVM IR text of one function: names, lines, labels and vector spellings."""

from __future__ import annotations

from collections.abc import Sequence

from ...native.disk_cache import digest
from ..ir.llvm_types import is_float
from ..ir.shape import LANES

# Attributes of functions that take or compute whole vectors.
WIDE = 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'


def vector_of(type: str, count: int = LANES) -> str:
    """`float` -> `<32 x float>`."""
    return f"<{count} x {type}>"


def literal(type: str, values: Sequence[int]) -> str:
    """A vector constant of integers."""
    if all(value == values[0] for value in values):
        return f"splat ({type} {_number(type, values[0])})"
    return "<" + ", ".join(f"{type} {_number(type, value)}" for value in values) + ">"


def _number(type: str, value: int) -> str:
    if type == "i1":
        return "true" if value & 1 else "false"
    width = int(type[1:])
    value &= (1 << width) - 1
    return str(value - (1 << width) if value >> (width - 1) else value)


def shuffle_mask(lanes: Sequence[int]) -> str:
    """The mask operand of a shufflevector; -1 is a lane whose value does not matter."""
    body = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes)
    return f"<{len(lanes)} x i32> <{body}>"


def zero_of(type: str) -> str:
    """The zero literal of a scalar type."""
    return "0.0" if is_float(type) else "false" if type == "i1" else "0"


_IMPURE = ("load", "phi", "alloca")


def _is_pure_call(text: str) -> bool:
    """Whether a call computes from its operands alone."""
    return "@llvm." in text and "@llvm.masked." not in text


class TextBuilder:
    """Appends instructions to a function body."""

    def __init__(self, lanes: int = LANES) -> None:
        self.lanes = lanes  # of the vectors that stand for a simdgroup
        self.lines: list[str] = []
        self.slots: list[str] = []  # allocas, placed in the entry block
        self.declarations: set[str] = set()
        self._patterns: dict[tuple[int, ...], str] = {}
        self._names = 0
        self.label = ""
        # What was computed on the way to here, by its text: not computed again.
        self.computed: dict[str, str] = {}

    def name(self) -> str:
        """A fresh local name."""
        self._names += 1
        return f"%t{self._names}"

    def new_label(self, stem: str) -> str:
        """A fresh label, without the percent sign."""
        self._names += 1
        return f"{stem}.{self._names}"

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        """Append an instruction, unless its result is known, and return the result's name."""
        known = self.computed.get(text)
        if known is not None:
            return known
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        if not text.startswith(_IMPURE) and (not text.startswith("call") or _is_pure_call(text)):
            self.computed[text] = name
        return name

    def place(self, label: str) -> None:
        """Start a block."""
        self.lines.append(f"{label}:")
        self.label = label

    def slot(self, type: str) -> str:
        """A stack slot that LLVM turns into registers."""
        name = self.name()
        self.slots.append(f"  {name} = alloca {type}")
        return name

    def call(self, result: str, function: str, *operands: tuple[str, str]) -> str:
        """Call an intrinsic or helper, declaring it."""
        arguments = ", ".join(f"{kind} {value}" for kind, value in operands)
        kinds = ", ".join(kind for kind, _ in operands)
        self.declarations.add(f"declare {result} @{function}({kinds})")
        if result == "void":
            self.do(f"call void @{function}({arguments})")
            return ""
        return self.let(f"call {result} @{function}({arguments})")

    def pattern(self, numbers: tuple[int, ...]) -> str:
        """A constant array of `i64` in memory."""
        known = self._patterns.get(numbers)
        if known is None:
            # Functions of one module name the same one alike.
            known = self._patterns[numbers] = f"@pattern.{digest(repr(numbers))[:16]}"
            values = ", ".join(f"i64 {_number('i64', number)}" for number in numbers)
            self.declarations.add(
                f"{known} = private unnamed_addr constant [{len(numbers)} x i64] [{values}]"
            )
        return known

    # -- vectors ------------------------------------------------------------------------------

    def wide(self, type: str) -> str:
        """The type of a value that every lane has of its own: `<32 x float>`."""
        return vector_of(type, self.lanes)

    @property
    def mask(self) -> str:
        """The type of a mask of lanes."""
        return self.wide("i1")

    def splat(self, type: str, value: str, count: int = 0) -> str:
        """A vector with the scalar in every lane, or of `count`."""
        count = count or self.lanes
        if not value.startswith("%"):
            return f"splat ({type} {value})"
        kind = vector_of(type, count)
        one = self.let(f"insertelement {kind} poison, {type} {value}, i64 0")
        return self.let(
            f"shufflevector {kind} {one}, {kind} poison, <{count} x i32> zeroinitializer"
        )

    def shuffle(self, type: str, vector: str, count: int, lanes: Sequence[int]) -> str:
        """Lanes of one vector of `count` elements, as a vector of `len(lanes)`."""
        if list(lanes) == list(range(count)):
            return vector
        kind = vector_of(type, count)
        return self.let(f"shufflevector {kind} {vector}, {kind} poison, {shuffle_mask(lanes)}")

    def widened(self, type: str, vector: str) -> str:
        """A vector of all lanes of a simdgroup, of which those that are left out hold anything."""
        if self.lanes == LANES or vector.startswith("splat"):
            return vector
        places = [*range(self.lanes), *([-1] * (LANES - self.lanes))]
        return self.shuffle(type, vector, self.lanes, places)

    def concatenate(self, type: str, parts: Sequence[str], count: int) -> tuple[str, int]:
        """Vectors of `count` elements one after the other; returns the vector and its length."""
        parts = list(parts)
        while len(parts) > 1:
            if len(parts) % 2:
                parts.append("poison")
            kind = vector_of(type, count)
            mask = shuffle_mask(range(2 * count))
            parts = [
                self.let(f"shufflevector {kind} {a}, {kind} {b}, {mask}")
                if b != "poison" or a != "poison"
                else "poison"
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            count *= 2
        return parts[0], count

    def mask_bits(self, mask: str) -> str:
        """A lane mask as an i32."""
        bits = self.let(f"bitcast {self.mask} {mask} to i{self.lanes}")
        return bits if self.lanes == LANES else self.let(f"zext i{self.lanes} {bits} to i32")

    def any(self, mask: str) -> str:
        """Whether any lane of a mask is set, as an i1."""
        return self.let(f"icmp ne i32 {self.mask_bits(mask)}, 0")
