"""The NPU's command words as NSS tasks: the inverse of `encode_nss`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...facts.registers import WORD_BYTES, Image, registers, spaces
from ..commands import Dim, Ndl, NssProgram, NssTask
from ..encode.nss import CONTROL, UNITS, WAIT_CDMA, WAIT_CSS, XR_BLOCK, XW_BLOCK, stream_address
from ..errors import DecodeError
from .memory import unit
from .stream import Command, Read, read_commands

_RESET = stream_address("CPU.CTL.reset")
_ENABLES = stream_address("CSS.IEN_CSS.mbx0")
_ANSWER = stream_address("CSS.MBX_IRQ_1.irq")
_CDMA_STATUS = stream_address("CDMA.CH0_STATUS.stat_done")
_REST = 3
"""Reset and clock gate of the core, written when it has ended."""


@dataclass(slots=True)
class _Raw:
    """One task's register writes, first value written kept, and its SYN."""

    address: int
    linked: bool
    writes: dict[int, int] = field(default_factory=dict)
    mask: int | None = None
    rests: bool = False

    def take(self, command: Command) -> None:
        for index, value in enumerate(command.values):
            self.writes.setdefault(command.register + WORD_BYTES * index, value)

    def get(self, name: str) -> int:
        return self.writes.get(stream_address(name), 0)

    def wrote(self, name: str) -> bool:
        return stream_address(name) in self.writes


def decode_nss(read: Read, address: int) -> NssProgram:
    """The program at an LRAM address. Raises DecodeError.

    The caller compares its encoding with the words; see `decode.decode`.
    """
    return NssProgram(address=address, tasks=tasks_of(read_commands(read, address)))


def tasks_of(commands: Sequence[Command]) -> tuple[NssTask, ...]:
    """The tasks of commands that follow each other. Raises DecodeError."""
    return tuple(_task(task) for task in _raw_tasks(commands))


def _raw_tasks(commands: Sequence[Command]) -> list[_Raw]:
    """Commands grouped to tasks: writes, SYN, and writes that only follow a wait."""
    found: list[_Raw] = []
    linked = False
    current: _Raw | None = None
    for command in commands:
        if command.kind == "NXT":
            linked, current = True, None
            continue
        if current is not None and current.mask is not None and not _ends(command):
            current = None
        if current is None:
            current = _Raw(address=command.address, linked=linked)
            found.append(current)
            linked = False
        if command.kind == "SYN":
            current.mask = command.mask
        elif current.mask is None:
            current.take(command)
        elif command.register == _RESET:
            current.rests = True
    for task in found:
        if task.mask is None:
            raise DecodeError(task.address, "no SYN ends this task")
    return found


def _ends(command: Command) -> bool:
    """Whether a command after a SYN belongs to the end of its task."""
    if command.kind != "CFG" or len(command.values) != 1:
        return False
    if command.register == _RESET:
        return command.values[0] == _REST
    return command.register in (_ENABLES, _ANSWER, _CDMA_STATUS)


def _task(raw: _Raw) -> NssTask:
    assert raw.mask is not None
    starts = Image(registers("nss"), raw.writes)
    waits = Image(registers("nss"), {starts.registers.address("NSS.START.xr"): raw.mask})
    started = [bool(starts[f"NSS.START.{name}"]) for name in UNITS]
    waited = [bool(waits[f"NSS.START.{name}"]) for name in UNITS]
    if CONTROL not in raw.writes:
        raise DecodeError(raw.address, "the task does not write NSS.CTRL, STATUS and START")
    slices = [raw.writes.get(spaces()["slice"].views[f"slice{index}"], 0) for index in (0, 1)]
    return NssTask(
        ndls=(*_dma(starts, "XR", started[0]), *_dma(starts, "XW", started[1])),
        slc_start=(started[2], started[3]),
        slc_wait=(waited[2], waited[3]),
        slc_cfg_addr=(slices[0] & 0xFFFFFF, slices[1] & 0xFFFFFF),
        dma_xr_start=started[0],
        dma_xr_wait=waited[0],
        dma_xr_attr=_attributes(starts, "XR", "ar"),
        dma_mtu_xr=starts["DMA_XR.CFG.mtu"],
        dma_xw_start=started[1],
        dma_xw_wait=waited[1],
        dma_xw_attr=_attributes(starts, "XW", "aw"),
        dma_mtu_xw=starts["DMA_XW.CFG.mtu"],
        pad_value=_pad_value(starts),
        css_start=raw.wrote("CSS.MBX_DAT_0.data"),
        css_wait=bool(raw.mask >> WAIT_CSS & 1),
        css_start_mode=int(raw.wrote("CSS.MBX_IRQ_0.irq")),
        css_wait_mode=int(bool(raw.mask >> WAIT_CSS & 1) and not raw.rests),
        css_start_addr=raw.get("CPU.PCSTART.pc"),
        css_mbx=(
            raw.get("CSS.MBX_DAT_0.data"),
            raw.get("CSS.MBX_DAT_1.data"),
            raw.get("CSS.MBX_DAT_2.data"),
            raw.get("CSS.MBX_DAT_3.data"),
        ),
        cdma_start=raw.wrote("CDMA.CH0_CMD.enablecmd"),
        cdma_wait=bool(raw.mask >> WAIT_CDMA & 1),
        cdma_src_addr=raw.get("CDMA.CH0_SRCADDR.a"),
        cdma_dst_addr=raw.get("CDMA.CH0_DESADDR.a"),
        cdma_len=raw.get("CDMA.CH0_XSIZE.srcxsize") & 0xFFFF,
        address=raw.address if raw.linked else None,
    )


