"""Tables of visible functions, which kernels call by their place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..constants import MTLFunctionTypeVisible
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..resources.memory import Bytes
from ..structs import MTLResourceID, as_integer, as_list, as_range

if TYPE_CHECKING:
    from ..device import MTLDevice
    from .library import MTLFunction
    from .pipeline import MTLComputePipelineState

_WORD = 4  # bytes of a function's number, and of the count in front of them


class MTLFunctionHandle(MetalObject):
    """A visible function as one pipeline state calls it."""

    def __init__(self, pipeline: "MTLComputePipelineState", function: "MTLFunction", number: int):
        self._pipeline = pipeline
        self._function = function
        self._number = number

    def device(self) -> "MTLDevice":
        """The device that the function runs on."""
        return self._pipeline.device()

    def name(self) -> str:
        """The name in the source."""
        return self._function.name()

    def functionType(self) -> int:
        """Always MTLFunctionTypeVisible."""
        return MTLFunctionTypeVisible


class MTLVisibleFunctionTableDescriptor(UserMade):
    """How a function table is to be."""

    _count = 0

    @classmethod
    def visibleFunctionTableDescriptor(cls) -> "MTLVisibleFunctionTableDescriptor":
        """A fresh descriptor."""
        return cls()

    def functionCount(self) -> int:
        """How many places the table has."""
        return self._count

    def setFunctionCount_(self, count: int) -> None:
        """Set how many places the table has."""
        where = call_of(self)
        self._count = as_integer(where, "the count", count)


class MTLVisibleFunctionTable(MetalObject):
    """Visible functions of one pipeline state by place; kernels that call an empty one fail."""

    def __init__(
        self, pipeline: "MTLComputePipelineState", descriptor: MTLVisibleFunctionTableDescriptor
    ):
        where = "MTLComputePipelineState.newVisibleFunctionTableWithDescriptor_"
        count = descriptor.functionCount()
        if count <= 0:
            raise MetalValidationError(f"{where}: functionCount is {count}; it must be positive")
        self._device = pipeline.device()
        self.pipeline = pipeline
        self._count = count
        self.allocation = self._device.memory.allocate(where, (count + 1) * _WORD, "table")
        self._words: Bytes = self.allocation.data.view("<u4")
        self._words[0] = count

    def device(self) -> "MTLDevice":
        """The device that the table belongs to."""
        return self._device

    def gpuResourceID(self) -> MTLResourceID:
        """What argument buffers hold."""
        return MTLResourceID(self.allocation.address)

    def setFunction_atIndex_(self, function: MTLFunctionHandle | None, index: int) -> None:
        """Put a function at a place; None empties it."""
        self._set(call_of(self), function, index)

    def setFunctions_withRange_(
        self, functions: Sequence[MTLFunctionHandle | None], span: Sequence[int]
    ) -> None:
        """Put several functions at successive places."""
        where = call_of(self)
        location, length = as_range(where, span)
        for place, function in enumerate(as_list(where, "the functions", functions, length)):
            self._set(where, function, location + place)

    @property
    def addresses(self) -> tuple[int, ...]:
        """GPU address of the table."""
        return (self.allocation.address,)

    def _set(self, where: str, function: MTLFunctionHandle | None, index: int) -> None:
        index = as_integer(where, "the index", index)
        if not 0 <= index < self._count:
            raise MetalValidationError(
                f"{where}: index is {index}; it must lie in 0..{self._count - 1}"
            )
        if function is not None:
            expect(where, "the function", function, MTLFunctionHandle)
            if function._pipeline is not self.pipeline:
                raise MetalValidationError(
                    f"{where}: the handle of {function.name()!r} is another pipeline state's; ask "
                    "that of the table, with functionHandleWithFunction_"
                )
        self._words[index + 1] = 0 if function is None else function._number
