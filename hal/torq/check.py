"""Whether an executable can run on an NPU: versions, addresses, and the order of its actions."""

from __future__ import annotations

from math import prod

from assay.hw.torq.facts.hardware import Hardware, hardware
from assay.hw.torq.facts.machine import memories

from ..status import StatusError
from .format import (
    RUNTIME_VERSION,
    Alloc,
    BufferType,
    Dealloc,
    Executable,
    HostCopy,
    StartHost,
    StartNss,
    WaitHost,
    WaitNss,
)

_XRAM_END = 1 << 32
_MOST_DIMS = 16
_MOST_BUFFERS = 4096
_VERSIONS = (0, RUNTIME_VERSION)
_LARGEST_XRAM = 1 << 29


def check(executable: Executable, npu: Hardware | None = None, name: str = "executable") -> None:
    """Raises StatusError, naming segment, binding or action, when it cannot run on `npu`."""
    npu = npu or hardware()
    if executable.runtime_version not in _VERSIONS:
        raise StatusError(
            "INCOMPATIBLE",
            f"{name}: written for runtime version {executable.runtime_version}; only "
            f"{RUNTIME_VERSION} and the 1.x form (0) are known: compile the model again with "
            "release 2.0 of the Torq compiler",
        )
    _check_made_for(executable.notes.hardware, npu, name)
    if executable.hw_id != npu.hw_id:
        raise StatusError(
            "INCOMPATIBLE",
            f"{name}: compiled for hardware id {executable.hw_id}, and {npu.name} has "
            f"{npu.hw_id}; describe the hardware as <hw_id>:<LRAM in KiB>:<slices>:<css>:<nss>",
        )
    _check_xram(executable, name)
    _check_actions(executable, npu, name)


def _check_made_for(sizes: str, npu: Hardware, name: str) -> None:
    """Whether this is the hardware that the compiler had in mind, if it said so."""
    if sizes and sizes != npu.sizes:
        raise StatusError(
            "INCOMPATIBLE",
            f"{name}: compiled for hardware {sizes} (<hw_id>:<LRAM in KiB>:<slices>:<css>:<nss>), "
            f"and {npu.name} is {npu.sizes}; run it with --torq-hw {sizes}, or compile it again "
            f"with --torq-hw {npu.sizes}",
        )


def _check_xram(executable: Executable, name: str) -> None:
    for index, segment in enumerate(executable.segments):
        if segment.address + segment.size > _XRAM_END:
            raise _wrong(
                name,
                f"segment {index} ends at {segment.address + segment.size:#x}, "
                "outside of the NPU's 32-bit addresses",
            )
    for index, binding in enumerate(executable.bindings):
        if binding.address + binding.size > _XRAM_END:
            raise _wrong(
                name,
                f"binding {index} ends at {binding.address + binding.size:#x}, "
                "outside of the NPU's 32-bit addresses",
            )
        if binding.number >= _MOST_BUFFERS:
            raise _wrong(
                name,
                f"binding {index} is of buffer {binding.number}; there are at most {_MOST_BUFFERS}",
            )
        if binding.read_only and binding.write_only:
            raise _wrong(name, f"binding {index} is both read-only and write-only")
    begin, end = executable.footprint()
    if end - begin > _LARGEST_XRAM:
        raise StatusError(
            "RESOURCE_EXHAUSTED",
            f"{name}: needs {end - begin:,} bytes of XRAM; {_LARGEST_XRAM:,} are emulated",
        )


def _check_actions(executable: Executable, npu: Hardware, name: str) -> None:
    running: str | None = None
    for index, action in enumerate(executable.actions):
        where = f"action {index}"
        if isinstance(action, HostCopy):
            _check_copy(action, npu, name, where)
        elif isinstance(action, StartNss):
            if action.address % 4 or action.address >= npu.lram:
                raise _wrong(
                    name,
                    f"{where} starts at LRAM {action.address:#x}; a multiple of 4 "
                    f"below {npu.lram:#x} is possible",
                )
            if running == "NSS":
                raise _wrong(
                    name,
                    f"{where} starts the NPU, which an earlier action started and "
                    "none has waited for",
                )
            running = "NSS"
        elif isinstance(action, WaitNss):
            if running != "NSS":
                raise _wrong(name, f"{where} waits for the NPU, which no action has started")
            running = None
        elif isinstance(action, Alloc):
            _check_alloc(action, npu, name, where)
        elif isinstance(action, StartHost):
            _check_start_host(action, executable, name, where)
        else:
            assert isinstance(action, WaitHost | Dealloc)


def _check_copy(copy: HostCopy, npu: Hardware, name: str, where: str) -> None:
    ranks = {len(copy.shape), len(copy.source_strides), len(copy.target_strides)}
    if len(ranks) != 1 or len(copy.shape) > _MOST_DIMS:
        raise _wrong(
            name,
            f"{where} copies a shape of {len(copy.shape)} dimensions with "
            f"{len(copy.source_strides)} and {len(copy.target_strides)} strides",
        )
    if copy.direction not in (0, 1):
        raise _wrong(name, f"{where} copies in direction {copy.direction}; 0 and 1 are possible")
    for what, place, address, strides in (
        ("from", copy.source, copy.source_address, copy.source_strides),
        ("to", copy.target, copy.target_address, copy.target_strides),
    ):
        size = extent(copy.shape, strides, copy.element_bytes)
        if address + size > memory_size(place, npu):
            raise _wrong(
                name,
                f"{where} copies {what} {place.name} {address:#x} to "
                f"{address + size:#x}, outside of it",
            )


def _check_alloc(alloc: Alloc, npu: Hardware, name: str, where: str) -> None:
    if alloc.address + alloc.size > memory_size(alloc.buffer_type, npu):
        raise _wrong(
            name,
            f"{where} allocates {alloc.size} bytes at {alloc.buffer_type.name} "
            f"{alloc.address:#x}, outside of it",
        )


def _check_start_host(start: StartHost, executable: Executable, name: str, where: str) -> None:
    if executable.host_code is None:
        raise _wrong(
            name, f"{where} calls host function {start.function!r}, and there is no host code"
        )
    if start.ranks and (
        sum(start.ranks) != len(start.shapes) or len(start.shapes) != len(start.strides)
    ):
        raise _wrong(name, f"{where}: ranks, shapes and strides of its arguments disagree")
    at = 0
    for number, rank in enumerate(start.ranks):
        shape, strides = start.shapes[at : at + rank], start.strides[at : at + rank]
        at += rank
        if rank > _MOST_DIMS or prod(shape) * (strides[-1] if rank else 0) > _LARGEST_XRAM:
            raise _wrong(
                name,
                f"{where}: argument {number} of {rank} dimensions is larger than {_LARGEST_XRAM:,} "
                f"bytes, or has more than {_MOST_DIMS} dimensions",
            )


def extent(shape: tuple[int, ...], strides: tuple[int, ...], element_bytes: int) -> int:
    """Bytes from the first to the last that a strided copy touches; 0 for an empty shape."""
    if 0 in shape:
        return 0
    steps = zip(shape, strides, strict=True)
    return sum((count - 1) * stride for count, stride in steps) + element_bytes


def memory_size(place: BufferType, npu: Hardware) -> int:
    """Bytes of a memory; those of OTHER are not bounded here."""
    if place == BufferType.LRAM:
        return npu.lram
    if place in (BufferType.ITCM, BufferType.DTCM):
        return memories()[place.name].size
    return _XRAM_END


def _wrong(name: str, detail: str) -> StatusError:
    return StatusError("INVALID_ARGUMENT", f"{name}: {detail}")
