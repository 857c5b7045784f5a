"""How a network is scheduled: the usual way, or as the vendor's compiler does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a schedule makes use of.

    Attributes:
        keep: tensors stay in LRAM between operators where they fit.
        double_buffer: transfers and slices work at the same time.
        both_slices: operators are divided between two slices.
        group: the channels that convolutions make at a time; 0: whatever is the fastest.
        block_tasks: the most tasks in a block of commands; 0: as many as there is room for.
    """

    keep: bool = True
    double_buffer: bool = True
    both_slices: bool = True
    group: int = 0
    block_tasks: int = 0


USUAL = Options()
VENDOR = Options(keep=False, double_buffer=False, both_slices=False, group=4, block_tasks=4)
"""Layer by layer through XRAM, nothing beside anything else, four operations per block of commands.

On one slice: public models for the vendor's NPU are compiled with `--torq-disable-slicing`. Its
compiler has other shapes of convolutions than 64 pixels by 4 channels, but switched off.
"""
SCHEDULES = {"overlap": USUAL, "vendor": VENDOR}
"""By the names that users give."""
