"""Memory of tiles of any size in three buffers, and threadgroups that fit a core."""

from __future__ import annotations

from assay.hw.apple.facts.limits import limits

from ..forms import FORMS, budget
from .arithmetic import bytes_of, fitting, on_core
from .claim import BUDGET, SHORT, SMALLER, TILES, Claim, Section


def largest() -> list[Claim]:
    s = Section(BUDGET)
    form, share = "three_stages", limits().threadgroup_memory / 100
    s.add("A tile", 4096, "B", bytes_of(form, "a_tile"))
    s.add("B tile", 4096, "B", bytes_of(form, "b_tile"))
    s.add("one buffer", 8192, "B", lambda: budget(form).a_tile + budget(form).b_tile)
    s.add("three buffers", 24576, "B", bytes_of(form, "total"))
    s.add("of 32 KB", 75, "%", lambda: budget(form).total / share)
    s.add(
        "left",
        7680,
        "B",
        bytes_of(form, "left"),
        why="512 bytes to stage results; they have room in tiles that nobody reads any more",
    )
    s.add("threadgroups on a core", 1, "", fitting(24576), on_core(form))
    tile = FORMS[form].tile
    s.add("elements of the product for each buffer", 4096, "", lambda: tile.m * tile.n)
    return s.found


def smaller() -> list[Claim]:
    s = Section(SMALLER)
    share = limits().threadgroup_memory / 100
    square, low = "three_stages 48x48x32", "three_stages 32x64x32"
    s.add("48x48x32: A tile", 3072, "B", bytes_of(square, "a_tile"))
    s.add("48x48x32: B tile", 3072, "B", bytes_of(square, "b_tile"))
    s.add("48x48x32: three buffers", 18432, "B", bytes_of(square, "total"))
    s.add("48x48x32: of 32 KB", 56, "%", lambda: budget(square).total / share)
    s.add(
        "48x48x32: left",
        13824,
        "B",
        bytes_of(square, "left"),
        why="512 bytes to stage results, as above",
    )
    s.add(
        "48x48x32: matrices along a side",
        6,
        "",
        lambda: FORMS[square].tile.m / 8,
        why="so 48 is a multiple of 8, of which the note says that it is not",
    )
    s.add("48x48x32: threadgroups on a core", 1, "", fitting(18432), on_core(square))
    s.add("32x64x32: A tile", 2048, "B", bytes_of(low, "a_tile"))
    s.add("32x64x32: B tile", 4096, "B", bytes_of(low, "b_tile"))
    s.add("32x64x32: three buffers", 18432, "B", bytes_of(low, "total"))
    tile, whole = FORMS[low].tile, FORMS["three_stages"].tile
    s.add("32x64x32: elements of the product", 2048, "", lambda: tile.m * tile.n)
    s.add(
        "32x64x32: times as many threadgroups", 2, "", lambda: whole.m * whole.n / tile.m / tile.n
    )
    return s.found


def tiles() -> list[Claim]:
    s = Section(TILES)
    rows = {
        "three_stages": (4096, 4096, 24576, (1, 1)),
        "three_stages 64x64x16": (2048, 2048, 12288, (2, 2)),
        "three_stages 32x64x32": (2048, 4096, 18432, (1, 2)),
        "three_stages 32x32x32": (2048, 2048, 12288, (2, 2)),
    }
    for form, (a, b, total, resident) in rows.items():
        tile = FORMS[form].tile
        s.add(f"{tile}: A tile", a, "B", bytes_of(form, "a_tile"))
        s.add(f"{tile}: B tile", b, "B", bytes_of(form, "b_tile"))
        s.add(f"{tile}: three buffers", total, "B", bytes_of(form, "total"))
        s.add(f"{tile}: threadgroups on a core", resident, "", fitting(total), on_core(form))
    return s.found


def short() -> list[Claim]:
    s = Section(SHORT)
    short, whole = "three_stages 64x64x16", "three_stages"
    s.add(
        "one buffer",
        6144,
        "B",
        lambda: budget(short).a_tile + budget(short).b_tile,
        why="the note's own table has it right",
    )
    s.add("three buffers", 18432, "B", bytes_of(short, "total"), why="as above")
    s.add("times as many iterations", 2, "", lambda: FORMS[whole].tile.k / FORMS[short].tile.k)
    s.add("sub-tiles of k", 2, "", lambda: FORMS[short].tile.k / 8)
    return s.found
