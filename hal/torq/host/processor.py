"""The board's own processor, emulated by unicorn: it can touch what it is given, and nothing else.

Memory of the program is where the NPU sees it, so that pointers are XRAM addresses; image, stack
and arguments lie above 4 GiB.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...status import StatusError
from .image import EXECUTABLE, PAGE, WRITABLE, Image, read_image
from .watch_code import READ, WRITTEN, Fuel, Marked, Region, load_watch

Bytes = NDArray[np.uint8]
IMAGE = 1 << 36
_STACK = 1 << 37
_STACK_BYTES = 1 << 20
_ARGUMENTS = 1 << 38
_LIBRARY = 1 << 39
"""Where things are that are not XRAM."""
_MEMSET = (
    0x4E010C20,  # dup v0.16b, w1
    0xAA0003E3,  # mov x3, x0
    0xF1010042,  # subs x2, x2, #64
    0x540000A3,  # b.lo 1f
    0xAC810060,  # 0: stp q0, q0, [x3], #32
    0xAC810060,  # stp q0, q0, [x3], #32
    0xF1010042,  # subs x2, x2, #64
    0x54FFFFA2,  # b.hs 0b
    0xB1010042,  # 1: adds x2, x2, #64
    0x54000080,  # b.eq 3f
    0x38001461,  # 2: strb w1, [x3], #1
    0xF1000442,  # subs x2, x2, #1
    0x54FFFFC1,  # b.ne 2b
    0xD65F03C0,  # 3: ret
)
IMPORTS: Mapping[str, int] = {"memset": _LIBRARY}
"""What host code may call of a C library, which is all that the vendor's compiler has it call."""
_RETURN = _LIBRARY + PAGE // 2
"""Where functions return to; nothing is executed there."""
_ENVIRONMENT_BYTES = 96
_DISPATCH_BYTES = 48
_WORKGROUP_BYTES = 32
_BINDING_COUNT, _BINDINGS = 23, 32
"""Places in `iree_hal_executable_dispatch_state_v0_t`."""
_MOST_BINDINGS = 255
FUEL = 4_000_000_000
"""Instructions of one call: 50 s of a core, at the 78 million a second that were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one call did: instructions, and (start, stop) of XRAM that it read before it wrote it,
    and that it wrote, if that was asked for."""

    instructions: int
    read: tuple[tuple[int, int], ...] = ()
    written: tuple[tuple[int, int], ...] = ()


