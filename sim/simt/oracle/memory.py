"""Memory as the reference engine sees it: arrays of bytes behind handles, every access checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..ir.context import CONSTANT_HANDLE as CONSTANTS
from ..ir.context import HANDLE_SHIFT as OFFSET_BITS
from ..ir.context import PRIVATE_HANDLE as PRIVATE
from ..ir.context import THREADGROUP_HANDLE as THREADGROUP
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import (
    BufferRoot,
    ConstantRoot,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)

Bytes = npt.NDArray[np.uint8]
OFFSET_MASK = (1 << OFFSET_BITS) - 1


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of memory: `length` bytes from `start` of `data`; offsets count from `start`."""

    data: Bytes
    start: int
    length: int
    name: str


@dataclass(frozen=True, slots=True)
class Null:
    """What an address that names no memory leads to."""

    name: str


class BadAccess(Exception):
    """An access outside of its region; the lane makes a `KernelFault` of it."""

    def __init__(self, kind: str, name: str, offset: int, size: int, length: int) -> None:
        self.kind, self.name = kind, name
        self.offset, self.size, self.length = offset, size, length
        super().__init__(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadgroupMemory:
    """What the threads of a threadgroup share."""

    arena: Bytes
    parameter_starts: Mapping[int, tuple[int, int]]  # parameter -> (start in the arena, bytes)


class Memories:
    """Everything that one lane can address."""

    def __init__(
        self,
        *,
        buffers: Mapping[int, tuple[Bytes, str]],
        arguments: Mapping[int, int],
        constants: Bytes,
        threadgroup: ThreadgroupMemory,
        private: Bytes,
    ) -> None:
        """Join them.

        Args:
            buffers: bytes and name of each buffer by its handle.
            arguments: GPU address of each buffer parameter by the parameter's number.
            constants: the program's constant tables.
            threadgroup: memory of the lane's threadgroup.
            private: the lane's own arena.
        """
        self._buffers = buffers
        self._arguments = arguments
        self._constants = constants
        self._threadgroup = threadgroup
        self._private = private

    def address(self, root: Root) -> int:
        """The GPU address where a root other than a computed address starts."""
        match root:
            case BufferRoot(parameter=parameter):
                return self._arguments[parameter]
            case ThreadgroupRoot(start):
                return THREADGROUP << OFFSET_BITS | start
            case ThreadgroupParameterRoot(parameter):
                start, _ = self._threadgroup.parameter_starts[parameter]
                return THREADGROUP << OFFSET_BITS | start
            case ThreadgroupArenaRoot():
                return THREADGROUP << OFFSET_BITS
            case PrivateRoot(start):
                return PRIVATE << OFFSET_BITS | start
            case PrivateArenaRoot():
                return PRIVATE << OFFSET_BITS
            case ConstantRoot(start):
                return CONSTANTS << OFFSET_BITS | start
        raise ValueError(f"{root} has no address of its own")

    def region(self, root: Root) -> Region:
        """The memory of a root other than a buffer or a computed address."""
        arena, private = self._threadgroup.arena, self._private
        match root:
            case ThreadgroupRoot(start, size, name):
                return Region(arena, start, size, name)
            case ThreadgroupParameterRoot(parameter, name):
                return Region(arena, *self._threadgroup.parameter_starts[parameter], name)
            case ThreadgroupArenaRoot(name):
                return Region(arena, 0, len(arena), name)
            case PrivateRoot(start, size, name):
                return Region(private, start, size, name)
            case PrivateArenaRoot(name):
                return Region(private, 0, len(private), name)
            case ConstantRoot(start, size, name):
                return Region(self._constants, start, size, name)
        raise ValueError(f"{root} is found by its address")

    def at(self, address: int, name: str) -> tuple[Region | Null, int]:
        """The memory that a GPU address points into, and the offset in it."""
        handle, offset = address >> OFFSET_BITS & 0xFFFF, address & OFFSET_MASK
        if offset >> (OFFSET_BITS - 1):
            offset -= 1 << OFFSET_BITS  # a step back from a buffer's first byte
            handle = handle + 1 & 0xFFFF
        arenas = {
            PRIVATE: (self._private, PrivateArenaRoot().name),
            THREADGROUP: (self._threadgroup.arena, ThreadgroupArenaRoot().name),
            CONSTANTS: (self._constants, "constant memory"),
        }
        data, found = arenas.get(handle) or self._buffers.get(handle) or (None, "")
        return (Region(data, 0, len(data), found) if data is not None else Null(name)), offset

    def find(self, root: Root, base: int | None, offset: int, size: int, *, write: bool) -> Bytes:
        """The bytes of one access, as a view.

        Args:
            root: the memory meant.
            base: address where it starts, of a computed address only.
            offset: signed byte offset from there.
            size: bytes accessed.
            write: whether it writes.

        Raises:
            BadAccess: if some byte is not there.
        """
        region: Region | Null
        if base is None and not isinstance(root, BufferRoot):
            region = self.region(root)
        else:
            start = self._arguments[root.parameter] if isinstance(root, BufferRoot) else base
            assert start is not None
            region, offset = self.at(start + offset & (1 << 64) - 1, root.name)
        access = "write" if write else "read"
        if isinstance(region, Null):
            raise BadAccess(f"null {access}", region.name, offset, size, 0)
        if not 0 <= offset <= region.length - size:
            raise BadAccess(f"out-of-bounds {access}", region.name, offset, size, region.length)
        return region.data[region.start + offset : region.start + offset + size]


def element_size(type: str) -> int:
    """Bytes of a scalar in memory."""
    return size_of(Scalar(type))
