"""Code of functions that stand apart from the kernels that call them: on 32 lanes under a mask."""

from __future__ import annotations

from ..analysis.linear_form import IOTA, ZEROS, Pattern
from ..ir.nodes import Block, Function, Instruction, Value
from ..ir.operations.calls import PARAMETER
from ..ir.shape import LANES, Shape
from .slots import CONTEXT, MASK
from .text import vector_of
from .vectorise import Vectoriser

_SHAPE = Shape(size=(LANES, 1, 1), nominal=(LANES, 1, 1))
# How lines begin that name what all functions of a module share.
_DECLARING = ("declare ", "@")


def with_apart(text: str, function: Function) -> str:
    """LLVM IR of a kernel, and of all functions that it calls."""
    parts = [text]
    declared = {line for line in text.splitlines() if line.startswith(_DECLARING)}
    for name, each in function.apart.items():
        apart = _ApartVectoriser(name, each)
        parts += [apart.definition(), *sorted(apart.text.declarations - declared)]
        declared |= apart.text.declarations
    return "\n".join(parts)


class _ApartVectoriser(Vectoriser):
    """Emits one function that stands apart."""

    def __init__(self, name: str, function: Function) -> None:
        super().__init__(function, _SHAPE)
        self.full_mask = "%mask"
        self._symbol = name
        self._parameters = [i for i in self.function.blocks[0].body if i.operation is PARAMETER]

    def _find_lanes(self, function: Function, *, packed: bool) -> tuple[Pattern, Pattern]:
        return IOTA, ZEROS

    def _find_sums(self) -> dict[Value, Instruction]:
        return {}  # they would stay in a simdgroup's state

    def definition(self) -> str:
        """The function's text, less what it declares."""
        self.pending = self.find_pending()
        for block in self.cfg.order:
            self._emit_block(block)
        self.store_requested()
        kinds = [f"{vector_of(each.type)} %p{each.index}" for each in self._parameters]
        taken = ", ".join([CONTEXT, f"{MASK} %mask", *kinds])
        result = self._result().type
        head = [
            f"define internal {result} @{self._symbol}({taken}) #0 {{",
            "entry:",
            *self.text.slots,
            *self.entry.values(),
            *self.slots.initial_stores(str, str),
            f"  br label %b{self.cfg.index[self.cfg.order[0]]}",
        ]
        end = ["stopped:", f"  ret {result} zeroinitializer", "}"]
        return "\n".join([*head, *self._body(), *end])

    def _end(self) -> None:
        result = self._result()
        self.text.do(f"ret {result.type} {self.take(result)}")

    def _burn_fuel(self, header: Block, mask: str) -> None:
        """Nothing: these loops are ours, and end."""
