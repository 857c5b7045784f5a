"""Compute pipeline states."""

import logging
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits

from ....observe import current_watch
from ..errors import MetalError, MetalValidationError
from ..observer import MetalObserver
from ..structs import MTLSize
from ..worker import at_work, closing, compiling
from .budget import report_grid, report_memory
from .linked_functions import FunctionTables, linked_names
from .reflection import BINDING_TYPES

if TYPE_CHECKING:
    from assay.compiler.msl import Argument
    from assay.sim.simt import Executable

    from ..device import MTLDevice
    from .library import MTLFunction

_LIMITS = limits()
_log = logging.getLogger(__name__)
_NONE: frozenset[str] = frozenset()
_RESOURCES = ("texture", "sampler", "function_table", "tensor")
Size = tuple[int, int, int]
# What an encoder has for a texture or sampler: (call, kernel's name, argument) to an address.
FindResource = Callable[[str, str, "Argument"], int]


# Bounds of the engine: indices fit 32 bits, and a grid ends within hours.
_MOST_THREADS = (1 << 31) - 1
_MOST_THREADGROUPS = (1 << 24) - 1
_MOST_THREADS_IN_ALL = 1 << 40
# Dispatches of so few simdgroups take code that is made quickly, the first so many times.
_SMALL_SIMDGROUPS = 256
_SMALL_RUNS = 16


class UnsupportedArgument(MetalError):
    """The kernel takes something that is not emulated."""


