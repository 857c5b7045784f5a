"""Torq executables: one that multiplies 64 numbers, and any drawn at random."""

from hypothesis import strategies as st

from assay.hal.torq.format import (
    Alloc,
    Binding,
    BufferInfo,
    BufferType,
    Dealloc,
    ElementType,
    Executable,
    HostCopy,
    Segment,
    StartHost,
    StartNss,
    WaitHost,
    WaitNss,
)
from assay.hw.torq.notes import NO_NOTES, Notes, Symbol, TaskNote
from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram
from assay.hw.torq.words.encode.programs import encode, memory_image

from .torq_golden import B1, MULTIPLY, dim

CODE, INPUTS, OUTPUT, BLOCK = 0x100000, 0x101000, 0x102000, 0x103000
"""XRAM addresses: slice code, a and b and {bias, scale}, the result, the NPU's own commands."""


def image(program: SliceProgram | NssProgram, begin: int, size: int) -> bytes:
    """`size` bytes of LRAM from `begin` on, as a program's words fill them."""
    words = memory_image(encode(program))
    return b"".join(
        words.get(address, 0).to_bytes(4, "little") for address in range(begin, begin + size, 4)
    )


def load(source: int, target: int, size: int) -> NssTask:
    """XRAM to LRAM, waited for."""
    run: tuple[Dim, ...] = (dim("", size, 1),)
    return NssTask(
        ndls=(
            Ndl(agent="DIXR", low=(B1,), high=run, base_address=source),
            Ndl(agent="DILW", low=(B1,), high=run, base_address=target),
        ),
        dma_xr_start=True,
        dma_xr_wait=True,
    )


def store(source: int, target: int, size: int) -> NssTask:
    """LRAM to XRAM, waited for."""
    run: tuple[Dim, ...] = (dim("", size, 1),)
    return NssTask(
        ndls=(
            Ndl(agent="DOLR", low=(B1,), high=run, base_address=source),
            Ndl(agent="DOXW", low=(B1,), high=run, base_address=target),
        ),
        dma_xw_start=True,
        dma_xw_wait=True,
    )


def multiply() -> Executable:
    """64 products of int8 from one binding of 136 bytes (a, b, bias, scale) into one of 64."""
    code = image(MULTIPLY, 0x5A00, 0x200)
    program = NssProgram(
        tasks=(
            load(CODE, 0x5A00, len(code)),
            load(INPUTS, 0x1000, 136),
            NssTask(slc_start=(True, False), slc_cfg_addr=(0x5A00, 0)),
            NssTask(slc_wait=(True, False)),
            store(0x10C0, OUTPUT, 64),
        )
    )
    block = image(program, 0, 640)
    copy = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.LRAM,
        source_address=BLOCK,
        target_address=0,
        source_strides=(),
        target_strides=(),
        shape=(),
        element_bytes=640,
    )
    return Executable(
        name="multiply",
        segments=(
            Segment(address=CODE, size=len(code), data=code),
            Segment(address=BLOCK, size=len(block), data=block),
        ),
        bindings=(
            Binding(number=0, address=INPUTS, offset=0, size=136, read_only=True),
            Binding(number=1, address=OUTPUT, offset=0, size=64, write_only=True),
        ),
        actions=(
            Alloc(number=0, address=0x1000, size=0x100, buffer_type=BufferType.LRAM),
            copy,
            StartNss(address=0, slice0=True, dma_in=True, dma_out=True),
            WaitNss(),
            Dealloc(number=0),
        ),
    )


NOTES = Notes(
    symbols=(Symbol(name="a", memory="LRAM", start=0x1000, stop=0x1040),),
    transfers=(TaskNote(operation="load a"),),
)
_WORD = st.integers(0, (1 << 32) - 1)
_LONG = st.integers(0, (1 << 64) - 1)
_SIGNED = st.integers(-(1 << 63), (1 << 63) - 1)
_INDEX = st.integers(-1, (1 << 31) - 1)
_MEMORY = st.sampled_from(BufferType)


def _many(number: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(number, max_size=4).map(tuple)


ACTIONS = st.one_of(
    st.builds(
        HostCopy,
        source=_MEMORY,
        target=_MEMORY,
        source_address=_WORD,
        target_address=_WORD,
        source_strides=_many(_WORD),
        target_strides=_many(_WORD),
        shape=_many(_WORD),
        element_bytes=_WORD,
        constant_index=_INDEX,
        binding_index=_INDEX,
        index_bytes=_WORD,
        direction=st.integers(0, 1),
    ),
    st.builds(
        StartNss,
        address=_WORD,
        slice0=st.booleans(),
        slice1=st.booleans(),
        dma_in=st.booleans(),
        dma_out=st.booleans(),
    ),
    st.builds(WaitNss, returned_buffers=_many(_LONG)),
    st.builds(
        StartHost,
        function=st.text(max_size=9),
        arguments=_many(_LONG),
        sizes=_many(_LONG),
        strides=_many(_WORD),
        shapes=_many(_WORD),
        ranks=_many(_WORD),
    ),
    st.builds(WaitHost, returned_buffers=_many(_LONG)),
    st.builds(Alloc, number=_LONG, address=_LONG, size=_LONG, buffer_type=_MEMORY),
    st.builds(Dealloc, number=_LONG),
)
BUFFERS = st.builds(
    BufferInfo,
    number=_LONG,
    allocated=_SIGNED,
    deallocated=_SIGNED,
    last_use=_SIGNED,
    buffer_type=_MEMORY,
    address=_WORD,
    size=_WORD,
    shape=_many(_WORD),
    element_type=st.sampled_from(ElementType),
    strides=_many(_WORD),
)
BINDINGS = st.builds(
    Binding,
    number=_WORD,
    address=_WORD,
    offset=_WORD,
    size=_WORD,
    read_only=st.booleans(),
    write_only=st.booleans(),
)


@st.composite
def segments(draw: st.DrawFn, old: bool) -> Segment:
    data = draw(st.binary(max_size=40))
    if not old and draw(st.booleans()):
        return Segment(address=draw(_WORD), size=draw(_WORD), data=None)
    return Segment(address=draw(_WORD), size=len(data), data=data)


@st.composite
def executables(draw: st.DrawFn) -> Executable:
    found = draw(st.lists(segments(False), max_size=4))
    old = bool(found) and draw(st.booleans())
    if old:
        found = draw(st.lists(segments(True), min_size=1, max_size=4))
    return Executable(
        name=draw(st.text(max_size=9)),
        segments=tuple(found),
        bindings=tuple(draw(st.lists(BINDINGS, max_size=3))),
        actions=tuple(draw(st.lists(ACTIONS, max_size=6))),
        buffers=tuple(draw(st.lists(BUFFERS, max_size=2))),
        host_code=draw(st.none() | st.binary(max_size=20)),
        runtime_version=0 if old else draw(st.integers(1, 5)),
        hw_id=draw(_WORD),
        old_segments=old,
        notes=draw(st.sampled_from([NO_NOTES, NOTES])),
    )