def _attributes(image: Image, channel: str, letter: str) -> int:
    parts = (("user", 0), ("prot", 4), ("cache", 8), ("qos", 12))
    return sum(image[f"DMA_{channel}.CFG.{letter}{name}"] << low for name, low in parts)


def _pad_value(image: Image) -> int:
    low = image["DMA_XR.CFG.pad_val0"] or image["DMA_XW.CFG.pad_val0"]
    high = image["DMA_XR.CFG.pad_val1"] or image["DMA_XW.CFG.pad_val1"]
    return low | high << 8


def _dma(image: Image, channel: str, started: bool) -> tuple[Ndl, ...]:
    """The strided and the linear side of a started channel."""
    first, count = XR_BLOCK if channel == "XR" else XW_BLOCK
    if not started:
        return ()
    if any(first + WORD_BYTES * index not in image.words for index in range(count)):
        raise DecodeError(first, f"{channel} is started, and not all its registers are written")
    end, strided, linear = ("SRC", "DIXR", "DILW") if channel == "XR" else ("DST", "DOXW", "DOLR")
    config = f"DMA_{channel}.CFG"
    size = 2 if image[f"{config}.pix_size"] else 1
    low: tuple[Dim, ...] = (unit(1),)
    length = image[f"{config}.llen"]
    if channel == "XR" and image["DMA_XR.CFG.split_en"]:
        low = (*low, Dim(count=2, stride=8 * image.signed("DMA_XR.CFG.strd_div8"), tag="G"))
        length //= 2
    outer = Ndl(
        agent=strided,
        low=(unit(size),),
        high=_rows(image, f"DMA_{channel}.{end}", config, size),
        base_address=image[f"DMA_{channel}.{end}.HEAD.a"],
    )
    inner = Ndl(
        agent=linear,
        low=low,
        high=(Dim(count=length, stride=1),),
        base_address=image[f"{config}.laddr"],
    )
    return (outer, inner) if channel == "XR" else (inner, outer)


def _rows(image: Image, block: str, config: str, size: int) -> tuple[Dim, ...]:
    """The strided side's loops; the dummy loop of a single run is left out."""
    dims = [
        Dim(
            count=image[f"{config}.xlen"] // size,
            stride=size,
            pad=_pad(image, config, size),
        )
    ]
    moved = 0
    count = min(image[f"{config}.nd"], 3)
    for index in range(count):
        steps = image[f"{block}.DIMS[{index}].DIM_SIZE.n"]
        stride = image.signed(f"{block}.DIMS[{index}].DIM_STRIDE.s") + moved
        pad = _pad(image, f"{block}.DIMS[{index}].DIM_STRIDE", size)
        moved += (steps - 1) * stride
        if count == 1 and (steps, stride, pad) == (1, 0, 0):
            break
        dims.append(Dim(count=steps, stride=stride, pad=pad))
    return tuple(dims)


def _pad(image: Image, block: str, size: int) -> int:
    pad = image[f"{block}.pad_n"] // size
    return -pad if image[f"{block}.pad_ops"] else pad
