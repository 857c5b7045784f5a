"""The two DMA channels: XR from XRAM to LRAM, XW back; strided in XRAM, linear in LRAM."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..facts.registers import Image
from ..faults import CountMismatch, NotModelled
from ..lram import Lram
from .xram import SPACE, Xram

CHANNELS = ("XR", "XW")
AGENTS = {"XR": ("DIXR", "DILW"), "XW": ("DOLR", "DOXW")}
"""Of each channel, who reads and who writes."""
_DIMS = 3
_STRIDED = {"XR": "SRC", "XW": "DST"}
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One run of a channel: rows of `row` bytes that start at XRAM addresses, LRAM bytes in order.

    `split` is how far every second pixel (of `pixel` bytes) lies from the first ones in LRAM, or 0
    when LRAM is filled in order.
    """

    channel: str
    laddr: int
    size: int
    row: int
    rows: Index
    mtu: int
    pixel: int
    split: int


def transfer_of(channel: str, image: Image) -> Transfer:
    """What a channel's registers ask for. Raises TorqFault when that is malformed or unknown."""
    config, strided = f"DMA_{channel}.CFG", f"DMA_{channel}.{_STRIDED[channel]}"
    dims = [f"{strided}.DIMS[{k}]" for k in range(_DIMS)]
    paddings = [f"{config}.pad_n", f"{config}.pad_ops"]
    paddings += [f"{dim}.DIM_STRIDE.{field}" for dim in dims for field in ("pad_n", "pad_ops")]
    tags = [f"{dim}.DIM_SIZE.tag" for dim in dims]
    for name in (*paddings, *tags):
        if image[name]:
            raise NotModelled(
                f"{name} ({image.registers.address(name):#05x}) is {image[name]}: padding and tags "
                "of DMA are not modelled",
                unit=channel,
                agent=name,
            )
    count, row, size = image[f"{config}.nd"], image[f"{config}.xlen"], image[f"{config}.llen"]
    if not 1 <= count <= _DIMS:
        raise NotModelled(f"{config}.nd is {count}; there are 1 to {_DIMS} loops", unit=channel)
    loops = [
        (image[f"{dim}.DIM_SIZE.n"], image.signed(f"{dim}.DIM_STRIDE.s")) for dim in dims[:count]
    ]
    moved = row
    for steps, _ in loops:
        moved *= steps
    if moved != size or not size:
        raise CountMismatch(
            f"moves {moved} bytes in XRAM and {size} in LRAM; hardware would hang", unit=channel
        )
    pixel = 2 if image[f"{config}.pix_size"] else 1
    return Transfer(
        channel=channel,
        laddr=image[f"{config}.laddr"],
        size=size,
        row=row,
        rows=_row_starts(image[f"{strided}.HEAD.a"], loops),
        mtu=image[f"{config}.mtu"],
        pixel=pixel,
        split=_split(image, config, size, pixel) if channel == "XR" else 0,
    )


def _row_starts(base: int, loops: list[tuple[int, int]]) -> Index:
    """The address of each row, undoing the delta code of the loops' strides."""
    starts = np.array([base], np.int64)
    moved = 0
    for count, delta in loops:
        stride = delta + moved
        moved += (count - 1) * stride
        starts = (np.arange(count, dtype=np.int64)[:, None] * stride + starts[None, :]).ravel()
    return np.asarray(starts % SPACE, np.int64)


def _split(image: Image, config: str, size: int, pixel: int) -> int:
    if not image[f"{config}.split_en"]:
        return 0
    if size % (2 * pixel):
        raise CountMismatch(f"{size} bytes cannot be dealt out in pairs of pixels", unit="XR")
    return image.signed(f"{config}.strd_div8") * 8


def fetch(transfer: Transfer, lram: Lram, xram: Xram) -> NDArray[np.uint8]:
    """The bytes a transfer moves, in order. Raises AccessFault when either end is not there."""
    for first, last in lram_ranges(transfer):
        lram.check(first, last - first, "DILW" if transfer.channel == "XR" else "DOLR")
    windows = list(_windows(transfer, xram))
    if transfer.channel == "XR":
        return np.concatenate(windows)
    return lram.bytes[transfer.laddr : transfer.laddr + transfer.size].copy()


def deliver(transfer: Transfer, data: NDArray[np.uint8], lram: Lram, xram: Xram) -> None:
    """Puts the bytes where they belong. Raises AccessFault when XRAM was unmapped meanwhile."""
    if transfer.channel == "XW":
        done = 0
        for window in _windows(transfer, xram):
            window[:] = data[done : done + len(window)]
            done += len(window)
    elif transfer.split:
        pixels, half = data.reshape(-1, 2, transfer.pixel), transfer.size // 2
        for part in range(2):
            at = transfer.laddr + part * transfer.split
            lram.bytes[at : at + half] = pixels[:, part].ravel()
    else:
        lram.bytes[transfer.laddr : transfer.laddr + transfer.size] = data


def _windows(transfer: Transfer, xram: Xram) -> Iterator[NDArray[np.uint8]]:
    """The XRAM bytes in order: neighbouring rows as one piece."""
    agent = "DIXR" if transfer.channel == "XR" else "DOXW"
    for start, size in _pieces(transfer):
        yield xram.window(start, size, agent)


def _pieces(transfer: Transfer) -> Iterator[tuple[int, int]]:
    """(address, bytes) of the transfer's runs in XRAM, in order."""
    breaks = np.flatnonzero(np.diff(transfer.rows) != transfer.row) + 1
    firsts = np.concatenate([[0], breaks])
    lasts = np.concatenate([breaks, [len(transfer.rows)]])
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield int(transfer.rows[first]), (last - first) * transfer.row


def xram_ranges(transfer: Transfer) -> tuple[tuple[int, int], ...]:
    """(start, stop) addresses in XRAM, in the order they are touched."""
    return tuple((start, start + size) for start, size in _pieces(transfer))


def lram_ranges(transfer: Transfer) -> tuple[tuple[int, int], ...]:
    """(start, stop) addresses in LRAM: one run, or the two of a split."""
    if not transfer.split:
        return ((transfer.laddr, transfer.laddr + transfer.size),)
    half = transfer.size // 2
    second = transfer.laddr + transfer.split
    return ((transfer.laddr, transfer.laddr + half), (second, second + half))


Pieces = list[tuple[str, int, int]]
"""(memory, start, stop) of bytes in the order in which they move."""


def moves_of(transfer: Transfer) -> tuple[Pieces, Pieces]:
    """What a transfer reads and what it writes."""
    inside = [("LRAM", first, last) for first, last in lram_ranges(transfer)]
    outside = [("XRAM", first, last) for first, last in xram_ranges(transfer)]
    return (outside, inside) if transfer.channel == "XR" else (inside, outside)