class GridError(MetalError):
    """A grid is too large to be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """What the encoder must have set for one argument: `size` and `alignment` are in bytes."""

    is_buffer: bool
    index: int
    name: str
    size: int
    alignment: int
    is_written: bool
    is_used: bool
    resource: "Argument | None"


@dataclass(slots=True)
class Binding:
    """What a buffer index holds: address of its first byte, bytes from there on, offset in it.

    `is_inline` bytes were set by setBytes_length_atIndex_ and cannot be written. Not frozen:
    frozen instances cost three times as much to make, and each binding of each dispatch is one.
    """

    address: int
    length: int
    offset: int
    is_inline: bool


# What setBuffer_offset_atIndex_ with None binds: an address of no memory, as large as any argument.
NOTHING = Binding(0, sys.maxsize, 0, False)


class MTLComputePipelineState(FunctionTables):
    """A kernel ready to run. Code for a threadgroup size is made when that size is first run."""

    def __init__(
        self,
        device: "MTLDevice",
        function: "MTLFunction",
        *,
        label: str | None = None,
        most_threads: int = 0,
        whole_simdgroups: bool = False,
        required_size: Size = (0, 0, 0),
        in_indirect: bool = False,
        linked: "Sequence[MTLFunction]" = (),
    ):
        where = "MTLDevice.newComputePipelineStateWithDescriptor_options_reflection_error_"
        kernel = function.compiled_with(linked_names(where, function, linked))
        self._linked = tuple(linked)
        self._device = device
        self._label = label
        self.function = function
        self.kernel = kernel
        self.program = kernel.program()
        untouched = self.program.needs.untouched
        self.slots = [
            _slot(kernel.name, argument, is_used=number not in untouched)
            for number, argument in enumerate(kernel.arguments)
        ]
        self._most_threads = min(
            _LIMITS.threads_per_threadgroup,
            most_threads or _LIMITS.threads_per_threadgroup,
            kernel.max_total_threads_per_threadgroup or _LIMITS.threads_per_threadgroup,
        )
        self.logs = kernel.logs
        self._whole_simdgroups = whole_simdgroups
        self._required_size = required_size
        self._in_indirect = in_indirect
        self.follows_pointers = self.program.needs.follows_pointers
        self._static_memory = self.program.static_threadgroup_memory
        self._executables: dict[tuple[Size, frozenset[str], bool], Executable] = {}
        self._small_runs = 0
        if self._static_memory > _LIMITS.threadgroup_memory:
            report_memory(
                kernel, self._static_memory, self._static_memory, _LIMITS.threadgroup_memory
            )
            raise MetalError(
                f"kernel {kernel.name!r} declares {self._static_memory} B of threadgroup memory; "
                f"a threadgroup has {_LIMITS.threadgroup_memory} B"
            )
        if any(required_size):
            self.check_size("MTLComputePipelineState", required_size)
            device.specialiser.submit(partial(self._prepare, required_size))
        watch = current_watch()
        if watch is not None:
            for observer in watch.of(MetalObserver):  # type: ignore[type-abstract]
                observer.pipeline_made(self)

    def device(self) -> "MTLDevice":
        """The device that the kernel runs on."""
        return self._device

    def maxTotalThreadsPerThreadgroup(self) -> int:
        """The most threads that a threadgroup may have.

        Deviation: registers are not counted, so only limits that are stated lower it.
        """
        return self._most_threads

    def threadExecutionWidth(self) -> int:
        """Threads per simdgroup."""
        return _LIMITS.thread_execution_width

    def requiredThreadsPerThreadgroup(self) -> MTLSize:
        """The one size that threadgroups must have; (0, 0, 0) for any."""
        return MTLSize(*self._required_size)

    def staticThreadgroupMemoryLength(self) -> int:
        """Bytes of threadgroup memory that the kernel declares itself."""
        return self._static_memory

    def supportIndirectCommandBuffers(self) -> bool:
        """Whether indirect command buffers may hold the kernel, as the descriptor chose."""
        return self._in_indirect

    def executable_for(
        self, size: Size, observers: frozenset[str] = _NONE, *, quick: bool = False
    ) -> "Executable":
        """The code for a size of threadgroup, made when it is first asked for.

        `observers` names the checks that are to watch it; `quick` code is made sooner than it
        would be, and runs longer.
        """
        key = (size, observers, quick)
        executable = self._executables.get(key)
        if executable is None:
            with at_work(compiling):
                executable = self.program.specialise(size, observers, quick=quick)
            self._executables[key] = executable
        return executable

    def has_executable(self, size: Size) -> bool:
        """Whether the code for a size of threadgroup is made, for a run without checks."""
        return (size, _NONE, False) in self._executables

    def watched_executable(
        self, size: Size, observers: frozenset[str], threadgroups: int
    ) -> "Executable":
        """The code for so many threadgroups under checks.

        The first small dispatches take code that is made quickly: they are over sooner than better
        code would be made, unless it is there already.
        """
        simdgroups = threadgroups * -(-math.prod(size) // _LIMITS.thread_execution_width)
        is_small = bool(observers) and simdgroups <= _SMALL_SIMDGROUPS
        is_made = (size, observers, False) in self._executables
        quick = is_small and not is_made and self._small_runs < _SMALL_RUNS
        self._small_runs += is_small
        return self.executable_for(size, observers, quick=quick)

    def _prepare(self, size: Size) -> None:
        """Make code ahead of the first dispatch."""
        if closing.is_set():
            return
        try:
            self.executable_for(size)
        # The first dispatch asks again, and there the error has a place to go.
        except Exception as error:
            _log.debug("no code for %s yet", size, exc_info=error)

    def check_size(self, where: str, size: Size) -> None:
        """Raises MetalValidationError for a threadgroup that the kernel does not allow."""
        width, height, depth = size
        threads = width * height * depth
        if not 0 < threads <= self._most_threads:
            told = (
                f"threadsPerThreadgroup is {size}, {threads} threads; kernel "
                f"{self.kernel.name!r} allows 1..{self._most_threads} "
                "(maxTotalThreadsPerThreadgroup)"
            )
            report_grid(self.kernel, told)
            raise MetalValidationError(f"{where}: {told}")
        if any(self._required_size) and size != self._required_size:
            raise MetalValidationError(
                f"{where}: threadsPerThreadgroup is {size}; the pipeline descriptor of kernel "
                f"{self.kernel.name!r} requires {tuple(self._required_size)}"
            )
        if self._whole_simdgroups and threads % _LIMITS.thread_execution_width:
            raise MetalValidationError(
                f"{where}: {threads} threads per threadgroup are not a multiple of "
                f"{_LIMITS.thread_execution_width}, as the pipeline descriptor promised"
            )

    def check_grid(self, what: Callable[[], str], groups: Size, size: Size) -> None:
        """Raises GridError when a grid of threadgroups of a size, called `what()`, is too large."""
        x, y, z = groups[0] * size[0], groups[1] * size[1], groups[2] * size[2]
        if (
            max(groups) <= _MOST_THREADGROUPS
            and max(x, y, z) <= _MOST_THREADS
            and x * y * z <= _MOST_THREADS_IN_ALL
        ):
            return
        told = (
            f"{what()} of {size} threads is too large; each direction may have "
            f"{_MOST_THREADGROUPS} threadgroups and {_MOST_THREADS} threads, and all directions "
            f"together {_MOST_THREADS_IN_ALL} threads"
        )
        report_grid(self.kernel, told)
        raise GridError(told)

    def gather_arguments(
        self,
        where: str,
        buffers: Mapping[int, Binding],
        threadgroup_lengths: Mapping[int, int],
        find_resource: FindResource,
    ) -> list[int]:
        """What the engine takes, in its order. Raises MetalValidationError."""
        arguments = []
        threadgroup_memory = self._static_memory
        for slot in self.slots:
            if slot.is_buffer:
                bound = buffers.get(slot.index)
                if (
                    bound is None
                    or bound.length < slot.size
                    or bound.offset % slot.alignment
                    or (bound.is_inline and slot.is_written)
                ):
                    if bound is not None or slot.is_used:
                        raise self._bad_buffer(where, slot, bound)
                    bound = NOTHING
                arguments.append(bound.address)
            elif slot.resource is not None:
                found = 0
                if slot.is_used:
                    found = find_resource(where, self.kernel.name, slot.resource)
                arguments.append(found)
            else:
                length = threadgroup_lengths.get(slot.index, 0)
                if slot.is_used and (not length or length < slot.size):
                    raise self._bad_threadgroup(where, slot, length)
                threadgroup_memory += length
                arguments.append(length)
        if threadgroup_memory > _LIMITS.threadgroup_memory:
            report_memory(
                self.kernel, self._static_memory, threadgroup_memory, _LIMITS.threadgroup_memory
            )
            raise MetalValidationError(
                f"{where}: kernel {self.kernel.name!r} needs {threadgroup_memory} B of "
                f"threadgroup memory, {self._static_memory} B of them declared in the kernel; a "
                f"threadgroup has {_LIMITS.threadgroup_memory} B"
            )
        return arguments

    def _bad_buffer(self, where: str, slot: _Slot, bound: Binding | None) -> MetalValidationError:
        what = (
            f"{where}: kernel {self.kernel.name!r}, argument {slot.name!r} [[buffer({slot.index})]]"
        )
        if bound is None:
            return MetalValidationError(
                f"{what}: no buffer is set; call setBuffer_offset_atIndex_ or "
                "setBytes_length_atIndex_ first"
            )
        if bound.length < slot.size:
            return MetalValidationError(
                f"{what} has {slot.size} B, but only {bound.length} B are set, from offset "
                f"{bound.offset} on"
            )
        if bound.offset % slot.alignment:
            return MetalValidationError(
                f"{what}: offset {bound.offset} is not a multiple of {slot.alignment}, as the "
                "argument needs"
            )
        return MetalValidationError(
            f"{what} is writable, but setBytes_length_atIndex_ sets bytes that can only be read; "
            "declare it const or constant, or set a buffer"
        )

    def _bad_threadgroup(self, where: str, slot: _Slot, length: int) -> MetalValidationError:
        return MetalValidationError(
            f"{where}: kernel {self.kernel.name!r}, argument {slot.name!r} "
            f"[[threadgroup({slot.index})]] has {length} B and needs {slot.size or 'some'}; call "
            "setThreadgroupMemoryLength_atIndex_"
        )


def _slot(kernel: str, argument: "Argument", *, is_used: bool) -> _Slot:
    if argument.kind not in BINDING_TYPES:
        raise UnsupportedArgument(
            f"kernel {kernel!r}, argument {argument.name!r}: {argument.kind}s are not emulated; "
            "pass the data in a buffer"
        )
    alignment = min(argument.alignment or 1, _LIMITS.device_offset_alignment_at_most)
    if argument.address_space == "constant":
        alignment = max(alignment, _LIMITS.constant_offset_alignment)
    return _Slot(
        is_buffer=argument.kind == "buffer",
        index=argument.index,
        name=argument.name,
        size=argument.size,
        alignment=alignment,
        is_written=argument.access != "read",
        is_used=is_used,
        resource=argument if argument.kind in _RESOURCES else None,
    )
