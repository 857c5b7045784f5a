"""Visible functions that are linked into a pipeline state, which gives handles of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ..constants import MTLFunctionTypeVisible
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..structs import as_list
from .function_table import (
    MTLFunctionHandle,
    MTLVisibleFunctionTable,
    MTLVisibleFunctionTableDescriptor,
)
from .library import MTLFunction

if TYPE_CHECKING:
    from .pipeline import MTLComputePipelineState


class MTLLinkedFunctions(UserMade):
    """The visible functions that a pipeline state can call."""

    _functions: tuple[MTLFunction, ...] = ()
    _private: tuple[MTLFunction, ...] = ()
    _groups: object = None

    @classmethod
    def linkedFunctions(cls) -> "MTLLinkedFunctions":
        """A fresh object."""
        return cls()

    def functions(self) -> tuple[MTLFunction, ...]:
        """Functions that tables may hold."""
        return self._functions

    def setFunctions_(self, functions: Sequence[MTLFunction] | None) -> None:
        """Set the functions that tables may hold."""
        self._functions = _visible(call_of(self), functions)

    def privateFunctions(self) -> tuple[MTLFunction, ...]:
        """Functions that are linked but have no handle."""
        return self._private

    def setPrivateFunctions_(self, functions: Sequence[MTLFunction] | None) -> None:
        """Set functions that are linked but have no handle: they are found in the source."""
        self._private = _visible(call_of(self), functions)

    def groups(self) -> object:
        """Names of groups of functions, as given."""
        return self._groups

    def setGroups_(self, groups: object) -> None:
        """Accepted: groups help Metal's compiler alone."""
        self._groups = groups


def _visible(where: str, functions: Sequence[MTLFunction] | None) -> tuple[MTLFunction, ...]:
    chosen = as_list(where, "the functions", functions or (), len(functions or ()))
    for function in chosen:
        expect(where, "a function", function, MTLFunction)
        if function.functionType() != MTLFunctionTypeVisible:
            raise MetalValidationError(
                f"{where}: {function.name()!r} is a kernel; declare it [[visible]] to link it"
            )
    return tuple(chosen)


def linked_names(where: str, kernel: MTLFunction, functions: Sequence[MTLFunction]) -> list[str]:
    """Names of the functions to link to a kernel of the same library."""
    for function in functions:
        if function.library is not kernel.library:
            raise MetalValidationError(
                f"{where}: function {function.name()!r} is of another library than kernel "
                f"{kernel.name()!r}; put both into one source"
            )
    return [function.name() for function in functions]


class FunctionTables(MetalObject):
    """The part of MTLComputePipelineState that makes handles and tables."""

    _linked: tuple[MTLFunction, ...] = ()

    def functionHandleWithFunction_(self, function: MTLFunction) -> MTLFunctionHandle | None:
        """The handle of a function that is linked, or None for another."""
        where = call_of(self)
        expect(where, "the function", function, MTLFunction)
        names = [linked.name() for linked in self._linked]
        if function.name() not in names:
            return None
        return MTLFunctionHandle(self._as_state(), function, names.index(function.name()) + 1)

    def newVisibleFunctionTableWithDescriptor_(
        self, descriptor: MTLVisibleFunctionTableDescriptor
    ) -> MTLVisibleFunctionTable:
        """An empty table for functions of this pipeline state."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLVisibleFunctionTableDescriptor)
        return MTLVisibleFunctionTable(self._as_state(), descriptor)

    def _as_state(self) -> "MTLComputePipelineState":
        return cast("MTLComputePipelineState", self)