class HostProcessor:
    """Runs functions of one shared object, whose variables live as long as this does.

    Raises StatusError if the object cannot be run, or unicorn is not installed.
    """

    def __init__(self, code: bytes | memoryview, name: str, *, fuel: int = FUEL) -> None:
        self._name = name
        self._image = read_image(code, IMAGE, IMPORTS, name)
        self._unicorn, self._processor = _engine(name)
        self._fuel = Fuel(most=fuel)
        self._trouble = ""
        self._map()
        self._follow()
        self._fresh = self._processor.context_save()
        """Registers as they are before each call."""

    def has(self, function: str) -> bool:
        """Whether the object has a function of this name."""
        return function in self._image.functions

    def call(
        self,
        function: str,
        arguments: Sequence[int],
        memory: Sequence[tuple[int, Bytes]],
        *,
        marks: bool = False,
    ) -> Ran:
        """Calls a function by IREE's convention for executables.

        Args:
            function: its name.
            arguments: addresses of its buffers.
            memory: (address, bytes) of the XRAM that it may touch, in whole pages.
            marks: whether to note what it touches.

        Raises:
            StatusError: if there is no such function, or it does what is not allowed: with the
                address, and the place in the object.
        """
        start = self._image.functions.get(function)
        if start is None:
            listed = ", ".join(sorted(self._image.functions)) or "none"
            raise StatusError(
                "NOT_FOUND",
                f"{self._name}: host code has no function {function!r}; it has {listed}",
            )
        if len(arguments) > _MOST_BINDINGS:
            raise StatusError("INVALID_ARGUMENT", f"{self._name}: {len(arguments)} arguments")
        registers = self._written(arguments)
        self._fuel.used = 0
        with self._mapped(memory), self._marked(memory if marks else ()) as noted:
            self._run(function, IMAGE + start, registers)
        read, written = (_runs(noted, bit) for bit in (READ, WRITTEN))
        return Ran(instructions=int(self._fuel.used), read=read, written=written)

    def _map(self) -> None:
        """Image, stack, arguments and library, each with no more rights than it needs."""
        uc = self._unicorn
        for start, stop, rights in self._pages(self._image):
            self._processor.mem_map(IMAGE + start, stop - start, rights)
            self._processor.mem_write(IMAGE + start, self._image.memory[start:stop])
        self._processor.mem_map(_STACK, _STACK_BYTES, uc.UC_PROT_READ | uc.UC_PROT_WRITE)
        self._processor.mem_map(_ARGUMENTS, PAGE, uc.UC_PROT_READ)
        self._processor.mem_map(_LIBRARY, PAGE, uc.UC_PROT_READ | uc.UC_PROT_EXEC)
        self._processor.mem_write(_LIBRARY, struct.pack(f"<{len(_MEMSET)}I", *_MEMSET))

    def _pages(self, image: Image) -> Iterator[tuple[int, int, int]]:
        """(start, stop, rights) of each page; segments may share one."""
        uc = self._unicorn
        rights: dict[int, int] = {}
        for segment in image.segments:
            wanted = uc.UC_PROT_READ
            wanted |= uc.UC_PROT_EXEC if segment.flags & EXECUTABLE else 0
            wanted |= uc.UC_PROT_WRITE if segment.flags & WRITABLE else 0
            for page in range(segment.start, segment.stop, PAGE):
                rights[page] = rights.get(page, 0) | wanted
        yield from ((page, page + PAGE, allowed) for page, allowed in rights.items())

    def _follow(self) -> None:
        """Has instructions counted, and notes what goes wrong."""
        uc = self._unicorn
        self._fuel.stop = self._processor.stop_address
        address = load_watch().address("count_block")
        self._processor.call_compiled(uc.UC_HOOK_BLOCK, address, self._fuel)
        self._processor.hook_add(uc.UC_HOOK_MEM_INVALID, self._refuse)
        self._processor.hook_add(uc.UC_HOOK_INTR, self._interrupt)

    def _refuse(self, _: Any, access: int, address: int, size: int, __: int, ___: object) -> bool:
        uc = self._unicorn
        does = {
            uc.UC_MEM_READ_UNMAPPED: "reads",
            uc.UC_MEM_WRITE_UNMAPPED: "writes",
            uc.UC_MEM_FETCH_UNMAPPED: "jumps to",
            uc.UC_MEM_READ_PROT: "reads",
            uc.UC_MEM_WRITE_PROT: "writes",
            uc.UC_MEM_FETCH_PROT: "jumps to",
        }.get(access, "touches")
        self._trouble = (
            f"{does} {size} bytes at {address & 0xFFFFFFFFFFFFFFFF:#x}, which is not among the "
            "memory that it may use so: XRAM of the program, its stack, its image"
        )
        return False

    def _interrupt(self, processor: Any, number: int, _: object) -> None:
        self._trouble = (
            f"ends with exception {number}: a system call, or an instruction that it must not use"
        )
        processor.emu_stop()

    def _written(self, arguments: Sequence[int]) -> tuple[int, int, int]:
        """Puts the three structures that functions are called with into memory."""
        dispatch = _ARGUMENTS + _ENVIRONMENT_BYTES
        workgroup = dispatch + _DISPATCH_BYTES
        pointers = workgroup + _WORKGROUP_BYTES
        data = bytearray(pointers - _ARGUMENTS) + struct.pack(f"<{len(arguments)}Q", *arguments)
        data[_ENVIRONMENT_BYTES + _BINDING_COUNT] = len(arguments)
        struct.pack_into("<Q", data, _ENVIRONMENT_BYTES + _BINDINGS, pointers)
        self._processor.mem_write(_ARGUMENTS, bytes(data))
        return _ARGUMENTS, dispatch, workgroup

    @contextmanager
    def _mapped(self, memory: Sequence[tuple[int, Bytes]]) -> Iterator[None]:
        """Lets functions touch these very bytes meanwhile."""
        uc = self._unicorn
        rights = uc.UC_PROT_READ | uc.UC_PROT_WRITE
        for address, data in memory:
            self._processor.mem_map_ptr(address, len(data), rights, data.ctypes.data)
        try:
            yield
        finally:
            for address, data in memory:
                self._processor.mem_unmap(address, len(data))

    @contextmanager
    def _marked(self, memory: Sequence[tuple[int, Bytes]]) -> Iterator[list[tuple[int, Bytes]]]:
        """Notes accesses meanwhile: (address, a mark per byte)."""
        noted = [(address, np.zeros(len(data), np.uint8)) for address, data in memory]
        if not noted:
            yield noted
            return
        uc = self._unicorn
        regions = (Region * len(noted))(
            *(Region(start=a, size=len(marks), marks=marks.ctypes.data) for a, marks in noted)
        )
        marked = Marked(count=len(noted), regions=ctypes.addressof(regions))
        address = load_watch().address("mark_access")
        kinds = uc.UC_HOOK_MEM_READ | uc.UC_HOOK_MEM_WRITE
        handle = self._processor.call_compiled(kinds, address, marked)
        try:
            yield noted
        finally:
            self._processor.call_no_more(handle)

    def _run(self, function: str, start: int, registers: tuple[int, int, int]) -> None:
        from unicorn import arm64_const as arm

        processor, self._trouble = self._processor, ""
        processor.context_restore(self._fresh)
        for register, value in zip(
            (arm.UC_ARM64_REG_X0, arm.UC_ARM64_REG_X1, arm.UC_ARM64_REG_X2), registers, strict=True
        ):
            processor.reg_write(register, value)
        processor.reg_write(arm.UC_ARM64_REG_SP, _STACK + _STACK_BYTES)
        processor.reg_write(arm.UC_ARM64_REG_LR, _RETURN)
        try:
            processor.emu_start(start, _RETURN)
        except self._unicorn.UcError as error:
            self._trouble = self._trouble or f"ends with {error}"
        place = processor.reg_read(arm.UC_ARM64_REG_PC)
        if not self._trouble and place == _RETURN:
            return
        where = f"{self._name}: host function {function!r}"
        if not self._trouble and self._fuel.used > self._fuel.most:
            raise StatusError(
                "DEADLINE_EXCEEDED", f"{where} did not end within {self._fuel.most:,} instructions"
            )
        inside = 0 <= place - IMAGE < len(self._image.memory)
        there = f"at {place - IMAGE:#x} of its object" if inside else f"at {place:#x}"
        trouble = self._trouble or "runs into an instruction that this processor does not have"
        raise StatusError("ABORTED", f"{where} {trouble} ({there})")


def _runs(noted: Sequence[tuple[int, Bytes]], bit: int) -> tuple[tuple[int, int], ...]:
    """(start, stop) of neighbouring bytes that have a mark."""
    found = []
    for address, marks in noted:
        edges = np.flatnonzero(np.diff(np.pad((marks & bit != 0).view(np.int8), 1)))
        found += [(address + int(a), address + int(b)) for a, b in edges.reshape(-1, 2)]
    return tuple(found)


def _engine(name: str) -> tuple[Any, Any]:
    """Unicorn, and an emulated processor of it."""
    try:
        import unicorn

        from .engine import Engine
    except ImportError as error:
        raise StatusError(
            "UNAVAILABLE",
            f"{name}: has machine code for the board's own processor, which takes an emulator of "
            "it: install the extra `host` (the package unicorn), or give Python functions for it "
            "(host_functions), or leave it out (--skip-host-code)",
        ) from error
    return unicorn, Engine(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_LITTLE_ENDIAN)
