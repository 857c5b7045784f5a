"""A library of Apple's compiler, with the functions of one that was compiled from MSL."""

from __future__ import annotations

import functools
import os
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

from assay.sim.names import choices
from assay.sim.native.disk_cache import DiskCache, digest

from ..msl.arguments import AddressSpace, Argument, ArgumentBufferMember
from ..msl.errors import CompileError, MissingConstants
from ..msl.kernel_function import KernelFunction, restored, stored
from ..msl.rewrite.function_constants import ConstantValue, FunctionConstant
from . import entry
from .bare import is_bare, read_bare
from .container import (
    MAGIC,
    AirFormatError,
    Container,
    StoredConstant,
    StoredFunction,
    find_containers,
    read_container,
)
from .embedded import sources_in
from .lowering import Lowered, lower_kernel
from .metadata import AirArgument, AirMember
from .reading import READER
from .textures.arguments import resource_argument
from .version import own_version

_CACHE = DiskCache("metallib")
_SPACES: dict[int, AddressSpace] = {1: "device", 2: "constant", 3: "threadgroup"}


def open_library(path: Path) -> AirLibrary:
    """The kernels of a `.metallib` file, or of all libraries that a program's file holds.

    Raises:
        AirFormatError: if it cannot be read, is none, or is damaged.
    """
    return AirLibrary(mapped(path), str(path))


def mapped(path: Path) -> mmap:
    """A file's bytes, of which only what is asked for is read. Raises AirFormatError."""
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:  # which has no memory
                raise AirFormatError(f"{path}: the file is empty")
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AirFormatError(f"{path}: cannot be read: {reason}") from None


class AirLibrary:
    """The functions of one compiled library; `name` is what messages call it.

    It offers what `KernelLibrary` asks for.

    Raises:
        AirFormatError: if the bytes are no library, or a damaged one.
    """

    def __init__(self, data: bytes | mmap, name: str) -> None:
        self.file_name = name
        self.containers = _containers(data, name)
        self._stored: dict[str, StoredFunction] = {}
        self._visible: dict[str, StoredFunction] = {}
        for container in self.containers:
            for each in container.functions.values():
                if each.kind == "kernel":
                    self._stored.setdefault(each.name, each)
                elif each.kind == "visible":
                    self._visible.setdefault(each.name, each)
        self._functions: dict[tuple[str, str, tuple[str, ...]], KernelFunction] = {}
        self._listings: dict[str, str] = {}
        self._digests: dict[int, bytes] = {}
        self._lock = threading.Lock()

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in the order of the file."""
        return tuple(self._stored)

    @property
    def visible_names(self) -> tuple[str, ...]:
        """Names of the visible functions, in the order of the file."""
        return tuple(self._visible)

    @functools.cached_property
    def not_run(self) -> Mapping[str, int]:
        """How many functions of kinds that do not run here it has: "vertex", "fragment"."""
        kinds = (
            each.kind for container in self.containers for each in container.functions.values()
        )
        return Counter(kind for kind in kinds if kind not in ("kernel", "visible"))

    @functools.cached_property
    def constants(self) -> tuple[FunctionConstant, ...]:
        """The function constants of all kernels, by index; those of several may share one."""
        found = {
            (each.index, each.name): each
            for kernel in self._stored.values()
            for each in kernel.constants
        }
        return tuple(_constant(each) for _, each in sorted(found.items()))

    def constants_of(self, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants that a kernel depends on."""
        found = self._stored.get(name)
        return tuple(_constant(each) for each in found.constants) if found is not None else ()

    def places(self) -> Mapping[str, tuple[str, int]]:
        """File and line of each kernel; of its listing, where the library does not say."""
        return {name: self._place(each) for name, each in self._stored.items()}

    def sources(self) -> Mapping[str, str]:
        """Sources that the library carries, and listings of the kernels asked for so far."""
        return {**self._embedded, **self._listings}

    def lines_of(self, file: str) -> frozenset[int]:
        """Nothing: what the compiler saw of a source is not in the library."""
        return frozenset()

    @functools.cached_property
    def _embedded(self) -> dict[str, str]:
        return {
            path: text
            for container in self.containers
            for path, text in sources_in(container.embedded).items()
        }

    def prepare(self, names: Iterable[str]) -> None:
        """Nothing: each kernel has a module of its own."""

    def function(
        self,
        name: str,
        constants: Mapping[int | str, ConstantValue] | None = None,
        *,
        linked: Sequence[str] = (),
    ) -> KernelFunction:
        """The kernel `name` with these function constants (by index or name).

        It can call the visible functions `linked` by their place in it, from 1 on, and others of
        the library by their names.

        Raises:
            CompileError: if there is none, or it does what is not known here, by its name.
            MissingConstants: if it depends on a constant that was given no value.
        """
        found = self._stored.get(name)
        if found is None:
            said = choices(name, self._stored)
            raise CompileError(f"no kernel function '{name}' in this library; {said}")
        for chosen in linked:
            if chosen not in self._visible:
                said = choices(chosen, self._visible)
                raise CompileError(f"no visible function '{chosen}' in this library; {said}")
        values = dict(constants or {})
        written = repr(sorted(values.items(), key=lambda item: str(item[0])))
        key = (name, written, tuple(linked))
        with self._lock:
            if key not in self._functions:
                self._functions[key] = self._lowered(found, values, written, tuple(linked))
            return self._functions[key]

    def forget(self) -> None:
        """Keep no kernel in memory; those that were given stay as they are."""
        with self._lock:
            self._functions.clear()
            self._listings.clear()

    def _visible_module(self, name: str) -> str | None:
        """The text of a visible function's module."""
        found = self._visible.get(name)
        return None if found is None else READER.text(found.bitcode())

    def _place(self, function: StoredFunction) -> tuple[str, int]:
        if function.path:
            return function.path, function.line
        return f"{self.file_name}/{function.name}.ll", 1

    def _lowered(
        self,
        function: StoredFunction,
        values: dict[int | str, ConstantValue],
        written: str,
        linked: tuple[str, ...],
    ) -> KernelFunction:
        """The kernel from the cache on disk, or lowered and put there."""
        missing = [
            each
            for each in function.constants
            if each.required and each.index not in values and each.name not in values
        ]
        if missing:
            raise MissingConstants(
                f"{self.file_name}: kernel '{function.name}' uses function constant "
                f"'{missing[0].name}' (index {missing[0].index}), which was given no value",
                tuple(each.name for each in missing),
            )
        file, line = self._place(function)
        reached = [part for each in (function, *self._visible.values()) for part in self._id(each)]
        key = digest(own_version(), file, written, repr(linked), *reached)
        raw, listing = _CACHE.get(key), _CACHE.get(digest(key, "listing"))
        if raw is None or listing is None:
            try:
                lowered = lower_kernel(
                    READER.text(function.bitcode()),
                    function.name,
                    values,
                    file,
                    tables=linked,
                    visible=self._visible_module,
                )
            except AirFormatError as error:
                raise CompileError(f"{self.file_name}: kernel '{function.name}': {error}") from None
            kernel = _kernel(function.name, lowered, file, line)
            raw, listing = stored(kernel), lowered.listing.encode()
            _CACHE.put(key, raw)
            _CACHE.put(digest(key, "listing"), listing)
        if listing:
            self._listings[file] = listing.decode()
        return restored(raw)

    def _id(self, function: StoredFunction) -> tuple[str | bytes, ...]:
        """What tells a function from all others, damaged ones of the same hash among them.

        With what the file says alone, a damaged module would get the kernel of the sound one.
        """
        place = id(function.stored)  # which entry points of bare bitcode share
        if place not in self._digests:
            self._digests[place] = function.true_digest()
        return function.name, function.digest, self._digests[place]


