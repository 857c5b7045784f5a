"""How a network is scheduled: the usual way, or as the vendor's compiler does."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.hw.torq.facts.hardware import DEFAULT, Hardware


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a schedule makes use of.

    Attributes:
        keep: tensors stay in LRAM between operators where they fit.
        double_buffer: transfers and slices work at the same time.
        reuse: what two tiles in a row need alike is loaded once, and so are their commands.
        both_slices: operators are divided between two slices.
        group: the channels that convolutions make at a time; 0: whatever is the fastest.
        all_tiles: tiles are chosen by what all of them take; else by what one in the middle does.
        block_tasks: the most tasks in a block of commands; 0: as many as there is room for.
        program_blocks: the most blocks of commands in a program of the NSS, each of which the host
            starts; 0: one program with all.
        left_out: the names of passes that the model does not go through.
        hardware: the NPU: a profile or a custom hardware string.
    """

    keep: bool = True
    double_buffer: bool = True
    reuse: bool = True
    both_slices: bool = True
    group: int = 0
    all_tiles: bool = True
    block_tasks: int = 0
    program_blocks: int = 0
    left_out: tuple[str, ...] = ()
    hardware: str = DEFAULT

    def of(self, npu: Hardware) -> Options:
        """The options on an NPU that may have one slice."""
        return self if npu.slices > 1 else replace(self, both_slices=False)


USUAL = Options()
VENDOR = Options(
    keep=False,
    double_buffer=False,
    reuse=False,
    both_slices=False,
    group=4,
    all_tiles=False,
    block_tasks=4,
    left_out=("hoist-transposes",),
)
"""Tile by tile, each with its own loads and stores, nothing beside anything else.

The vendor's documentation says that a dispatch, a layer or a tile of it, loads data and weights
first, then computes, and stores results last; blocks of commands have four operations. On one
slice: public models are compiled with `--torq-disable-slicing`. Its compiler has other shapes of
convolutions than 64 pixels by 4 channels, but switched off. Tiles are cut until they fit. Images
are padded and brought to planes by layers of their own, as it lowers them.
"""
SCHEDULES = {"overlap": USUAL, "vendor": VENDOR}
"""By the names that users give."""
