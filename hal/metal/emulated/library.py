"""Libraries of kernels compiled from MSL source, their functions and function constants."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from assay.hw.apple.limits import limits

from . import constants
from .argument import MTLArgumentEncoder, members_of
from .constants import (
    MTLFunctionOptionNone,
    MTLFunctionTypeKernel,
    MTLLanguageVersion3_2,
    MTLLibraryErrorCompileFailure,
    MTLLibraryErrorFunctionNotFound,
    MTLLibraryOptimizationLevelDefault,
    MTLLibraryTypeExecutable,
    MTLMathFloatingPointFunctionsFast,
    MTLMathModeFast,
    MTLMathModeSafe,
)
from .engine import CompileSource
from .errors import MetalValidationError, NSError, library_error
from .memory import bytes_of
from .objects import MetalObject, UserMade, expect
from .structs import as_range

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, Library

    from .device import MTLDevice

Constant = bool | int | float | tuple[bool | int | float, ...]

_SCALARS: dict[str, DTypeLike] = {
    "Float": np.float32,
    "Half": np.float16,
    "BFloat": ml_dtypes.bfloat16,
    "Int": np.int32,
    "UInt": np.uint32,
    "Short": np.int16,
    "UShort": np.uint16,
    "Char": np.int8,
    "UChar": np.uint8,
    "Bool": np.bool_,
    "Long": np.int64,
    "ULong": np.uint64,
}
# MTLDataType to its element type and number of elements.
_DATA_TYPES: dict[int, tuple["np.dtype[np.generic]", int]] = {
    getattr(constants, f"MTLDataType{name}{count if count > 1 else ''}"): (np.dtype(scalar), count)
    for name, scalar in _SCALARS.items()
    for count in (1, 2, 3, 4)
}


class MTLCompileOptions(UserMade):
    """How MSL source is to be compiled.

    Deviation: fast math licenses contraction alone; NaN, infinity and order are always kept.
    """

    def __init__(self) -> None:
        self._macros: dict[str, object] = {}
        self._math_mode = MTLMathModeFast
        self._math_functions = MTLMathFloatingPointFunctionsFast
        self._language_version = MTLLanguageVersion3_2
        self._optimization = MTLLibraryOptimizationLevelDefault
        self._preserve_invariance = False

    def preprocessorMacros(self) -> Mapping[str, object]:
        """Macro names and values."""
        return self._macros

    def setPreprocessorMacros_(self, macros: Mapping[str, object] | None) -> None:
        """Set macro names and values; values are text or numbers."""
        self._macros = dict(macros or {})

    def fastMathEnabled(self) -> bool:
        """Whether the math mode is the fast one."""
        return self._math_mode == MTLMathModeFast

    def setFastMathEnabled_(self, enabled: bool) -> None:
        """Choose the fast or the safe math mode."""
        self._math_mode = MTLMathModeFast if enabled else MTLMathModeSafe

    def mathMode(self) -> int:
        """The MTLMathMode."""
        return self._math_mode

    def setMathMode_(self, mode: int) -> None:
        """Set the MTLMathMode."""
        self._math_mode = mode

    def mathFloatingPointFunctions(self) -> int:
        """The MTLMathFloatingPointFunctions."""
        return self._math_functions

    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        """Accepted; functions are as exact in either case."""
        self._math_functions = functions

    def languageVersion(self) -> int:
        """The MTLLanguageVersion."""
        return self._language_version

    def setLanguageVersion_(self, version: int) -> None:
        """Set the MTLLanguageVersion."""
        self._language_version = version

    def optimizationLevel(self) -> int:
        """The MTLLibraryOptimizationLevel."""
        return self._optimization

    def setOptimizationLevel_(self, level: int) -> None:
        """Accepted; there is one level."""
        self._optimization = level

    def preserveInvariance(self) -> bool:
        """Whether vertex positions are to be invariant."""
        return self._preserve_invariance

    def setPreserveInvariance_(self, preserve: bool) -> None:
        """Accepted; it matters to vertex functions alone."""
        self._preserve_invariance = bool(preserve)

    def libraryType(self) -> int:
        """Always MTLLibraryTypeExecutable."""
        return MTLLibraryTypeExecutable

    def _compile(self, compile_source: CompileSource, source: str) -> "Library":
        """The library that `source` gives with these options."""
        return compile_source(
            source,
            macros={name: _macro_text(value) for name, value in self._macros.items()},
            fast_math=self._math_mode != MTLMathModeSafe,
            language_version=(self._language_version >> 16, self._language_version & 0xFFFF),
        )


class MTLFunctionConstantValues(UserMade):
    """Values of [[function_constant(n)]], by number or name, given as bytes in memory."""

    def __init__(self) -> None:
        self._values: dict[int | str, Constant] = {}

    def setConstantValue_type_atIndex_(self, value: object, kind: int, index: int) -> None:
        """Set constant number `index` to the MTLDataType `kind` that `value` holds."""
        where = "MTLFunctionConstantValues.setConstantValue_type_atIndex_"
        limit = limits().function_constants
        if not 0 <= index < limit:
            raise MetalValidationError(f"{where}: index is {index}; it must lie in 0..{limit - 1}")
        self._values[index] = _decode(where, value, kind, 1)[0]

    def setConstantValue_type_withName_(self, value: object, kind: int, name: str) -> None:
        """Set the constant called `name` to the MTLDataType `kind` that `value` holds."""
        where = "MTLFunctionConstantValues.setConstantValue_type_withName_"
        self._values[name] = _decode(where, value, kind, 1)[0]

    def setConstantValues_type_withRange_(
        self, values: object, kind: int, span: Sequence[int]
    ) -> None:
        """Set constants of successive numbers to successive values."""
        where = "MTLFunctionConstantValues.setConstantValues_type_withRange_"
        location, length = as_range(where, span)
        for place, value in enumerate(_decode(where, values, kind, length)):
            self._values[location + place] = value

    def reset(self) -> None:
        """Forget all values."""
        self._values.clear()


class MTLFunction(MetalObject):
    """One kernel of a library."""

    def __init__(self, library: "MTLLibrary", name: str, kernel: "KernelFunction | Exception"):
        self._library = library
        self._name = name
        self._kernel = kernel

    def device(self) -> "MTLDevice":
        """The device that the function was compiled for."""
        return self._library._device

    def name(self) -> str:
        """The name in the source."""
        return self._name

    def functionType(self) -> int:
        """Always MTLFunctionTypeKernel."""
        return MTLFunctionTypeKernel

    def options(self) -> int:
        """Always MTLFunctionOptionNone."""
        return MTLFunctionOptionNone

    def newArgumentEncoderWithBufferIndex_(self, index: int) -> MTLArgumentEncoder:
        """An encoder for the argument buffer that the function takes at `index`."""
        where = "MTLFunction.newArgumentEncoderWithBufferIndex_"
        kernel = self._compiled()
        for argument in kernel.arguments:
            if argument.kind == "buffer" and argument.index == index:
                if not argument.members:
                    break
                return MTLArgumentEncoder(self.device(), members_of(argument), argument.size)
        raise MetalValidationError(
            f"{where}: kernel {self._name!r} has no argument buffer at [[buffer({index})]]; an "
            "argument buffer is a struct whose members are resources"
        )

    def _compiled(self) -> "KernelFunction":
        """The kernel. Raises what its compilation raised."""
        if isinstance(self._kernel, Exception):
            raise self._kernel
        return self._kernel


class MTLLibrary(MetalObject):
    """Kernels compiled from one source text."""

    def __init__(self, device: "MTLDevice", library: "Library"):
        self._device = device
        self._library = library

    def device(self) -> "MTLDevice":
        """The device that the library was compiled for."""
        return self._device

    def functionNames(self) -> tuple[str, ...]:
        """Names of the kernels."""
        return tuple(self._library.function_names)

    def type(self) -> int:
        """Always MTLLibraryTypeExecutable."""
        return MTLLibraryTypeExecutable

    def newFunctionWithName_(self, name: str) -> MTLFunction | None:
        """The kernel called `name`, or None. What is wrong with it shows in the pipeline state."""
        if name not in self._library.function_names:
            return None
        try:
            return MTLFunction(self, name, self._library.function(name))
        except Exception as error:  # reported where Metal has a place for it: the pipeline state
            return MTLFunction(self, name, error)

    def newFunctionWithName_constantValues_error_(
        self, name: str, values: MTLFunctionConstantValues, _error: None
    ) -> tuple[MTLFunction | None, NSError | None]:
        """The kernel called `name` with its function constants set."""
        where = "MTLLibrary.newFunctionWithName_constantValues_error_"
        expect(where, "the values", values, MTLFunctionConstantValues)
        names = self._library.function_names
        if name not in names:
            return None, library_error(
                MTLLibraryErrorFunctionNotFound,
                f"no kernel is called {name!r}; there are {', '.join(names) or 'none'}",
            )
        try:
            return MTLFunction(self, name, self._library.function(name, values._values)), None
        except Exception as error:
            return None, library_error(MTLLibraryErrorCompileFailure, str(error), error)


def _macro_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


def _decode(where: str, values: object, kind: int, count: int) -> list[Constant]:
    """`count` values of the MTLDataType `kind`. Raises MetalValidationError."""
    if kind not in _DATA_TYPES:
        raise MetalValidationError(
            f"{where}: type {kind!r} is no MTLDataType of a scalar or vector that a function "
            "constant can have"
        )
    dtype, elements = _DATA_TYPES[kind]
    # A three-element vector takes the room of four.
    stride = 4 if elements == 3 else elements
    data = bytes_of(where, values, dtype.itemsize * (stride * (count - 1) + elements))
    room = np.zeros(count * stride * dtype.itemsize, dtype=np.uint8)
    room[: data.nbytes] = data
    rows = room.view(dtype).reshape(count, stride)[:, :elements].tolist()
    return [row[0] if elements == 1 else tuple(row) for row in rows]
