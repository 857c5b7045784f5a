"""Executable libraries as IREE's CPU compiler makes them: ELF images that export one function.

The function gives a table of the library's kernels, which are called once per workgroup. They are
machine code of this processor: nothing keeps them from doing what the process may do.
Layouts: `runtime/src/iree/hal/local/executable_library.h` of iree-org/iree, version 0.6.
"""

from __future__ import annotations

import ctypes
import itertools
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from assay.sim.native.work_folder import work_folder

from ..status import StatusError

_VERSION: Final = 6
_QUERY: Final = "iree_hal_executable_library_query"
_PAGE: Final = 4096
_MOST_KERNELS: Final = 1 << 20
_FORMATS: Final = {
    "x86_64": "embedded-elf-x86_64",
    "AMD64": "embedded-elf-x86_64",
    "aarch64": "embedded-elf-arm_64",
    "arm64": "embedded-elf-arm_64",
}
FORMAT: Final = _FORMATS.get(platform.machine(), "")
"""What this processor runs; empty if IREE has no name for it."""


class _Environment(ctypes.Structure):
    _fields_ = (
        ("constants", ctypes.c_void_p),
        ("import_thunk", ctypes.c_void_p),
        ("import_functions", ctypes.c_void_p),
        ("import_contexts", ctypes.c_void_p),
        ("processor", ctypes.c_uint64 * 8),
    )


class _DispatchState(ctypes.Structure):
    _fields_ = (
        ("size_x", ctypes.c_uint32),
        ("size_y", ctypes.c_uint32),
        ("size_z", ctypes.c_uint16),
        ("constant_count", ctypes.c_uint16),
        ("count_x", ctypes.c_uint32),
        ("count_y", ctypes.c_uint32),
        ("count_z", ctypes.c_uint16),
        ("max_concurrency", ctypes.c_uint8),
        ("binding_count", ctypes.c_uint8),
        ("constants", ctypes.c_void_p),
        ("bindings", ctypes.c_void_p),
        ("lengths", ctypes.c_void_p),
    )


class _WorkgroupState(ctypes.Structure):
    _fields_ = (
        ("x", ctypes.c_uint32),
        ("y", ctypes.c_uint32),
        ("z", ctypes.c_uint16),
        ("reserved", ctypes.c_uint16),
        ("processor", ctypes.c_uint32),
        ("local_memory", ctypes.c_void_p),
        ("local_memory_size", ctypes.c_uint32),
    )


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("local_memory_pages", ctypes.c_uint16),
        ("constant_count", ctypes.c_uint8),
        ("binding_count", ctypes.c_uint8),
        ("size", ctypes.c_uint32 * 2),
        ("size_z", ctypes.c_uint16),
        ("parameter_count", ctypes.c_uint16),
        ("reserved", ctypes.c_uint64 * 5),
    )


class _Library(ctypes.Structure):
    _fields_ = (
        ("header", ctypes.POINTER(ctypes.c_uint32)),
        ("import_count", ctypes.c_uint32),
        ("import_symbols", ctypes.POINTER(ctypes.c_char_p)),
        ("count", ctypes.c_uint32),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("attributes", ctypes.POINTER(_Attributes)),
        ("parameters", ctypes.c_void_p),
        ("occupancy", ctypes.c_void_p),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("tags", ctypes.c_void_p),
        ("parameter_names", ctypes.c_void_p),
        ("source_locations", ctypes.c_void_p),
        ("stage_locations", ctypes.c_void_p),
        ("constant_count", ctypes.c_uint32),
    )


