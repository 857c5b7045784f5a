"""Tiles for decoding, and the hybrid that keeps weights packed."""

from __future__ import annotations

from assay.hw.apple.facts.limits import limits

from ..forms import FORMS, budget
from .arithmetic import bytes_of, fitting, on_core
from .claim import DECODE, HYBRID, Claim, Section


def decode() -> list[Claim]:
    s = Section(DECODE)
    s.add(
        "rows of A that are zeros at M = 1",
        100 * 63 / 64,
        "%",
        lambda: 100 * (1 - 1 / FORMS["three_stages"].tile.m),
    )
    s.add(
        "TILE_M = 16: one buffer",
        5120,
        "B",
        lambda: budget("decode").a_tile + budget("decode").b_tile,
    )
    s.add("TILE_M = 16: three buffers", 15360, "B", bytes_of("decode", "total"))
    s.add("TILE_M = 16: threadgroups on a core", 2, "", fitting(15360), on_core("decode"))
    s.add(
        "TILE_M = 16, A alone in three buffers (recommendation 3)",
        15360,
        "B",
        bytes_of("decode_hybrid", "a_tiles"),
        why="15,360 is with B",
    )
    return s.found


def hybrid() -> list[Claim]:
    s = Section(HYBRID)
    share = limits().threadgroup_memory / 100
    s.add("A tile", 4096, "B", bytes_of("hybrid", "a_tile"))
    s.add("three buffers of A", 12288, "B", bytes_of("hybrid", "a_tiles"))
    s.add("staging of B", 512, "B", bytes_of("hybrid", "decoded"))
    s.add("in all", 12800, "B", bytes_of("hybrid", "total"))
    s.add("of 32 KB", 39, "%", lambda: budget("hybrid").total / share)
    s.add("left", 19712, "B", bytes_of("hybrid", "left"))
    s.add("two threadgroups", 25600, "B", lambda: 2 * budget("hybrid").total)
    s.add("threadgroups on a core", 2, "", fitting(12800), on_core("hybrid"))
    return s.found