def _containers(data: bytes | mmap, name: str) -> tuple[Container, ...]:
    """The libraries in a file: it is one, bitcode alone, or a program's."""
    if is_bare(data):
        try:
            return (read_bare(data),)
        except AirFormatError as error:
            raise AirFormatError(f"{name}: {error}") from None
    parts = [data] if data[: len(MAGIC)] == MAGIC else list(find_containers(data))
    if not parts:
        raise AirFormatError(f"{name}: there is no Metal library in it")
    return tuple(read_container(part, name) for part in parts)


def _constant(constant: StoredConstant) -> FunctionConstant:
    return FunctionConstant(
        name=constant.name,
        index=constant.index,
        type_name=constant.type_name,
        first=0,
        name_index=0,
        last=0,
    )


def _kernel(name: str, lowered: Lowered, file: str, line: int) -> KernelFunction:
    return KernelFunction(
        name=name,
        bitcode=lowered.bitcode,
        entry=entry.SYMBOL,
        arguments=tuple(_argument(each) for each in lowered.arguments),
        max_total_threads_per_threadgroup=lowered.max_threads,
        position_attributes=tuple(each.kind for each in lowered.positions),
        position_types=tuple(each.type_name for each in lowered.positions),
        file=file,
        line=line,
    )


def _argument(argument: AirArgument) -> Argument:
    if argument.kind in entry.RESOURCES:
        return resource_argument(argument)
    space = _SPACES.get(argument.space, "device")
    return Argument(
        name=argument.name or f"argument {argument.parameter}",
        kind="threadgroup" if space == "threadgroup" else "buffer",
        index=argument.index,
        address_space=space,
        type_name=argument.type_name,
        size=argument.size,
        alignment=argument.alignment,
        access="read" if argument.access == "read" else "read_write",
        members=tuple(_member(each) for each in argument.members),
        is_reference=argument.is_fixed,
        fields=argument.fields,
    )


def _member(member: AirMember) -> ArgumentBufferMember:
    return ArgumentBufferMember(
        name=member.name,
        id=member.id,
        offset=member.offset,
        kind=member.kind,
        address_space=_SPACES.get(member.space, "device"),
    )