_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Library:
    """A loaded library; it stays loaded, as code may be running in it."""

    def __init__(self, data: memoryview, constants: Sequence[int]) -> None:
        """Raises StatusError for what is no library for this processor."""
        self._image = _load(bytes(data))
        self._environment = _Environment()
        self._library = self._query()
        found = self._library
        if found.import_count:
            self._import(found)
        if found.constant_count != len(constants) or found.count > _MOST_KERNELS:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"a CPU executable of {found.count} kernels and {found.constant_count} constants, "
                f"of which {len(constants)} are given",
            )
        self._constants = (ctypes.c_uint32 * max(1, len(constants)))(*constants)
        self._environment.constants = ctypes.addressof(self._constants)
        self.kernels = tuple(_KERNEL(found.functions[number]) for number in range(found.count))
        self.names = tuple(
            found.names[number].decode() if found.names else f"{number}"
            for number in range(found.count)
        )

    def _query(self) -> _Library:
        try:
            query: Any = getattr(self._image, _QUERY)
        except AttributeError:
            raise _unusable(f"it exports no {_QUERY}") from None
        query.restype = ctypes.POINTER(_Library)
        query.argtypes = [ctypes.c_uint32, ctypes.c_void_p]
        found = query(_VERSION, ctypes.addressof(self._environment))
        if not found or found.contents.header[0] != _VERSION:
            raise _unusable(
                f"it is not of version 0.{_VERSION}, which iree-base-compiler 3.13 writes"
            )
        library: _Library = found.contents
        return library

    def _import(self, found: _Library) -> None:
        """Functions that a library can do without have a `?` before their name."""
        for number in range(found.import_count):
            name = found.import_symbols[number]
            if not name.startswith(b"?"):
                raise _unusable(f"it imports {name.decode()}, which is not there")
        self._imports = (ctypes.c_void_p * found.import_count)()
        self._environment.import_functions = ctypes.addressof(self._imports)
        self._environment.import_contexts = ctypes.addressof(self._imports)

    def operands(self, function: int) -> tuple[int, int] | None:
        """How many constants and bindings a kernel takes, if the library says."""
        if not self._library.attributes:
            return None
        said = self._library.attributes[function]
        return said.constant_count, said.binding_count

    def prepared(
        self,
        function: int,
        workgroups: tuple[int, int, int],
        constants: Sequence[int],
        bindings: Sequence[tuple[int, int]],
    ) -> Callable[[], None]:
        """What runs all workgroups of a dispatch; bindings are addresses and lengths in bytes."""
        words = (ctypes.c_uint32 * max(1, len(constants)))(*constants)
        addresses = (ctypes.c_void_p * max(1, len(bindings)))(*(b[0] for b in bindings))
        lengths = (ctypes.c_size_t * max(1, len(bindings)))(*(b[1] for b in bindings))
        x, y, z = workgroups
        state = _DispatchState(
            size_x=1,
            size_y=1,
            size_z=1,
            constant_count=len(constants),
            count_x=x,
            count_y=y,
            count_z=z,
            max_concurrency=1,
            binding_count=len(bindings),
            constants=ctypes.addressof(words),
            bindings=ctypes.addressof(addresses),
            lengths=ctypes.addressof(lengths),
        )
        operands = words, addresses, lengths
        return lambda: self._run(function, state, operands)

    def _run(self, function: int, state: _DispatchState, operands: object) -> None:
        """`operands` is what the state points to."""
        del operands  # the caller keeps it
        said = self._library.attributes[function] if self._library.attributes else None
        pages = said.local_memory_pages if said is not None else 0
        memory = ctypes.create_string_buffer(pages * _PAGE + 1)
        group = _WorkgroupState(
            local_memory=ctypes.addressof(memory), local_memory_size=pages * _PAGE
        )
        kernel = self.kernels[function]
        environment, dispatch, place = map(ctypes.addressof, (self._environment, state, group))
        x, y, z = state.count_x, state.count_y, state.count_z
        for group.z, group.y, group.x in itertools.product(range(z), range(y), range(x)):
            code = kernel(environment, dispatch, place)
            if code:
                raise StatusError(
                    "INTERNAL", f"kernel {self.names[function]} on the CPU gave up: {code}"
                )


def _load(data: bytes) -> ctypes.CDLL:
    if not sys.platform.startswith("linux"):
        raise StatusError(
            "UNAVAILABLE", f"CPU executables are ELF images, which {sys.platform} does not load"
        )
    with work_folder() as folder:
        path = Path(folder) / "library.so"
        path.write_bytes(data)
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            raise _unusable(str(error).partition(": ")[2]) from None


def _unusable(reason: str) -> StatusError:
    return StatusError("INVALID_ARGUMENT", f"no usable CPU executable: {reason}")
