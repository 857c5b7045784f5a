"""Memory accesses: which way each takes, and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import context as c
from ..ir.faults import UnsupportedKernel
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import Instruction, is_private
from .access import Access
from .helpers import helper_name
from .loads import Loads
from .private import PrivateMemory
from .stores import Stores
from .text import zero_of

if TYPE_CHECKING:
    from .vectorise import Vectoriser


class MemoryAccess(Access):
    """Emits loads, stores and atomics."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        super().__init__(vectoriser)
        self._private = PrivateMemory(vectoriser)
        self._loads = Loads(vectoriser)
        self._stores = Stores(vectoriser)

    @property
    def streams(self) -> bool:
        """Whether some stores go past the caches."""
        return self._stores.streams

    def address_of(self, instruction: Instruction) -> str:
        """The GPU address where a root starts."""
        return self.memory(instruction).address

    def load(self, instruction: Instruction) -> list[str]:
        """Emit a load; returns its components, vectors if the load varies and scalars if not."""
        self._check(instruction, "load")
        if is_private(instruction.root):
            return self._private.load(instruction)
        return self._loads.load(instruction)

    def store(self, instruction: Instruction) -> None:
        """Emit a store."""
        self._check(instruction, "store")
        if is_private(instruction.root):
            self._private.store(instruction)
        else:
            self._stores.store(instruction)

    def _check(self, instruction: Instruction, what: str) -> None:
        if instruction.components > c.MAX_COMPONENTS:
            raise UnsupportedKernel(
                f"a {what} of {instruction.components} elements at once", instruction.site
            )

    def atomic(self, instruction: Instruction) -> str:
        """Emit an atomic operation of all active lanes, one after the other."""
        element = instruction.element
        size = size_of(Scalar(element))
        if self.v.has_varying_address(instruction):
            memory = self.put_varying_addresses(instruction)
        else:
            memory = self.memory(instruction)
            self.put_addresses(self.addresses(instruction, memory))
        for place, value in zip(
            (c.SCRATCH_VALUES, c.SCRATCH_SECOND), instruction.operands[1:], strict=False
        ):
            at = self.exchange(place)
            vector = self.v.vector(value)
            self.text.do(f"store {self.text.wide(value.type)} {vector}, ptr {at}, align {size}")
        ok = self.text.call(
            "i1",
            helper_name(instruction.operation, instruction.number),
            ("ptr", "%ctx"),
            ("i32", str(self.v.site(instruction))),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i64", memory.low),
            ("i64", memory.high),
        )
        self.v.stop_unless(ok)
        if instruction.type == "void":
            return zero_of("i32")
        return self.take_values(instruction.type, 1)[0]
