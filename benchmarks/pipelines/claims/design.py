"""Two buffers as they are, and why a third but no fourth."""

from __future__ import annotations

from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.facts.chips import chip as chip_named
from assay.hw.apple.facts.limits import limits
from assay.hw.apple.facts.memory import memory

from ..forms import FORMS, budget
from .arithmetic import bytes_of, fitting, note, on_core
from .claim import CURRENT, WHY_THREE, Claim, Section


def current() -> list[Claim]:
    s = Section(CURRENT)
    s.add("memory of two buffers", 16384, "B", bytes_of("two_stages", "total"))
    share = limits().threadgroup_memory / 100
    s.add("of 32 KB", 50, "%", lambda: budget("two_stages").total / share)
    s.add(
        "multiplications for each element loaded",
        128,
        "FMA",
        lambda: 64 * 64 * 32 / (FORMS["two_stages"].tile.a_elements * 2),
        why="64 x 64 x 32 for 2 x 2,048 elements",
    )
    s.add(
        "latency of threadgroup memory",
        16,
        "cycles",
        lambda: memory(note().timing).threadgroup_latency,
        lambda _, chip: memory(chip_named(chip).timing).threadgroup_latency,
    )
    s.add("tiles of k when K is 128", 4, "tiles", lambda: 128 / FORMS["two_stages"].tile.k)
    s.add(
        "threadgroups on a core",
        2,
        "",
        fitting(16384),
        on_core("two_stages"),
    )
    return s.found


def why_three() -> list[Claim]:
    s = Section(WHY_THREE)

    def latency(chip: Chip) -> float:
        return memory(chip.timing).slc_latency * chip.clock / 1e9

    s.add(
        "latency of what L2 misses",
        (100, 200),
        "cycles",
        None,
        lambda _, chip: latency(chip_named(chip)),
        why="an assumption; by chip what the system level cache takes, DRAM takes longer",
    )
    s.add("memory that a fourth buffer adds", 8192, "B", lambda: _added_by_fourth())
    s.add("memory of four buffers", 32768, "B", bytes_of("four_stages", "total"))
    s.add(
        "threadgroups on a core with four",
        1,
        "",
        fitting(32768),
        on_core("four_stages"),
    )
    return s.found


def _added_by_fourth() -> float:
    return budget("four_stages").total - budget("three_stages").total
