"""An NSS task as words: starts with their parameters, then the waits.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from dataclasses import dataclass

from ...facts.registers import Image, registers, spaces
from ..commands import NssTask
from ..errors import EncodeError
from ..stream import SYN, cfg, cfg_words
from .dma import put_dma

XR_BLOCK = (registers("nss").address("DMA_XR.CFG.mtu"), 12)
XW_BLOCK = (registers("nss").address("DMA_XW.CFG.mtu"), 11)
CONTROL = registers("nss").address("NSS.CTRL.ien_nss")
WAIT_CSS = registers("css").field("CSS.IEN_NSS.mbx1").low
WAIT_CDMA = registers("css").field("CSS.IEN_NSS.cdma").low
UNITS = ("xr", "xw", "slc0", "slc1")
"""Bits of NSS.START and of the wait mask, besides the two above."""
MEMORY_ATTRIBUTES = 0x44
CDMA_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedNssTask:
    """One task's words; `last_header` is the index of the header that can end a program."""

    words: tuple[int, ...]
    last_header: int
    cdma_owned: bool
    """Whether the NPU still has the CDMA channel when the next task begins."""


def encode_nss_task(task: NssTask, cdma_owned: bool = False) -> EncodedNssTask:
    """One task's words. `cdma_owned` is the previous task's. Raises EncodeError."""
    _check(task)
    image = Image(registers("nss"))
    put_dma(image, task)
    owned = cdma_owned or task.cdma_start
    words = _slice_starts(task)
    words += cfg(image, *XR_BLOCK) if task.dma_xr_start else ()
    words += cfg(image, *XW_BLOCK) if task.dma_xw_start else ()
    if task.cdma_start or task.css_start or task.cdma_wait or task.css_wait:
        words += _interrupt_enables(owned)
    words += _cdma_start(task) if task.cdma_start else ()
    words += _css_start(task) if task.css_start else ()
    starts, waits = _unit_bits(task)
    words += cfg_words(CONTROL, (1, starts, starts))
    header = len(words)
    words += (SYN | waits,)
    for end, stops in ((_cdma_end, task.cdma_wait), (_css_end, task.css_wait)):
        if stops:
            tail, last = end(task)
            header = len(words) + last
            words += tail
    return EncodedNssTask(words=words, last_header=header, cdma_owned=owned and not task.cdma_wait)


def stream_address(name: str) -> int:
    """The address of a field's word as the NPU's command stream sees it."""
    space = name.split(".")[0].lower()
    return spaces()[space].views["stream"] + registers(space).address(name)


def _slice_starts(task: NssTask) -> tuple[int, ...]:
    words: tuple[int, ...] = ()
    for index, starts in enumerate(task.slc_start):
        if starts:
            address = spaces()["slice"].views[f"slice{index}"]
            words += cfg_words(address, (1 << 24 | task.slc_cfg_addr[index],))
    return words


def _interrupt_enables(owned: bool) -> tuple[int, ...]:
    """To the core: its mailbox, and CDMA unless the NPU has it. To the NPU: mailbox 1 and CDMA."""
    image = Image(registers("css"))
    image["CSS.IEN_CSS.mbx0"] = 1
    image["CSS.IEN_CSS.cdma"] = not owned
    image["CSS.IEN_NSS.mbx1"] = 1
    image["CSS.IEN_NSS.cdma"] = 1
    values = image.stretch(image.registers.address("CSS.IEN_CSS.mbx0"), 2)
    return cfg_words(stream_address("CSS.IEN_CSS.mbx0"), values)


def _cdma_start(task: NssTask) -> tuple[int, ...]:
    image = Image(registers("cdma"))
    image["CDMA.CH0_CTRL.xtype"] = 1
    image["CDMA.CH0_CTRL.donetype"] = 1
    control = image.stretch(image.registers.address("CDMA.CH0_CTRL.xtype"), 1)
    attributes = MEMORY_ATTRIBUTES
    return (
        *cfg_words(stream_address("CDMA.NSEC_CTRL.intren_anychintr"), (1,)),
        *cfg_words(
            stream_address("CDMA.CH0_INTREN.intren_done"), (1, *control, task.cdma_src_addr)
        ),
        *cfg_words(stream_address("CDMA.CH0_DESADDR.a"), (task.cdma_dst_addr,)),
        *cfg_words(stream_address("CDMA.CH0_XSIZE.srcxsize"), (task.cdma_len * 0x10001,)),
        *cfg_words(
            stream_address("CDMA.CH0_SRCTRANSCFG.srcmemattrlo"),
            (attributes, attributes, 0x10001),
        ),
        *cfg_words(stream_address("CDMA.CH0_CMD.enablecmd"), (1,)),
    )


