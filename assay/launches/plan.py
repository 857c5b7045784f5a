"""How a kernel is run: what was given, and assumptions for all the rest."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.hw.apple.facts.limits import limits
from assay.sim.names import choices

from .contents import Bytes, assumed_array, contents
from .errors import LaunchInputError
from .grid import Grid, choose_grid, size_text
from .inputs import Exact, Fields, Filled, Given, Literal, Members, Number, Raw, Setup
from .scalars import element_of
from .struct_values import check_fields, struct_value
from .structs import Member, members_of
from .tensors import tensor_contents
from .textures import can_assume, texture_size

if TYPE_CHECKING:
    from assay.compiler.msl import Argument, KernelFunction

LARGEST_ASSUMED = 1 << 26
"""Bytes of the largest buffer that is assumed."""

_LIMITS = limits()
_LEAST_ELEMENTS = 4096
_ELEMENTS_PER_THREAD = 4
_VOID_SIZE = 16  # bytes of an element that is not known
_SMALL = 16  # of integers that say nothing by their names
_THREADGROUP_BYTES = 4096
_COUNTS = re.compile(r"n|N|(n|num|count|len|length|size|total)(_?\w*)|\w+_?(count|len|length|size)")
_WIDTHS = re.compile(r"n|N|w|width|cols?|columns|\w*_(width|cols?)|num_cols")
_HEIGHTS = re.compile(r"m|M|h|height|rows?|\w*_(height|rows?)|num_rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One argument with what it gets: `data` of a buffer, or `length` bytes of threadgroup memory.

    `is_assumed` tells that nobody said so; `is_initialised` is False for memory that holds nothing.
    `assumed` names the members of a struct whose values nobody stated. A tensor has a `shape`, the
    innermost dimension last.
    """

    argument: Argument
    data: Bytes | None
    length: int
    is_assumed: bool
    is_initialised: bool = True
    assumed: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run of one kernel. `assumptions` are sentences for people."""

    kernel: KernelFunction
    grid: Grid
    bound: tuple[Bound, ...]
    assumptions: tuple[str, ...]

    @property
    def assumed_memory(self) -> frozenset[str]:
        """Names of the arguments whose size nobody stated."""
        return frozenset(bound.argument.name for bound in self.bound if bound.is_assumed)

    @property
    def assumed_values(self) -> dict[str, tuple[str, ...]]:
        """Arguments in constant memory that nobody stated, or of which some members."""
        return {
            bound.argument.name: bound.assumed
            for bound in self.bound
            if bound.argument.address_space == "constant"
            and bound.argument.kind == "buffer"
            and (bound.is_assumed or bound.assumed)
        }

    def can_grow(self, name: str) -> bool:
        """Whether an argument's memory was assumed and could be assumed larger."""
        for bound in self.bound:
            if bound.argument.name == name and bound.is_assumed and not bound.shape:
                most = LARGEST_ASSUMED if bound.data is not None else _LIMITS.threadgroup_memory
                return bound.length <= most // 2
        return False


def make_plan(
    kernel: KernelFunction,
    setup: Setup,
    *,
    growth: int = 1,
    shrink: int = 1,
) -> Plan:
    """The run that `setup` describes, completed by assumptions.

    Args:
        kernel: the compiled kernel.
        setup: what was given.
        growth: factor on the size of assumed buffers.
        shrink: divisor of the number of threads of an assumed threadgroup.

    Raises:
        LaunchInputError: if `setup` does not fit the kernel.
        CannotPlan: if the kernel cannot be run without a program of its own.
    """
    if setup.problem:
        raise LaunchInputError(setup.problem)
    where = setup.where or f"kernel '{kernel.name}'"
    known = {argument.name for argument in kernel.arguments}
    for name in setup.arguments:
        if name not in known:
            raise LaunchInputError(
                f"{where}: kernel '{kernel.name}' has no argument '{name}'; "
                f"{choices(name, sorted(known))}"
            )
    grid = choose_grid(kernel, setup, shrink=shrink)
    planner = _Planner(kernel, grid, where, growth)
    bound = tuple(planner.bind(a, setup.arguments.get(a.name)) for a in kernel.arguments)
    return Plan(
        kernel=kernel,
        grid=grid,
        bound=bound,
        assumptions=(*grid.assumptions, *_sentences(bound, planner.said)),
    )


