"""Programs step by step: tensors are loaded, slice tasks run, tensors are stored.

Constants and the words of slice programs are kept in XRAM; the program itself brings them to LRAM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from assay.hw.torq.facts.machine import limit, memories
from assay.hw.torq.facts.registers import WORD_BYTES
from assay.hw.torq.notes import Notes, Symbol, TaskNote
from assay.hw.torq.words.commands import NssTask, SliceTask

from .blocks import Binding, Program, Unpacked, assembled, data_of, image, load, noted, store
from .slice.errors import IllegalSliceProgram
from .slice.lram import Lram
from .slice.tensor import Tensor


@dataclass(slots=True)
class ProgramBuilder:
    """Takes steps one after the other; `lram` is where the tensors are."""

    lram: Lram
    _tasks: list[NssTask] = field(default_factory=list)
    _segments: list[tuple[int, bytes]] = field(default_factory=list)
    _bindings: list[Binding] = field(default_factory=list)
    _programs: dict[int, tuple[TaskNote, ...]] = field(default_factory=dict)
    """What each slice program's tasks are for, by its LRAM address."""
    _constants: int = 0
    _xram: int = field(default_factory=lambda: limit("xram_start"))

    @classmethod
    def new(cls) -> ProgramBuilder:
        """A builder with all of LRAM behind the two places for blocks."""
        return cls(Lram(limit("lram_pool_start"), memories()["LRAM"].size))

    def load(self, name: str, tensor: Tensor) -> None:
        """Bring an input of the caller's to LRAM."""
        address = self._bind(name, tensor, is_output=False)
        self._tasks.append(load(name, address, tensor.address, tensor.size))

    def store(self, name: str, tensor: Tensor) -> None:
        """Bring a result to the caller."""
        address = self._bind(name, tensor, is_output=True)
        self._tasks.append(store(name, tensor.address, address, tensor.size))

    def run(self, *programs: Sequence[SliceTask], source: str = "") -> None:
        """Run slice tasks one after the other; a second sequence runs on the other slice.

        `source` names the operation of the model that they come from; findings tell it.
        Raises IllegalSliceProgram when there are more sequences than slices.
        """
        if not 1 <= len(programs) <= limit("slices"):
            raise IllegalSliceProgram("slices", f"{len(programs)} programs at a time")
        self._load_constants()
        starts = []
        for number, tasks in enumerate(programs):
            starts.append(self._load_code(tasks, source))
            self._tasks.append(
                NssTask(
                    slc_start=(number == 0, number == 1),
                    slc_cfg_addr=(starts[0], starts[number]),
                )
            )
        for number in range(len(programs)):
            self._tasks.append(NssTask(slc_wait=(number == 0, number == 1)))

    def build(self) -> Program:
        """The program of all steps so far."""
        unpacked = Unpacked(
            tasks=self._tasks,
            segments=self._segments,
            bindings=self._bindings,
            end=self._xram,
            notes=Notes(
                symbols=tuple(
                    Symbol(name=n, memory="LRAM", start=a, stop=b) for a, b, n in self.lram.places
                ),
                padding=tuple(("LRAM", start, stop) for start, stop in self.lram.padding),
                slice_programs=MappingProxyType(dict(self._programs)),
            ),
        )
        return assembled(unpacked)

    def _bind(self, name: str, tensor: Tensor, *, is_output: bool) -> int:
        address = self._reserve(tensor.size, limit("xram_page"))
        self._bindings.append(
            Binding(name=name, address=address, tensor=tensor, is_output=is_output)
        )
        return address

    def _reserve(self, size: int, alignment: int = WORD_BYTES) -> int:
        address = -(-self._xram // alignment) * alignment
        self._xram = address + size
        return address

    def _load_constants(self) -> None:
        """Load the constants that came since the last time."""
        for constant in self.lram.constants[self._constants :]:
            address = self._keep(constant.data)
            self._tasks.append(load(constant.name, address, constant.address, len(constant.data)))
        self._constants = len(self.lram.constants)

    def _load_code(self, tasks: Sequence[SliceTask], source: str) -> int:
        """Load a slice program; gives its LRAM address."""
        size = len(data_of(image(tasks, 0)))
        address = self.lram.reserve("slice code", size)
        words = image(tasks, address)
        place = self._keep(data_of(words))
        self._tasks.append(load("slice code", place, address, size))
        self._programs[address] = noted(tasks, source, words, address)
        return address

    def _keep(self, data: bytes) -> int:
        address = self._reserve(len(data))
        self._segments.append((address, data))
        return address