def _css_start(task: NssTask) -> tuple[int, ...]:
    words = cfg_words(stream_address("CSS.MBX_DAT_0.data"), task.css_mbx)
    if task.css_start_mode == 1:
        return words + cfg_words(stream_address("CSS.MBX_IRQ_0.irq"), (1,))
    control = stream_address("CPU.CTL.reset")
    return (
        *words,
        *cfg_words(stream_address("CPU.PCSTART.pc"), (task.css_start_addr,)),
        *cfg_words(control, (1,)),
        *cfg_words(control, (0,)),
    )


def _unit_bits(task: NssTask) -> tuple[int, int]:
    """(bits of units to start, bits to wait for)."""
    starts = (task.dma_xr_start, task.dma_xw_start, *task.slc_start)
    waits = (task.dma_xr_wait, task.dma_xw_wait, *task.slc_wait)
    image = Image(registers("nss"))
    for unit, start, wait in zip(UNITS, starts, waits, strict=True):
        image[f"NSS.START.{unit}"] = start
        image[f"NSS.STATUS.{unit}"] = wait
    at = image.registers.address
    mask = image.stretch(at("NSS.STATUS.xr"), 1)[0]
    mask |= task.cdma_wait << WAIT_CDMA | task.css_wait << WAIT_CSS
    return image.stretch(at("NSS.START.xr"), 1)[0], mask


def _cdma_end(task: NssTask) -> tuple[tuple[int, ...], int]:
    """Words that clear the end of a transfer, and the index of their last header."""
    field = registers("cdma").field("CDMA.CH0_STATUS.stat_done")
    return cfg_words(stream_address(field.name), (field.put(0, 1),)), 0


def _css_end(task: NssTask) -> tuple[tuple[int, ...], int]:
    """Words that clear the core's answer and put it to rest, and the index of the last header."""
    words = cfg_words(stream_address("CSS.MBX_IRQ_1.irq"), (0,))
    words += cfg_words(stream_address("CSS.IEN_CSS.mbx0"), (0,))
    if task.css_wait_mode == 0:
        words += cfg_words(stream_address("CPU.CTL.reset"), (3,))
    return words, len(words) - 2


def _check(task: NssTask) -> None:
    for index, address in enumerate(task.slc_cfg_addr):
        if not 0 <= address < 1 << 24 or address % 4:
            raise EncodeError(
                f"is {address:#x}; a multiple of 4 within 24 bits is possible",
                dim=f"slc_cfg_addr[{index}]",
            )
    for name in ("css_start_mode", "css_wait_mode"):
        if getattr(task, name) not in (0, 1):
            raise EncodeError(f"is {getattr(task, name)}; 0 and 1 are possible", dim=name)
    for name in ("dma_xr_attr", "dma_xw_attr"):
        if getattr(task, name) & ~0xFF7F or getattr(task, name) < 0:
            raise EncodeError(
                f"is {getattr(task, name):#x}; bits 15:8 and 6:0 mean something", dim=name
            )
    words = {
        "css_start_addr": task.css_start_addr,
        "cdma_src_addr": task.cdma_src_addr,
        "cdma_dst_addr": task.cdma_dst_addr,
        **{f"css_mbx[{index}]": value for index, value in enumerate(task.css_mbx)},
    }
    for name, value in words.items():
        if not 0 <= value < 1 << 32:
            raise EncodeError(f"is {value:#x}; 32 bits are possible", dim=name)
    if task.cdma_start and not 1 <= task.cdma_len <= CDMA_BYTES:
        raise EncodeError(
            f"is {task.cdma_len}; 1 to {CDMA_BYTES} bytes are possible", dim="cdma_len"
        )
