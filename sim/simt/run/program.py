"""Kernels as programs: imported once, specialised by threadgroup size, kept on disk.

What makes code is imported late (`generation`): a process that finds all in the cache does without.
"""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...native.disk_cache import DiskCache, digest
from ...native.llvm_host import host_target
from ...native.source_digest import source_digest
from ..analysis.reach import (
    asked_operations,
    follows_pointers,
    untouched_parameters,
    used_parameters,
)
from ..analysis.registers import RegisterEstimate, estimate_registers
from ..emit.tape import TAPE, TAPED_MARKS, prepare
from ..ir.nodes import Function
from ..ir.shape import Shape
from ..read.roots import Parameter
from .access_sites import site_of
from .executable import Coverage, Executable
from .kernel_code import load_common_helpers

# Checks that need a function in which the optimiser has not thrown away what they look for.
_MARKED = frozenset({"init", "shuffle", "uniform", "overflow", "rows", "lanes"})
# Some need one only where the kernel has their marks: races where copies or textures are told apart
# from other accesses, bounds where tensors are indexed.
_MARKED_BY = {"race": b"__assay_access_kind", "bounds": b"__assay_expect_inside"}
# These see reads that the optimiser would drop, whether or not what is read is needed.
_KEEPING = frozenset({"bounds", "race", "init"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a kernel needs of its surroundings; memory in bytes."""

    threadgroup_memory: int
    private_memory: int  # of one thread
    constants: bytes
    serial: bool  # whether threadgroups must run in order for results to repeat
    follows_pointers: bool  # whether it reaches buffers through addresses in memory
    untouched: tuple[int, ...]  # numbers of the parameters that it never uses
    written: tuple[int, ...]  # numbers of those whose buffers it writes
    read: tuple[int, ...]


class Program:
    """One kernel's IR, not yet specialised.

    Args:
        bitcode: LLVM bitcode as clang emits it before optimisation.
        entry: symbol of the entry function.
        name: what messages call the kernel.
        parameters: description of the entry function's parameters, in order.

    Raises:
        UnsupportedKernel: if the kernel uses what the engine cannot execute. Raised when the
            code is first needed, not by the constructor.
    """

    def __init__(
        self, bitcode: bytes, entry: str, *, name: str, parameters: Sequence[Parameter]
    ) -> None:
        self.bitcode = bitcode
        self.entry = entry
        self.name = name
        self.parameters = tuple(parameters)
        described = json.dumps([asdict(p) for p in self.parameters])
        self._key = digest(_engine_version(), bitcode, entry, name, described)
        self._lock = threading.RLock()
        self._taped: Function | None = None
        self._needs: Needs | None = None
        self._known: dict[str, Any] = {}
        self._executables: dict[tuple[Shape, frozenset[str], bool, bool], Executable] = {}

    @property
    def key(self) -> str:
        """A digest of the kernel and of the engine that reads it."""
        return self._key

    @property
    def function(self) -> Function:
        """The kernel in the engines' IR."""
        return self.marked_function(frozenset())

    def marked_function(self, marks: frozenset[str]) -> Function:
        """The same, without the optimisations that hide what checks look for."""
        with self._lock:
            from .generation import imported

            return imported(self.bitcode, self.entry, self.parameters, self.name, marks)

    @property
    def taped_function(self) -> Function:
        """The kernel in the blocks that tapes count; always the same object."""
        with self._lock:
            if self._taped is None:
                self._taped = prepare(self.marked_function(TAPED_MARKS))
            return self._taped

    @property
    def needs(self) -> Needs:
        """Memory that the kernel needs."""
        if self._needs is not None:  # each dispatch asks some times
            return self._needs
        with self._lock:
            if self._needs is None:
                self._needs = self._find_needs()
            return self._needs

    @property
    def asked(self) -> dict[str, int]:
        """What it asks the machine: see `asked_operations`."""
        found: dict[str, int] = self._remembered("asked", asked_operations)
        return found

    @property
    def registers(self) -> RegisterEstimate:
        """How many registers it takes, by an estimate."""
        fields = dict(self._remembered("registers", lambda f: asdict(estimate_registers(f))))
        return RegisterEstimate(**{**fields, "site": site_of(fields["site"])})

    def _remembered(self, what: str, find: Callable[[Function], Any]) -> Any:
        """What `find` says of the kernel, as JSON has it, from the cache on disk if it is there."""
        cache = DiskCache("programs")
        key = digest(self._key, what)
        with self._lock:
            if what not in self._known:
                stored = cache.get(key)
                if stored is None:
                    stored = json.dumps(find(self.function)).encode()
                    cache.put(key, stored)
                self._known[what] = json.loads(stored)
            return self._known[what]

    @property
    def static_threadgroup_memory(self) -> int:
        """Bytes of threadgroup variables declared in the kernel."""
        return self.needs.threadgroup_memory

    def _find_needs(self) -> Needs:
        cache = DiskCache("programs")
        stored = cache.get(self._key)
        if stored is not None:
            fields = json.loads(stored)
            fields["constants"] = bytes.fromhex(fields["constants"])
            for name in ("untouched", "written", "read"):
                fields[name] = tuple(fields[name])
            return Needs(**fields)
        function = self.function
        written, read = used_parameters(function)
        needs = Needs(
            threadgroup_memory=function.threadgroup_memory,
            private_memory=function.private_memory,
            constants=function.constants,
            serial=_is_serial(function),
            follows_pointers=follows_pointers(function),
            untouched=untouched_parameters(function, len(self.parameters)),
            written=written,
            read=read,
        )
        fields = {**asdict(needs), "constants": needs.constants.hex()}
        cache.put(self._key, json.dumps(fields).encode())
        return needs

    def coverage(self) -> tuple[Coverage, ...]:
        """What has run of each machine code made of it, since then or `forget_coverage`."""
        return tuple(executable.coverage() for executable in self._made())

    def forget_coverage(self) -> None:
        """Let nothing count as run so far."""
        for executable in self._made():
            executable.forget_coverage()

    def _made(self) -> list[Executable]:
        with self._lock:
            return list(self._executables.values())

    def specialise(
        self,
        threadgroup_size: tuple[int, int, int],
        observers: frozenset[str] = frozenset(),
        *,
        quick: bool = False,
    ) -> Executable:
        """Machine code for a threadgroup size; the rest as for `specialise_shape`."""
        width, height, depth = threadgroup_size
        size = (width, height, depth)  # of one type, whose name is part of the cache's keys
        return self.specialise_shape(Shape(size=size, nominal=size), observers, quick=quick)

    def specialise_shape(
        self,
        shape: Shape,
        observers: frozenset[str] = frozenset(),
        *,
        quick: bool = False,
        packed: bool = True,
    ) -> Executable:
        """Machine code for a shape, which may be that of an edge threadgroup.

        `observers` names the checks that are to watch it, or is `TAPE`, perhaps with
        `PLACES`. `quick` code is made in a third of the time, and runs longer. `packed` code may
        run several threadgroups at once, if that pays.
        """
        with self._lock:
            key = (shape, observers, quick, packed and not observers)
            known = self._executables.get(key)
            if known is None:
                stored = self._code(*key)
                known = Executable(self, shape, stored, observers, quick=quick)
                self._executables[key] = known
            return known

    def _code(self, shape: Shape, observers: frozenset[str], quick: bool, packed: bool) -> bytes:
        cache = DiskCache("kernels")
        how = (repr(shape), repr(sorted(observers)), repr(quick), repr(packed))
        key = digest(self._key, *how, *host_target())
        stored = cache.get(key)
        if stored is None:
            stored = self._generate(shape, observers, quick, packed)
            cache.put(key, stored)
        return stored

    def _generate(
        self, shape: Shape, observers: frozenset[str], quick: bool, packed: bool
    ) -> bytes:
        marks = TAPED_MARKS if TAPE in observers else self._marks(observers)
        from .generation import generated

        return generated(self.marked_function(marks), shape, observers, quick=quick, packed=packed)

    def _marks(self, observers: frozenset[str]) -> frozenset[str]:
        found = {check for check, mark in _MARKED_BY.items() if mark in self.bitcode}
        kept = {"reads"} if observers & _KEEPING else set()
        if "shuffle" in observers and "race" in found:
            kept.add("race")  # which says where copies begin, that all lanes take part in
        return (observers & (_MARKED | found)) | kept

    def llvm_text(self, threadgroup_size: tuple[int, int, int]) -> str:
        """The generated LLVM IR before optimisation, for people who debug the engine."""
        from .generation import text_of

        return text_of(self.function, Shape(size=threadgroup_size, nominal=threadgroup_size))


def _is_serial(function: Function) -> bool:
    """Whether the order of threadgroups can show in the results of atomics on device memory."""
    used = {operand for i in function.instructions() for operand in i.operands}
    used.update(b.condition for b in function.blocks if b.condition is not None)
    for instruction in function.instructions():
        operation, number = instruction.operation, instruction.number
        if operation.is_atomic and (
            not operation.commutes or number is None or number.is_float or instruction in used
        ):
            return True
    return False


def ready_engine() -> None:
    """Do now what the first kernel of a process would wait for, whichever it is."""
    importlib.import_module(".generation", __package__)
    _engine_version()
    load_common_helpers()


def _engine_version() -> bytes:
    """A digest of the engine's own source, so that an update invalidates what older code made."""
    sim = Path(__file__).parents[2]
    return source_digest(*(sim / part for part in ("native", "check", "simt"))).encode()
