"""Kernels of MSL as people write them on Metal: buffers and bytes are set at their own indices."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from .. import element_type as elements
from ..device import BufferRef, Executable
from ..msl import MslKernel
from ..status import StatusError, invalid_argument
from .encoding import Encoding
from .errors import error_text, metal_calls

_VERSION: Final = 0x30000
_TYPES: Final = {
    "float32": "Float",
    "float16": "Half",
    "bfloat16": "BFloat",
    "int64": "Long",
    "uint64": "ULong",
    "int32": "Int",
    "uint32": "UInt",
    "int16": "Short",
    "uint16": "UShort",
    "int8": "Char",
    "uint8": "UChar",
    "bool": "Bool",
}
"""What Metal calls the types of function constants."""


class MslExecutable(Executable):
    """One kernel, which is compiled when it is first recorded."""

    def __init__(self, api: Any, device: Any, data: memoryview) -> None:
        """Raises StatusError for what is no executable of this format."""
        self.kernel = MslKernel.from_bytes(data)
        self._api, self._device = api, device
        self._state: Any = None

    def lookup(self, name: str) -> int:
        """0 for the kernel's function. Raises StatusError for others."""
        if name != self.kernel.function:
            raise StatusError("NOT_FOUND", f"there is {self.kernel.function}, and no {name}")
        return 0

    def state(self) -> Any:
        """The pipeline state. Raises StatusError if the text does not compile."""
        if self._state is None:
            self._state = self._compiled()
        return self._state

    def _compiled(self) -> Any:
        name = self.kernel.function
        options = self._api.MTLCompileOptions.alloc().init()
        options.setLanguageVersion_(_VERSION)
        with metal_calls(f"to compile the MSL of '{name}'"):
            library, error = self._device.newLibraryWithSource_options_error_(
                self.kernel.source, options, None
            )
            if library is None:
                raise invalid_argument(
                    f"the MSL of '{name}' does not compile:\n{error_text(error)}"
                )
            function, error = library.newFunctionWithName_constantValues_error_(
                name, self._constant_values(), None
            )
            if function is None:
                raise StatusError(
                    "NOT_FOUND", f"there is no kernel '{name}' in its MSL: {error_text(error)}"
                )
            descriptor = self._api.MTLComputePipelineDescriptor.alloc().init()
            descriptor.setComputeFunction_(function)
            make = self._device.newComputePipelineStateWithDescriptor_options_reflection_error_
            state, _, error = make(descriptor, 0, None, None)
            if state is None:
                raise invalid_argument(
                    f"kernel '{name}' cannot become a pipeline: {error_text(error)}"
                )
        return state

    def _constant_values(self) -> Any:
        values = self._api.MTLFunctionConstantValues.alloc().init()
        for index, element_type, bits in self.kernel.function_constants:
            dtype = elements.dtype_of(element_type)
            if dtype.name not in _TYPES:
                raise invalid_argument(f"function constant {index} of type {dtype.name}")
            data = (bits & (1 << 64) - 1).to_bytes(8, "little")[: dtype.itemsize]
            kind = getattr(self._api, f"MTLDataType{_TYPES[dtype.name]}")
            values.setConstantValue_type_atIndex_(data, kind, index)
        return values

    def dispatch(
        self,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> MslDispatch:
        """A dispatch to be recorded. Raises StatusError."""
        kernel = self.kernel
        words = sum(-(-size // 4) for _, size in kernel.constants)
        if len(constants) != words or len(bindings) != len(kernel.buffers):
            raise invalid_argument(
                f"'{kernel.function}' takes {words} words of constants and {len(kernel.buffers)} "
                f"bindings, not {len(constants)} and {len(bindings)}"
            )
        if isinstance(workgroups, BufferRef):
            raise invalid_argument(f"'{kernel.function}': the size of its grid lies in a buffer")
        return MslDispatch(self._api, kernel, self.state(), workgroups, constants, bindings)


class MslDispatch:
    """A kernel over a grid of threadgroups."""

    __slots__ = ("_bindings", "_bytes", "_groups", "_memory", "_state", "_threads", "staging")

    def __init__(
        self,
        api: Any,
        kernel: MslKernel,
        state: Any,
        workgroups: tuple[int, int, int],
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        self.staging = 0
        self._state = state
        self._groups = api.MTLSizeMake(*workgroups)
        self._threads = api.MTLSizeMake(*kernel.threads)
        self._bindings = tuple(zip(kernel.buffers, bindings, strict=True))
        self._memory = tuple(enumerate(kernel.threadgroup_memory))
        words = [word & 0xFFFFFFFF for word in constants]
        data = struct.pack(f"<{len(words)}I", *words)
        self._bytes: list[tuple[int, bytes]] = []
        at = 0
        for index, size in kernel.constants:
            self._bytes.append((index, data[at : at + size]))
            at += -(-size // 4) * 4

    def encode(self, encoding: Encoding) -> None:
        """Replay."""
        encoder = encoding.compute()
        encoding.set_state(self._state)
        for index, reference in self._bindings:
            handle, offset, length = encoding.resolve(reference)
            # Nothing may lie behind the memory's end, where Metal lets no buffer begin.
            encoding.set_buffer(handle, offset if length else 0, index)
        for index, data in self._bytes:
            encoding.set_bytes(data, index)
        for index, size in self._memory:
            encoder.setThreadgroupMemoryLength_atIndex_(size, index)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(self._groups, self._threads)
