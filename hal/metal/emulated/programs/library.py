"""Libraries of kernels compiled from MSL source, and their functions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.sim.names import choices

from ..constants import (
    MTLFunctionOptionNone,
    MTLFunctionTypeKernel,
    MTLFunctionTypeVisible,
    MTLLibraryErrorFunctionNotFound,
    MTLLibraryTypeExecutable,
)
from ..errors import MetalError, MetalValidationError, NSError, compile_error, library_error
from ..objects import MetalObject, UserMade, call_of, expect
from ..worker import run_handler
from .argument import MTLArgumentEncoder, encoder_of
from .function_constants import MTLFunctionConstant, MTLFunctionConstantValues

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary
    from assay.compiler.msl.rewrite.function_constants import ConstantValue

    from ..device import MTLDevice

FunctionHandler = Callable[["MTLFunction | None", NSError | None], None]


class MTLFunctionDescriptor(UserMade):
    """Which function to take out of a library, with which constants."""

    _name: str | None = None
    _values: MTLFunctionConstantValues | None = None

    @classmethod
    def functionDescriptor(cls) -> "MTLFunctionDescriptor":
        """A fresh descriptor."""
        return cls()

    def name(self) -> str | None:
        """The name in the source."""
        return self._name

    def setName_(self, name: str | None) -> None:
        """Set the name in the source."""
        self._name = name

    def constantValues(self) -> MTLFunctionConstantValues | None:
        """The values of function constants."""
        return self._values

    def setConstantValues_(self, values: MTLFunctionConstantValues | None) -> None:
        """Set the values of function constants."""
        self._values = values


class MTLFunction(MetalObject):
    """One kernel of a library, or one visible function, which only kernels call."""

    def __init__(
        self,
        library: "MTLLibrary",
        name: str,
        kernel: "KernelFunction | Exception",
        values: Mapping[int | str, "ConstantValue"] | None = None,
    ):
        self.library = library
        self._name = name
        self._kernel = kernel
        self._values = values or {}

    def device(self) -> "MTLDevice":
        """The device that the function was compiled for."""
        return self.library.device()

    def name(self) -> str:
        """The name in the source."""
        return self._name

    def functionType(self) -> int:
        """MTLFunctionTypeKernel or MTLFunctionTypeVisible."""
        is_visible = self._name in self.library.compiled.visible_names
        return MTLFunctionTypeVisible if is_visible else MTLFunctionTypeKernel

    def options(self) -> int:
        """Always MTLFunctionOptionNone."""
        return MTLFunctionOptionNone

    def functionConstantsDictionary(self) -> Mapping[str, "MTLFunctionConstant"]:
        """The function constants by name. Deviation: those of the library, used or not."""
        found = (MTLFunctionConstant(each) for each in self.library.compiled.constants)
        return {constant.name(): constant for constant in found}

    def newArgumentEncoderWithBufferIndex_(self, index: int) -> MTLArgumentEncoder:
        """An encoder for the argument buffer that the function takes at `index`."""
        where = call_of(self)
        kernel = self.compiled_with()
        for argument in kernel.arguments:
            if argument.kind == "buffer" and argument.index == index:
                return encoder_of(where, self.device(), argument)
        raise MetalValidationError(
            f"{where}: kernel {self._name!r} has no argument [[buffer({index})]]"
        )

    def compiled_with(self, linked: Sequence[str] = ()) -> "KernelFunction":
        """The kernel with these visible functions. Raises what its compilation raised."""
        if linked:
            return self.library.compiled.function(self._name, self._values, linked=linked)
        if isinstance(self._kernel, Exception):
            raise self._kernel
        return self._kernel


class MTLLibrary(MetalObject):
    """Kernels compiled from one source text."""

    def __init__(self, device: "MTLDevice", library: "KernelLibrary"):
        self._device = device
        self.compiled = library

    def device(self) -> "MTLDevice":
        """The device that the library was compiled for."""
        return self._device

    def functionNames(self) -> tuple[str, ...]:
        """Names of the kernels, then of the visible functions."""
        return (*self.compiled.function_names, *self.compiled.visible_names)

    def type(self) -> int:
        """Always MTLLibraryTypeExecutable."""
        return MTLLibraryTypeExecutable

    def newFunctionWithName_(self, name: str) -> MTLFunction | None:
        """The kernel called `name`, or None. What is wrong with it shows in the pipeline state."""
        if name in self.compiled.visible_names:
            return self._visible(name)
        if name not in self.compiled.function_names:
            return None
        try:
            return MTLFunction(self, name, self.compiled.function(name))
        except Exception as error:  # reported where Metal has a place for it: the pipeline state
            return MTLFunction(self, name, error)

    def newFunctionWithName_constantValues_error_(
        self, name: str, values: MTLFunctionConstantValues, _error: None
    ) -> tuple[MTLFunction | None, NSError | None]:
        """The kernel called `name` with its function constants set."""
        where = call_of(self)
        expect(where, "the values", values, MTLFunctionConstantValues)
        names = self.functionNames()
        if name in self.compiled.visible_names:
            return self._visible(name), None
        if name not in names:
            return None, library_error(
                MTLLibraryErrorFunctionNotFound,
                f"no kernel is called {name!r}; {choices(name, names)}",
            )
        try:
            kernel = self.compiled.function(name, values.values)
            return MTLFunction(self, name, kernel, values.values), None
        except Exception as error:
            return None, compile_error(error, self._device.engine)

    def _visible(self, name: str) -> MTLFunction:
        """A visible function; it is compiled with the kernels that it is linked to."""
        why = (
            f"function {name!r} is [[visible]] and no kernel; link it to one with "
            "MTLComputePipelineDescriptor.setLinkedFunctions_"
        )
        return MTLFunction(self, name, MetalError(why))

    def newFunctionWithName_constantValues_completionHandler_(
        self, name: str, values: MTLFunctionConstantValues, handler: FunctionHandler
    ) -> None:
        """The same in the background; handler(function, error) is called at the end."""

        def make_and_tell() -> None:
            made = self.newFunctionWithName_constantValues_error_(name, values, None)
            run_handler(handler, *made)

        self._device.compiler.submit(make_and_tell)

    def newFunctionWithDescriptor_error_(
        self, descriptor: MTLFunctionDescriptor, _error: None
    ) -> tuple[MTLFunction | None, NSError | None]:
        """The kernel that `descriptor` describes."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLFunctionDescriptor)
        values = descriptor.constantValues() or MTLFunctionConstantValues.new()
        name = expect(where, "the descriptor's name", descriptor.name(), str)
        return self.newFunctionWithName_constantValues_error_(name, values, None)