class CannotPlan(Exception):
    """A kernel needs what can be neither written nor assumed; `str()` says what."""


class _Planner:
    """Binds the arguments of one kernel; `said` describes what was assumed for each."""

    def __init__(
        self,
        kernel: KernelFunction,
        grid: Grid,
        where: str,
        growth: int,
    ) -> None:
        self._kernel = kernel
        self._grid = grid
        self._where = where
        self._growth = growth
        self.said: dict[str, str] = {}

    def bind(self, argument: Argument, given: Given | None) -> Bound:
        """What the argument gets."""
        if argument.kind == "threadgroup":
            return self._threadgroup(argument, given)
        if argument.kind == "tensor":
            return self._tensor(argument, given)
        if argument.kind != "buffer":
            return self._resource(argument, given)
        seed = zlib.crc32(f"{self._kernel.name}.{argument.name}".encode())
        if isinstance(given, Members | Fields):
            known = self._members_of(argument)
            if known and isinstance(given, Members):
                return self._struct(argument, known, given.values)
            if known and isinstance(given, Fields):
                check_fields(argument, known, given, self._what(argument))
        if given is not None:
            data = contents(given, argument, seed, self._where)
            return Bound(
                argument=argument,
                data=data,
                length=data.nbytes,
                is_assumed=False,
                is_initialised=_is_initialised(given),
            )
        if self._is_constant(argument) and (known := self._members_of(argument)):
            return self._struct(argument, known, {})
        data = self._assumed(argument, seed)
        return Bound(argument=argument, data=data, length=data.nbytes, is_assumed=True)

    def _resource(self, argument: Argument, given: Given | None) -> Bound:
        """A texture or a sampler, which the runner makes."""
        what = f"argument '{argument.name}' is a {argument.kind.replace('_', ' ')}"
        if given is not None:
            raise LaunchInputError(f"{self._where}: {what}: leave it out, it is assumed")
        if not can_assume(argument):
            raise CannotPlan(
                f"{what} of type {argument.type_name}, which cannot be assumed; run the kernel "
                "from the program that binds it: assay check program.py, or for its time "
                "assay python program.py --trace run.html"
            )
        if argument.kind == "texture":
            size = size_text(texture_size(argument, self._grid.elements))
            self.said[argument.name] = f"{argument.name}: a texture of {size} texels, random"
        else:
            self.said[argument.name] = f"{argument.name}: a sampler with the default settings"
        return Bound(argument=argument, data=None, length=0, is_assumed=True)

    def _tensor(self, argument: Argument, given: Given | None) -> Bound:
        """A tensor of the host, packed."""
        seed = zlib.crc32(f"{self._kernel.name}.{argument.name}".encode())
        found = tensor_contents(argument, given, seed, self._where)
        if given is None:
            shape = " x ".join(map(str, found.shape))
            self.said[argument.name] = f"{argument.name}: a tensor of {shape} elements, random"
        return Bound(
            argument=argument,
            data=found.data,
            length=found.data.nbytes,
            is_assumed=given is None,
            is_initialised=given is None or _is_initialised(given),
            shape=found.shape,
        )

    def _threadgroup(self, argument: Argument, given: Given | None) -> Bound:
        if given is not None and not isinstance(given, Raw):
            raise LaunchInputError(
                f"{self._where}: argument '{argument.name}' is threadgroup memory: give "
                "{ bytes = 1024 }"
            )
        step = _LIMITS.threadgroup_memory_alignment
        if given is not None:
            length = max(step, -(-given.bytes // step) * step)  # there is none of 0 bytes
            return Bound(argument=argument, data=None, length=length, is_assumed=False)
        several = sum(each.kind == "threadgroup" for each in self._kernel.arguments)
        room = _LIMITS.threadgroup_memory - self._kernel.program().static_threadgroup_memory
        least = _THREADGROUP_BYTES * min(self._growth, _LIMITS.threadgroup_memory)
        wanted = max(least, (argument.size or _VOID_SIZE) * self._grid.group_threads)
        length = max(step, min(wanted, room // several) // step * step)
        self.said[argument.name] = f"{argument.name}: {length} bytes"
        return Bound(argument=argument, data=None, length=length, is_assumed=True)

    def _assumed(self, argument: Argument, seed: int) -> Bytes:
        """Contents that nobody gave."""
        element = element_of(argument.type_name)
        if self._is_constant(argument):
            return self._assumed_constant(argument)
        size = argument.size or _VOID_SIZE
        wanted = max(_LEAST_ELEMENTS, _ELEMENTS_PER_THREAD * self._grid.total) * self._growth
        count = max(1, min(wanted, LARGEST_ASSUMED // size))
        if argument.is_reference:
            count = 1
        kind = argument.type_name if argument.size else f"{_VOID_SIZE} bytes"
        # Counters and locks begin with 0. Elsewhere zeros would hide who writes what: writing what
        # is there already is no race.
        how = "zeros" if "atomic" in argument.type_name else "random"
        self.said[argument.name] = f"{argument.name}: {count} x {kind}, {how}"
        if how == "zeros":
            return np.zeros(count * size, np.uint8)
        if element is None:
            return _random_words(count * size, seed)
        filled = assumed_array(element, count * size // element.itemsize, seed)
        return filled.view(np.uint8)

    def _is_constant(self, argument: Argument) -> bool:
        """Whether it is one value rather than an array."""
        return argument.address_space == "constant" and bool(
            argument.is_reference or argument.members
        )

    def _members_of(self, argument: Argument) -> tuple[Member, ...]:
        """The members of a struct; none of other types and of what is not understood."""
        if element_of(argument.type_name) is not None or argument.members:
            return ()
        return members_of(argument)

    def _what(self, argument: Argument) -> str:
        return f"{self._where}: argument '{argument.name}'"

    def _struct(
        self,
        argument: Argument,
        members: tuple[Member, ...],
        given: Mapping[str, tuple[Number, ...]],
    ) -> Bound:
        """A struct of which some members are given; the others by their names and types."""
        value = struct_value(argument, members, given, self._scalar, self._what(argument))
        if value.assumed:
            self.said[argument.name] = f"{argument.name}: {value}"
        return Bound(
            argument=argument,
            data=value.data,
            length=value.data.nbytes,
            is_assumed=not given,
            assumed=tuple(value.assumed),
        )

    def _assumed_constant(self, argument: Argument) -> Bytes:
        """A scalar or a vector; of a struct that is not understood, every word is small."""
        element = element_of(argument.type_name)
        if element is None or argument.members:
            self.said[argument.name] = f"{argument.name}: every 32-bit word is {_SMALL}"
            words = -(-max(argument.size, 4) // 4)
            return np.full(words, _SMALL, np.uint32).view(np.uint8)
        value = self._scalar(argument.name, element.kind)
        self.said[argument.name] = f"{argument.name} = {value}"
        return contents(Literal(values=(value,)), argument, 0, self._where)

    def _scalar(self, name: str, kind: str) -> int | float | bool:
        if kind not in "iu":
            return True if kind == "b" else 0.5
        x, y, z = self._grid.elements
        if self._grid.axes == 1 and _COUNTS.fullmatch(name):
            return x * y * z
        if self._grid.axes > 1 and _WIDTHS.fullmatch(name):
            return x
        if self._grid.axes > 1 and _HEIGHTS.fullmatch(name):
            return y
        return _SMALL


def _random_words(size: int, seed: int) -> Bytes:
    """Words of 0 and 1 for elements of a type that is not known: numbers, flags, no pointers."""
    words = np.random.default_rng(seed).integers(0, 2, -(-size // 4), np.uint32)
    return words.view(np.uint8)[:size]


def _is_initialised(given: Given) -> bool:
    if isinstance(given, Exact):
        return given.is_initialised
    return not (isinstance(given, Filled) and given.fill == "uninitialised")


def _sentences(bound: Iterable[Bound], said: dict[str, str]) -> list[str]:
    return [said[each.argument.name] for each in bound if each.is_assumed or each.assumed]


__all__ = ["LARGEST_ASSUMED", "Bound", "Plan", "make_plan", "size_text"]
