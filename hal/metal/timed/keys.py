"""Which dispatches do the same: equal kernels, grids and constants, whatever the data."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.sim.simt.analysis.data_dependence import data_dependence
from assay.sim.simt.analysis.shifts import shift_words

from ..emulated.commands.timing import arguments_of, executable_of, memory_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument
    from assay.sim.simt import Executable, Memory, Program

    from ..emulated import MTLDevice
    from ..emulated.commands.commands import DispatchCommand

_LINE = 128  # bytes of a cache line: where in one a buffer starts decides what lanes share
_POINTER, _WORD = 8, 4
_MOST_CONSTANTS = 4096  # bytes that setBytes_length_atIndex_ takes

Token = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchKey:
    """What decides how a dispatch goes, but for data in its buffers.

    Buffers count by their size. Small constants, and what an argument buffer holds beside pointers,
    are compared by value, unless they only move the kernel to other addresses; `known` are the
    numbers of those arguments. Executables are compared by
    identity: a program has one for each size of threadgroup. `footprint` is how many bytes the
    kernel can reach, None if that is not known.
    """

    executable: Executable
    threads: tuple[int, int, int] | None
    threadgroups: tuple[int, int, int] | None
    arguments: tuple[Token, ...]
    known: frozenset[int]
    footprint: int | None

    @property
    def depends_on_data(self) -> bool:
        """Whether two dispatches of this key may still differ, because of what buffers hold."""
        return bool(data_dependence(self.executable.program.function, self.known))


class Keys:
    """Makes keys; remembers what it found out about each program."""

    def __init__(self) -> None:
        self._shifts: dict[Program, frozenset[tuple[int, int]]] = {}

    def key_of(self, device: MTLDevice, command: DispatchCommand) -> DispatchKey:
        """The key of a dispatch that is about to run: argument buffers hold their contents."""
        executable = executable_of(command)
        program = executable.program
        shifts = self._shifts.get(program)
        if shifts is None:
            shifts = self._shifts[program] = shift_words(program.function)
        reader = _Reader(memory_of(device), program.needs.follows_pointers, shifts)
        arguments = arguments_of(command)
        tokens = [
            reader.token(number, argument, value)
            for number, (argument, value) in enumerate(
                zip(arguments, command.arguments, strict=True)
            )
        ]
        known = [number for number, token in enumerate(tokens) if token[0] == "contents"]
        return DispatchKey(
            executable=executable,
            threads=command.threads,
            threadgroups=command.threadgroups,
            arguments=tuple(tokens),
            known=frozenset(known),
            footprint=reader.footprint(command.arguments, tokens),
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Looks at the arguments of one dispatch.

    `follows` is whether the kernel follows pointers that it finds in memory, `shifts` are the words
    of its constants that only move it to other addresses.
    """

    memory: Memory
    follows: bool
    shifts: frozenset[tuple[int, int]]

    def token(self, number: int, argument: Argument, value: int) -> Token:
        """What of an argument decides how the dispatch goes."""
        if argument.kind == "threadgroup":
            return ("threadgroup", value)
        if argument.kind not in ("buffer", "tensor"):
            return (argument.kind, value)
        host, available = self.memory.resolve(value)
        if argument.kind == "tensor":
            size = min(argument.size, available)
            return ("tensor", *self._words(number, ctypes.string_at(host, size)))
        size = argument.size if argument.is_reference or argument.members else available
        is_small = 0 < size <= min(available, _MOST_CONSTANTS)
        if is_small and (argument.members or argument.address_space == "constant"):
            return ("contents", *self._words(number, ctypes.string_at(host, size)))
        handle = self.memory.handle_of(value)
        return ("buffer", value % _LINE, self.memory.size(handle))

    def footprint(self, values: Sequence[int], tokens: Sequence[Token]) -> int | None:
        """Bytes of all buffers that are bound, each once; None if there may be others."""
        if self.follows:
            return None
        handles = {
            self.memory.handle_of(value)
            for value, token in zip(values, tokens, strict=True)
            if token[0] == "buffer"
        }
        return sum(self.memory.size(handle) for handle in handles)

    def _words(self, number: int, raw: bytes) -> Iterator[object]:
        """Constants; pointers and shifts are cut down to where in a line of memory they lead.

        A pointer is a word that names live memory, in what is given to a kernel that follows such.
        """
        for at in range(0, len(raw), _POINTER):
            part = raw[at : at + _POINTER]
            word = int.from_bytes(part, "little")
            if self.follows and self.memory.resolve(word)[1] > 0:
                yield word % _LINE
                continue
            for half in range(0, len(part), _WORD):
                value = int.from_bytes(part[half : half + _WORD], "little")
                yield value % _LINE if (number, at + half) in self.shifts else value
