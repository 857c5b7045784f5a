"""Kernels as programs: imported once, specialised by threadgroup size, kept on disk."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...native.disk_cache import DiskCache, digest
from ...native.jit import compile_object
from ...native.llvm_host import host_target
from ...site import Site
from ..analysis.asked import asked_operations
from ..analysis.merge_accesses import merge_accesses
from ..analysis.reach import follows_pointers, untouched_parameters
from ..analysis.registers import RegisterEstimate, estimate_registers
from ..emit.apart import with_apart
from ..emit.driver import ENDING, driver
from ..emit.gathers import with_gathers_called
from ..emit.tape import PLACES, TAPE, TAPED_MARKS, prepare
from ..emit.vectorise import Vectoriser
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import Block, Constant, Function, Instruction, Root, ThreadgroupRoot, clone
from ..ir.operations.marks import LANE_OF
from ..ir.operations.operation import Inactive
from ..ir.shape import Shape
from ..read.importer import import_kernel
from ..read.roots import Parameter
from ..watch.needs import WatchNeeds
from ..watch.sites import beginning_of, declarations
from .kernel_code import LoadedKernel
from .tape_code import FUNCTIONS as TAPE_FUNCTIONS
from .tape_code import load_tape_code
from .watch_code import FUNCTIONS as WATCH_FUNCTIONS
from .watch_code import load_watch

# Checks that need a function in which the optimiser has not thrown away what they look for.
_MARKED = frozenset({"init", "shuffle", "uniform", "overflow", "rows", "lanes"})
# Races need one only where copies or textures are told apart from other accesses.
_KINDS = b"__assay_access_kind"


# Blocks of a kernel whose values travel in registers: with more, such as those of a switch of some
# hundred cases, a choice of registers takes minutes.
_MOST_BLOCKS_IN_REGISTERS = 256
# Characters of a watched kernel's code from which on it is not optimised: unrolled kernels of some
# thousand accesses are checked in a fraction of the time that it takes to make their code good.
_MOST_WATCHED_TEXT = 3 << 18
# Kernels in the engines' IR that are kept, tens of megabytes of a large one: each is asked for a
# few times in a row, for what it needs and for its shapes.
_FUNCTIONS_KEPT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSite:
    """What a fault's site number stands for."""

    site: Site
    memory: str  # name of the root in the kernel's own words
    size: int  # bytes of the access, 0 for a loop
    space: int = 0  # LLVM's address space of a pointer from memory, 0 if it may be any
    reads_inactive: bool = False  # whether it may read what lanes hold that take no part
    lanes: int = 0  # of the group whose lane it names, 0 if it names none
    start: int = 0  # byte offset in the arena or constant data that `memory` starts at
    length: int = -1  # bytes that `memory` has, -1 if that depends on the dispatch
    in_arena: bool = False  # whether `memory` is an array of the threadgroup's
    parameter: int = -1  # the argument that `memory` is, -1 if it is none
    begins: int = -1  # byte offset in its variable of what began without a value
    declared: Site | None = None  # of a thread's own array, whose start lies at `begins`


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a kernel needs of its surroundings; memory in bytes."""

    threadgroup_memory: int
    private_memory: int  # of one thread
    constants: bytes
    serial: bool  # whether threadgroups must run in order for results to repeat
    follows_pointers: bool  # whether it reaches buffers through addresses in memory
    untouched: tuple[int, ...]  # numbers of the parameters that it never uses


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What has run: loops by their places, each with whether it was entered, and parameters by
    their numbers, each with whether its memory was touched."""

    loops: tuple[tuple[Site, bool], ...]
    buffers: Mapping[int, bool]


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
        self._executables: dict[tuple[Shape, frozenset[str], bool], Executable] = {}

    @property
    def function(self) -> Function:
        """The kernel in the engines' IR."""
        return self.marked_function(frozenset())

    def marked_function(self, marks: frozenset[str]) -> Function:
        """The same, without the optimisations that hide what checks look for."""
        with self._lock:
            return _imported(self.bitcode, self.entry, self.parameters, self.name, marks)

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
        return RegisterEstimate(**{**fields, "site": _site(fields["site"])})

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
            fields["untouched"] = tuple(fields["untouched"])
            return Needs(**fields)
        function = self.function
        needs = Needs(
            threadgroup_memory=function.threadgroup_memory,
            private_memory=function.private_memory,
            constants=function.constants,
            serial=_is_serial(function),
            follows_pointers=follows_pointers(function),
            untouched=untouched_parameters(function, len(self.parameters)),
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
        shape = Shape(size=threadgroup_size, nominal=threadgroup_size)
        return self.specialise_shape(shape, observers, quick=quick)

    def specialise_shape(
        self, shape: Shape, observers: frozenset[str] = frozenset(), *, quick: bool = False
    ) -> Executable:
        """Machine code for a shape, which may be that of an edge threadgroup.

        `observers` names the checks that are to watch it, or is `TAPE`, perhaps with
        `PLACES`. `quick` code is made in a third of the time, and runs longer.
        """
        with self._lock:
            key = (shape, observers, quick)
            known = self._executables.get(key)
            if known is None:
                stored = self._code(*key)
                known = Executable(self, shape, stored, observers, quick=quick)
                self._executables[key] = known
            return known

    def _code(self, shape: Shape, observers: frozenset[str], quick: bool) -> bytes:
        cache = DiskCache("kernels")
        key = digest(self._key, repr(shape), repr(sorted(observers)), repr(quick), *host_target())
        stored = cache.get(key)
        if stored is None:
            stored = self._generate(shape, observers, quick)
            cache.put(key, stored)
        return stored

    def _generate(self, shape: Shape, observers: frozenset[str], quick: bool) -> bytes:
        marks = TAPED_MARKS if TAPE in observers else self._marks(observers)
        function = self.marked_function(marks)
        if "banks" in observers:  # a GPU has neighbouring words of a thread in one access
            function = clone(function)
            merge_accesses(function)
        code = Vectoriser(function, shape, observers, brief=quick).run()
        text = with_gathers_called(with_apart(code.text, function) + ENDING)
        declared = declarations(function)
        registers = len(function.blocks) <= _MOST_BLOCKS_IN_REGISTERS
        quick |= bool(observers) and len(text) > _MOST_WATCHED_TEXT
        machine_code = compile_object(text, registers=registers, quick=quick)
        head = json.dumps(
            {
                "state_size": code.state_size,
                "has_barriers": code.has_barriers,
                "streams": code.streams,
                "sites": [asdict(_describe(site)) for site in code.sites],
                "watch_sites": [
                    asdict(_describe_watched(each, declared)) for each in code.watch_sites
                ],
                "watch": asdict(code.watch_needs),
                "private_memory": function.private_memory,
                "threadgroup_memory": function.threadgroup_memory,
                "constants": function.constants.hex(),
                "loops": [[asdict(_loop_site(header)), after] for header, after in code.loops],
                "touching": list(code.touching.items()),
                "blocks": code.blocks,
                "known": [[*place, about] for place, about in code.known.items()],
            }
        ).encode()
        return len(head).to_bytes(8, "little") + head + machine_code

    def _marks(self, observers: frozenset[str]) -> frozenset[str]:
        marked = _MARKED | {"race"} if _KINDS in self.bitcode else _MARKED
        return observers & marked

    def llvm_text(self, threadgroup_size: tuple[int, int, int]) -> str:
        """The generated LLVM IR before optimisation, for people who debug the engine."""
        shape = Shape(size=threadgroup_size, nominal=threadgroup_size)
        return Vectoriser(self.function, shape).run().text


@functools.lru_cache(maxsize=_FUNCTIONS_KEPT)
def _imported(
    bitcode: bytes,
    entry: str,
    parameters: tuple[Parameter, ...],
    name: str,
    marks: frozenset[str],
) -> Function:
    return import_kernel(bitcode, entry, parameters, name, marks=marks)


class Executable:
    """A kernel's machine code for one shape."""

    def __init__(
        self,
        program: Program,
        shape: Shape,
        stored: bytes,
        observers: frozenset[str],
        *,
        quick: bool = False,
    ) -> None:
        self.program = program
        self.shape = shape
        self.observers = observers
        self.quick = quick
        length = int.from_bytes(stored[:8], "little")
        head: dict[str, Any] = json.loads(stored[8 : 8 + length])
        self.state_size: int = head["state_size"]
        self.has_barriers: bool = head["has_barriers"]
        self.private_memory: int = head["private_memory"]  # bytes of one thread
        self.threadgroup_memory: int = head["threadgroup_memory"]
        self.constants = bytes.fromhex(head["constants"])
        # (block, ordinal, description) of the accesses that a tape leaves out.
        self.known_accesses: list[tuple[int, int, int]] = head["known"]
        self._sites: list[dict[str, Any]] = head["sites"]
        self._watch_sites: list[dict[str, Any]] = head["watch_sites"]
        self.watch_needs = WatchNeeds(**head["watch"])
        known: tuple[str, ...] = ()
        if TAPE in observers:
            load_tape_code()
            known = TAPE_FUNCTIONS
        elif observers:
            load_watch()
            known = WATCH_FUNCTIONS
        around = driver(
            shape.simdgroups,
            has_barriers=self.has_barriers,
            private_memory=self.private_memory,
            streams=head["streams"],
            observed=bool(observers - {TAPE, PLACES}),
            shadowed="init" in observers,
            taped=TAPE in observers,
        )
        self._loaded = LoadedKernel(stored[8 + length :], around, known)
        self.run = self._loaded.run
        self._blocks: int = head["blocks"]
        self._loops: list[tuple[dict[str, Any], list[int]]] = head["loops"]
        self._touching: list[tuple[int, list[int]]] = head["touching"]

    def coverage(self) -> Coverage:
        """What has run of it since `forget_coverage` or since it was made, if it is watched."""
        ran = self._loaded.reached(self._blocks) if self._covers else b""
        return Coverage(
            loops=tuple((_site(site), any(ran[at] for at in after)) for site, after in self._loops),
            buffers={number: any(ran[at] for at in blocks) for number, blocks in self._touching},
        )

    def forget_coverage(self) -> None:
        """Let nothing count as run so far."""
        if self._covers:
            self._loaded.forget_reached(self._blocks)

    @property
    def _covers(self) -> bool:
        """Whether its code tells which blocks have run."""
        return bool(self._loops or self._touching)

    def access(self, number: int) -> AccessSite:
        """What a fault's site number stands for."""
        return _access_site(self._sites[number])

    def watched(self, number: int) -> AccessSite:
        """What a number in an observer's report stands for; an empty site for 0."""
        if 0 < number <= len(self._watch_sites):
            return _access_site(self._watch_sites[number - 1])
        return AccessSite(site=Site(), memory="", size=0)


def _access_site(fields: dict[str, Any]) -> AccessSite:
    declared = fields["declared"]
    return AccessSite(
        **{
            **fields,
            "site": _site(fields["site"]),
            "declared": _site(declared) if declared else None,
        }
    )


def _site(fields: dict[str, Any]) -> Site:
    inlined = tuple(_site(outer) for outer in fields["inlined"])
    return Site(fields["file"], fields["line"], fields["column"], fields["function"], inlined)


def _describe(what: Instruction | Block) -> AccessSite:
    if isinstance(what, Block):
        return AccessSite(site=_loop_site(what), memory="", size=0)
    root = what.root
    if root is None:
        return AccessSite(site=what.site, memory="", size=0)
    size = size_of(Scalar(what.element)) * what.components
    return AccessSite(
        site=what.site,
        memory=root.name,
        size=size,
        start=getattr(root, "start", 0),
        length=getattr(root, "size", -1),
        in_arena=isinstance(root, ThreadgroupRoot),
        parameter=getattr(root, "parameter", -1),
        space=getattr(root, "space", 0),
    )


def _describe_watched(
    what: Instruction | Block, declared: dict[Root, tuple[Site, int]]
) -> AccessSite:
    if isinstance(what, Block):
        return AccessSite(site=what.site, memory="", size=0)
    if what.root in declared:
        site, begins = declared[what.root]
        return replace(_describe(what), memory="", declared=site, begins=begins)
    if beginning_of(what) >= 0:
        return AccessSite(site=what.site, memory="", size=0, begins=beginning_of(what))
    reads_inactive = what.operation.inactive is Inactive.READ
    lanes = 0
    if what.operation is LANE_OF and isinstance(what.operands[1], Constant):
        lanes = what.operands[1].number or 0
    return replace(_describe(what), reads_inactive=reads_inactive, lanes=lanes)


def _loop_site(header: Block) -> Site:
    """A loop's place in the source: the line that its header begins or, if earlier, ends at."""
    known = (i.site for i in header.instructions() if i.site.line)
    first, last = next(known, header.site), header.site
    return last if last.scope == first.scope and 0 < last.line < first.line else first


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


@functools.cache
def _engine_version() -> bytes:
    """A digest of the engine's own source, so that an update invalidates what older code made."""
    sim = Path(__file__).parents[2]
    files = [path for part in ("native", "check", "simt") for path in (sim / part).rglob("*.[pc]*")]
    parts = [path.read_bytes() for path in sorted(files) if path.suffix in (".py", ".c")]
    return digest(*parts).encode()
