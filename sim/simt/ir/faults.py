"""What can go wrong with a kernel, in words for the person who wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from ...site import Site

_NEAR = 1 << 20  # elements before the first
_LARGEST = 1 << 40  # bytes; no buffer of a GPU is as large
WRONG_SPACE = "wrong-address-space"


class UnsupportedKernel(Exception):
    """The kernel uses something the engine cannot execute; says what, and where in the source."""

    def __init__(self, reason: str, site: Site | None = None, kernel: str = "") -> None:
        self.reason = reason
        self.site = site or Site()
        self.kernel = kernel
        where = f"{self.site}: " if self.site.file else ""
        super().__init__(f"{where}{f'kernel {kernel!r}: ' if kernel else ''}{reason}")


class UndefinedFunction(UnsupportedKernel):
    """The kernel calls a function that is only declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlace:
    """Who did it: positions are (x, y, z), in threads or threadgroups."""

    thread_position_in_grid: tuple[int, int, int]
    thread_position_in_threadgroup: tuple[int, int, int]
    threadgroup_position_in_grid: tuple[int, int, int]
    simdgroup: int
    lane: int


class KernelFault(Exception):
    """A kernel did what it must not do, and was stopped.

    Attributes:
        kernel: name of the kernel.
        kind: `out-of-bounds`, `null`, `use-after-free` or `not-resident` with ` read` or
            ` write`, `misaligned atomic access`, or `runaway`.
        site: source line of the access or of the loop.
        buffer: name of the buffer, threadgroup array or private array; "" for `runaway`.
        offset: byte offset of the access from the start of that memory (may be negative).
        size: bytes accessed.
        length: bytes that are there.
        place: thread that did it.
        why: what is the matter with the buffer, as a clause; "" if its length says it all.
    """

    def __init__(
        self,
        *,
        kernel: str,
        kind: str,
        site: Site,
        buffer: str,
        offset: int,
        size: int,
        length: int,
        place: FaultPlace,
        why: str = "",
    ) -> None:
        self.kernel = kernel
        self.kind = kind
        self.site = site
        self.buffer = buffer
        self.offset = offset
        self.size = size
        self.length = length
        self.place = place
        self.why = why
        super().__init__(self._message())

    @property
    def thread_position_in_grid(self) -> tuple[int, int, int]:
        """Position of the thread in the grid."""
        return self.place.thread_position_in_grid

    def _message(self) -> str:
        lines = [f"{self.site}: {self.what}"]
        lines += [
            f"  called from {outer.function or 'the kernel'} at {outer}"
            for outer in self.site.inlined
        ]
        place = self.place
        lines.append(
            f"  kernel {self.kernel!r}, thread {place.thread_position_in_grid} in grid, "
            f"{place.thread_position_in_threadgroup} of threadgroup "
            f"{place.threadgroup_position_in_grid}, simdgroup {place.simdgroup}, lane {place.lane}"
        )
        return "\n".join(lines)

    @property
    def is_before(self) -> bool:
        """Whether the access is in front of its memory: an index of 32 bits may have wrapped."""
        element = self.offset // max(1, self.size)
        return bool(self.buffer) and (self.offset < 0 or 0 < (1 << 32) - element <= _NEAR)

    @property
    def at_any_size(self) -> bool:
        """Whether the access is outside of its memory, however large that may be."""
        return self.is_before or self.offset >= _LARGEST

    @property
    def what(self) -> str:
        """What happened, in one line without the place."""
        if self.kind == "runaway":
            return (
                "the kernel ran out of fuel: a loop does not end, or needs a larger limit "
                "(ASSAY_FUEL or fuel=)"
            )
        if self.kind.startswith(WRONG_SPACE):
            verb = self.kind.removeprefix(WRONG_SPACE)
            return (
                f"{self.kind}:{verb} of {self.size} bytes through a device pointer that holds the "
                "address of threadgroup, thread or constant memory"
            )
        bytes_ = f"{self.size} byte{'s' if self.size != 1 else ''}"
        if self.kind.startswith("null"):
            deep = ", or functions call themselves deeper than is followed" * self._is_deep
            return f"{self.kind} of {bytes_}: nothing is bound to {self.buffer}{deep}"
        return f"{self.kind} of {bytes_} at byte {self.offset} of {self.buffer}{self._there()}"

    @property
    def _is_deep(self) -> bool:
        """Whether a function called itself on the way."""
        places = [(site.file, site.line, site.column) for site in self.site.inlined]
        return len(set(places)) < len(places)

    def _there(self) -> str:
        if self.why:
            return f", {self.why}"
        return f", which has {self.length} bytes" if self.length >= 0 else ""
