"""Turns the record that compiled code leaves behind into a fault that people understand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..ir import context as c
from ..ir.faults import WRONG_SPACE, FaultPlace, KernelFault
from ..ir.llvm_types import DEVICE_SPACE
from ..ir.shape import LANES, Shape
from .access_sites import AccessSite
from .executable import Executable
from .memory import OFFSET_MASK, Memory

_KINDS = {
    c.FAULT_READ: "read",
    c.FAULT_WRITE: "write",
    c.FAULT_MISALIGNED: "misaligned atomic access",
}
_UNNAMED = "a buffer without a label"


def explain_fault(
    executable: Executable,
    memory: Memory,
    arguments: Sequence[tuple[int, int, int]],
    record: NDArray[np.int32],
    address: int,
) -> KernelFault:
    """The fault of a record as `context` lays it out.

    Args:
        executable: the kernel that left the record.
        memory: the device's buffers.
        arguments: (host address, bytes, GPU address) of each argument.
        record: kind, site, lane, simdgroup and threadgroup of the fault.
        address: GPU address that was accessed.
    """
    kind, number, running, simdgroup = (int(x) for x in record[:4])
    lane = executable.lanes[running]
    group = (int(record[4]), int(record[5]), int(record[6]))
    place = place_of(executable.shape, group, simdgroup, lane)
    access = executable.access(number)
    name = executable.program.name
    if kind == c.FAULT_RUNAWAY:
        return KernelFault(
            kernel=name,
            kind="runaway",
            site=access.site,
            buffer="",
            offset=0,
            size=0,
            length=-1,
            place=place,
        )
    words = _KINDS[kind]
    address &= (1 << 64) - 1
    near = _bound(arguments, access) or address
    absent = memory.absence(near)
    buffer, offset, length = _where(memory, arguments, address, access)
    if absent is not None and not buffer:
        buffer = _UNNAMED
    if kind != c.FAULT_MISALIGNED and absent is not None:
        words = f"{absent.kind} {words}"
    elif kind != c.FAULT_MISALIGNED and _is_in_wrong_space(address, access):
        words = f"{WRONG_SPACE} {words}"
    elif kind != c.FAULT_MISALIGNED:
        null = _handle(near) == 0 or buffer == ""
        words = f"{'null' if null else 'out-of-bounds'} {words}"
    return KernelFault(
        kernel=name,
        kind=words,
        site=access.site,
        buffer=buffer or access.memory,
        offset=offset,
        size=access.size,
        length=length,
        place=place,
        why="" if absent is None else absent.why,
    )


def _bound(arguments: Sequence[tuple[int, int, int]], access: AccessSite) -> int:
    """GPU address of the buffer argument that is accessed; 0 if it is none, or not bound."""
    address = arguments[access.parameter][2] if access.parameter >= 0 else 0
    return address if address >> c.HANDLE_SHIFT >= c.FIRST_BUFFER_HANDLE else 0


def _handle(address: int) -> int:
    """The handle of what an address is in, or a little in front of."""
    return ((address + (1 << (c.HANDLE_SHIFT - 1))) >> c.HANDLE_SHIFT) & 0xFFFF


def _is_in_wrong_space(address: int, access: AccessSite) -> bool:
    """Whether a device pointer holds the address of memory that is no buffer."""
    handle = (address >> c.HANDLE_SHIFT) & 0xFFFF
    return access.space == DEVICE_SPACE and 0 < handle < c.FIRST_BUFFER_HANDLE


def _where(
    memory: Memory,
    arguments: Sequence[tuple[int, int, int]],
    address: int,
    access: AccessSite,
) -> tuple[str, int, int]:
    """(name, byte offset, length) of the memory that was missed; length -1 if not known."""
    handle = _handle(address)
    offset = address & OFFSET_MASK
    if offset >> (c.HANDLE_SHIFT - 1):
        offset -= 1 << c.HANDLE_SHIFT
    if handle in (c.THREADGROUP_HANDLE, c.PRIVATE_HANDLE, c.CONSTANT_HANDLE):
        start, length = access.start, access.length
        if access.parameter >= 0:
            _, length, argument = arguments[access.parameter]
            start = argument & OFFSET_MASK
        return access.memory, offset - start, length
    bound = _bound(arguments, access)
    found, offset, length = memory.describe(bound or address)
    if bound:  # however far from it the address is, even beyond what an address can say
        offset += ((address - bound + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
    return _named(found, access, is_there=length >= 0), offset, length


def _named(buffer: str, access: AccessSite, *, is_there: bool) -> str:
    """What a message calls a buffer; "" if there never was one."""
    if access.parameter < 0 or buffer == access.memory:
        return buffer or (_UNNAMED if is_there else "")
    argument = f"argument '{access.memory}'"
    if buffer:
        return f"{buffer} ({argument})"
    return argument if is_there else ""


def place_of(shape: Shape, group: tuple[int, int, int], simdgroup: int, lane: int) -> FaultPlace:
    """Positions of a thread."""
    index = simdgroup * LANES + lane
    width, height, _ = shape.size
    local = (index % width, index // width % height, index // (width * height))
    x, y, z = (g * n + p for g, n, p in zip(group, shape.nominal, local, strict=True))
    return FaultPlace(
        thread_position_in_grid=(x, y, z),
        thread_position_in_threadgroup=local,
        threadgroup_position_in_grid=group,
        simdgroup=simdgroup,
        lane=lane,
    )
