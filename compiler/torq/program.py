"""Whole programs: what is loaded, run and stored, as blocks of commands for the NSS.

Constants and the words of slice programs are kept in XRAM; the program itself brings them to LRAM.
Commands come in blocks, of which two fit into LRAM at a time: the last thing a block does is to
load the next one into the other place and to go on there. The host copies the first block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.hw.torq.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.encode import encode, memory_image
from assay.hw.torq.machine import limit, memories

from .slice.errors import IllegalSliceProgram
from .slice.lram import Lram
from .slice.tensor import Tensor

OPERATIONS_PER_BLOCK = 4
BURST = 4
"""Bursts of 1 << BURST beats."""
WORD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A tensor of the caller's: where it is in XRAM, and in LRAM while it is worked on."""

    name: str
    address: int
    tensor: Tensor
    is_output: bool

    @property
    def size(self) -> int:
        """Bytes, the tensor's gaps included."""
        return self.tensor.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that is ready to run.

    Attributes:
        segments: (XRAM address, bytes) of constants and code.
        bindings: inputs and outputs.
        first_block: XRAM address of the block that the host copies to LRAM address 0.
        blocks: how many there are.
        uses_slices: which slices run.
        symbols: (start, stop, name) of what is where in LRAM.
        padding: (start, stop) of gaps in LRAM that nobody need read.
    """

    segments: tuple[tuple[int, bytes], ...]
    bindings: tuple[Binding, ...]
    first_block: int
    blocks: int
    uses_slices: tuple[bool, bool]
    symbols: tuple[tuple[int, int, str], ...]
    padding: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class ProgramBuilder:
    """Takes steps one after the other; `lram` is where the tensors are."""

    lram: Lram
    _tasks: list[NssTask] = field(default_factory=list)
    _segments: list[tuple[int, bytes]] = field(default_factory=list)
    _bindings: list[Binding] = field(default_factory=list)
    _constants: int = 0
    _xram: int = field(default_factory=lambda: limit("xram_start"))

    @classmethod
    def new(cls) -> ProgramBuilder:
        """A builder with all of LRAM behind the two places for blocks."""
        return cls(Lram(limit("lram_pool_start"), memories()["LRAM"].size))

    def load(self, name: str, tensor: Tensor) -> None:
        """Bring an input of the caller's to LRAM."""
        address = self._bind(name, tensor, is_output=False)
        self._tasks.append(_load(address, tensor.address, tensor.size))

    def store(self, name: str, tensor: Tensor) -> None:
        """Bring a result to the caller."""
        address = self._bind(name, tensor, is_output=True)
        self._tasks.append(_store(tensor.address, address, tensor.size))

    def run(self, *programs: Sequence[SliceTask]) -> None:
        """Run slice tasks one after the other; a second sequence runs on the other slice.

        Raises IllegalSliceProgram when there are more sequences than slices.
        """
        if not 1 <= len(programs) <= limit("slices"):
            raise IllegalSliceProgram("slices", f"{len(programs)} programs at a time")
        self._load_constants()
        starts = []
        for number, tasks in enumerate(programs):
            starts.append(self._load_code(tasks))
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
        groups = [
            self._tasks[first : first + OPERATIONS_PER_BLOCK]
            for first in range(0, len(self._tasks), OPERATIONS_PER_BLOCK)
        ]
        size = limit("nss_block")
        first_block = self._reserve(size * len(groups))
        blocks = [
            (
                first_block + number * size,
                _block(group, number, None if group is groups[-1] else first_block + size),
            )
            for number, group in enumerate(groups)
        ]
        blocks = [(address, data.ljust(size, b"\0")) for address, data in blocks]
        return Program(
            segments=(*self._segments, *blocks),
            bindings=tuple(self._bindings),
            first_block=first_block,
            blocks=len(blocks),
            uses_slices=(
                any(task.slc_start[0] for task in self._tasks),
                any(task.slc_start[1] for task in self._tasks),
            ),
            symbols=tuple(self.lram.places),
            padding=tuple(self.lram.padding),
        )

    def _bind(self, name: str, tensor: Tensor, *, is_output: bool) -> int:
        address = self._reserve(tensor.size, limit("xram_page"))
        self._bindings.append(
            Binding(name=name, address=address, tensor=tensor, is_output=is_output)
        )
        return address

    def _reserve(self, size: int, alignment: int = WORD) -> int:
        address = -(-self._xram // alignment) * alignment
        self._xram = address + size
        return address

    def _load_constants(self) -> None:
        """Load the constants that came since the last time."""
        for constant in self.lram.constants[self._constants :]:
            address = self._keep(constant.data)
            self._tasks.append(_load(address, constant.address, len(constant.data)))
        self._constants = len(self.lram.constants)

    def _load_code(self, tasks: Sequence[SliceTask]) -> int:
        """Load a slice program; gives its LRAM address."""
        size = len(_words(tasks, 0))
        address = self.lram.reserve("slice code", size)
        self._tasks.append(_load(self._keep(_words(tasks, address)), address, size))
        return address

    def _keep(self, data: bytes) -> int:
        address = self._reserve(len(data))
        self._segments.append((address, data))
        return address


def _words(tasks: Sequence[SliceTask], address: int) -> bytes:
    """The words of a slice program, from its LRAM address on."""
    image = memory_image(encode(SliceProgram(tasks=tuple(tasks), address=address)))
    data = bytearray(max(image) + WORD - address)
    for at, word in image.items():
        data[at - address : at - address + WORD] = word.to_bytes(WORD, "little")
    return bytes(data)


def _block(tasks: Sequence[NssTask], number: int, following: int | None) -> bytes:
    """The words of one block; it goes on to the one at XRAM address `following`, if any."""
    size = limit("nss_block")
    here, there = (number % 2) * size, (1 - number % 2) * size
    if following is None:
        program = NssProgram(tasks=tuple(tasks), address=here)
    else:
        onward = _load(following + number * size, there, size)
        # The last task is not part of the block: it is there to be linked to.
        program = NssProgram(tasks=(*tasks, onward, NssTask(address=there)), address=here)
    image = memory_image(encode(program))
    data = bytearray()
    for at in range(here, here + size, WORD):
        if at not in image:
            break
        data += image[at].to_bytes(WORD, "little")
    return bytes(data)


def _load(source: int, target: int, size: int) -> NssTask:
    return NssTask(
        ndls=(_linear("DIXR", source, size), _linear("DILW", target, size)),
        dma_xr_start=True,
        dma_xr_wait=True,
        dma_mtu_xr=BURST,
    )


def _store(source: int, target: int, size: int) -> NssTask:
    return NssTask(
        ndls=(_linear("DOLR", source, size), _linear("DOXW", target, size)),
        dma_xw_start=True,
        dma_xw_wait=True,
        dma_mtu_xw=BURST,
    )


def _linear(agent: str, address: int, size: int) -> Ndl:
    return Ndl(
        agent=agent,
        low=(Dim(count=1, stride=1, tag="B"),),
        high=(Dim(count=size, stride=1),),
        base_address=address,
    )
