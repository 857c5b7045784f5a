"""Host programs for the NPU: functions of IREE modules whose executables run there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.status import StatusError
from assay.hal.vm import FunctionInfo, LoadedModule, Session
from assay.hal.vm.archive import ModuleDefinition, read_module
from assay.hal.vm.asserted import exported

from ..elements import ELEMENTS, Value
from ..signatures import Signature, Slot, signature_of
from .function import NpuFunction
from .values import NpuInputError, is_laid_out_as, shape_text

if TYPE_CHECKING:
    from assay.hal.torq.driver import TorqDevice


class HostProgram:
    """The module of a `.vmfb`; it is loaded, and its executables with it, when it is first run."""

    def __init__(self, device: TorqDevice, definition: ModuleDefinition) -> None:
        self._device = device
        self.definition = definition

    @cached_property
    def loaded(self) -> LoadedModule:
        """The module on the NPU. Raises StatusError."""
        return Session(self._device).load_definition(self.definition)

    def functions(self) -> list[NpuProgram]:
        """What callers can call."""
        return [
            NpuProgram(self, exported(self.definition, name))
            for name in self.definition.exports
            if not name.startswith("__")
        ]


class NpuProgram(NpuFunction):
    """A function of a host program: call it with its arguments."""

    def __init__(self, program: HostProgram, info: FunctionInfo) -> None:
        self._program = program
        self.name = info.name
        self.declaration = info.declaration
        self._signature = signature_of(info)

    @property
    def signature(self) -> Signature:
        """What goes in and comes out."""
        return self._signature

    def check_inputs(self, arguments: Sequence[Any]) -> None:
        """Raises NpuInputError if arrays do not fit the arguments; nothing is loaded for that."""
        self._values(arguments)

    def zeros(self) -> list[Value]:
        """Inputs of zeros. Raises NpuInputError where the module does not say of which type."""
        return [self._zeros(slot) for slot in self._signature.arguments]

    def load(self) -> None:
        """Loads the module and its executables, if that was not done. Raises StatusError."""
        _ = self._program.loaded

    def invoke(self, arguments: Sequence[Any]) -> list[Value]:
        """Runs it; always a list of results. Raises NpuInputError, and StatusError of the NPU."""
        values = self._values(arguments)
        return self._program.loaded.invoke(self.name, *values)

    def _values(self, arguments: Sequence[Any]) -> list[Value]:
        slots = self._signature.arguments
        if len(arguments) != len(slots):
            wanted = ", ".join(slot.text for slot in slots) or "none"
            raise NpuInputError(
                f"{self.name}: {len(arguments)} inputs for {len(slots)} arguments: {wanted}"
            )
        return [
            self._value(value, number, slot)
            for number, (value, slot) in enumerate(zip(arguments, slots, strict=True))
        ]

    def _value(self, value: Any, number: int, slot: Slot) -> Value:
        """An argument as the function declares it, if it has as many bytes in that order."""
        sizes = slot.shape
        if not slot.is_tensor or None in sizes or slot.element not in ELEMENTS:
            return value if isinstance(value, int | float) else np.asarray(value)
        dtype, data = ELEMENTS[slot.element], np.ascontiguousarray(value)
        shape = tuple(size for size in sizes if size is not None)
        wanted = prod(shape) * dtype.itemsize
        if data.nbytes != wanted:
            raise NpuInputError(
                f"{self.name}: an input of {data.nbytes} bytes for argument {number}, which is a "
                f"{slot.type} of {wanted} bytes"
            )
        if not is_laid_out_as(np.shape(value), shape):
            raise NpuInputError(
                f"{self.name}: an input of shape {shape_text(np.shape(value))} for argument "
                f"{number}, which is a {slot.type}"
            )
        return data.reshape(-1).view(dtype).reshape(shape)

    def _zeros(self, slot: Slot) -> Value:
        sizes = slot.shape
        if not slot.is_tensor or None in sizes or slot.element not in ELEMENTS:
            raise NpuInputError(f"{self.name}: nothing can be made up for a {slot.type}")
        return np.zeros([size or 0 for size in sizes], ELEMENTS[slot.element])


def host_program(device: TorqDevice, data: memoryview, name: str) -> HostProgram | None:
    """The host program of an archive; None if only other releases of IREE could run it.

    Raises StatusError for a damaged one.
    """
    try:
        return HostProgram(device, read_module(data, name))
    except StatusError as error:
        if error.status == "INCOMPATIBLE":
            return None
        raise
