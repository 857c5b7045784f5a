"""How long a tile takes to load and to multiply, and how the two are balanced."""

from __future__ import annotations

from collections.abc import Callable

from assay.hw.apple.facts.chips import chip as chip_named

from ..forms import BITS, FORMS, budget
from ..runs import Results
from .arithmetic import bytes_of, mma, multiply_cycles, note, share_of_core, steady, tile_bytes
from .claim import BALANCE, COMPUTE, LOAD, Claim, Section


def _phase(name: str) -> Callable[[Results, str], float]:
    """Microseconds of a simdgroup for a tile, in the form that the note proposes."""

    def found(results: Results, chip: str) -> float:
        cycles = steady(results, "three_stages_divergent", chip).phases[name]
        return cycles / chip_named(chip).clock * 1e6

    return found


def _balance_of(results: Results, chip: str) -> float:
    phases = steady(results, "three_stages_divergent", chip).phases
    return phases["load"] / phases["multiply"]


def _ideal_load(results: Results, chip: str) -> float:
    found = chip_named(chip)
    rate = found.bandwidth * found.sustained
    return tile_bytes() / (rate / found.cores) * 1e6


def _ideal_multiply(results: Results, chip: str) -> float:
    found = chip_named(chip)
    cycles = FORMS["three_stages_divergent"].multiplications * mma(found, "mma_8x8x8_f32")
    return cycles / found.clock * 1e6


def load() -> list[Claim]:
    s = Section(LOAD)
    form = "three_stages_divergent"
    s.add("threads that load", 64, "", lambda: FORMS[form].loading)
    s.add("read of A", 4096, "B", bytes_of(form, "read_a"))
    s.add(
        "read of packed B",
        512,
        "B",
        bytes_of(form, "read_b"),
        why=f"32 x 64 weights of {BITS} bits",
    )
    s.add(
        "scales",
        128,
        "B",
        lambda: tile_bytes() - budget(form).read_a - budget(form).read_b,
    )
    s.add("read in all", 4736, "B", tile_bytes, why="with 1,024 bytes of B")
    s.add("written to threadgroup memory", 8192, "B", lambda: budget(form).total / 3)
    s.add(
        "ideal time to load a tile",
        0.47,
        "us",
        lambda: tile_bytes() / share_of_core() * 1e6,
        _ideal_load,
        why="for 5,248 bytes; by chip with the bandwidth that DRAM sustains",
    )
    s.add(
        "time to load a tile, with all that it costs",
        (0.8, 1.2),
        "us",
        None,
        _phase("load"),
        why="an estimate; by chip, of a loading simdgroup while all threadgroups of the core run",
    )
    return s.found


def compute() -> list[Claim]:
    s = Section(COMPUTE)
    pair = FORMS["three_stages_divergent"]
    quad = FORMS["three_stages"]
    s.add("sub-tiles of k", 4, "", lambda: pair.tile.k / 8)
    s.add(
        "multiplications of a simdgroup for a sub-tile, four compute",
        8,
        "",
        lambda: quad.multiplications / (quad.tile.k / 8),
        why="2x4 matrices for each of four simdgroups are half of 64x64",
    )
    s.add(
        "multiplications of a simdgroup for a tile, four compute",
        32,
        "",
        lambda: quad.multiplications,
    )
    s.add(
        "multiplications of a simdgroup for a tile, two compute",
        64,
        "",
        lambda: pair.multiplications,
        why="4x4 matrices for each of two are half of 64x64; 4x8 are needed",
    )
    s.add(
        "cycles of a multiplication of 8x8",
        4,
        "cycles",
        lambda: mma(note()),
        lambda _, chip: mma(chip_named(chip), "mma_8x8x8_f32"),
        why="by chip for sums of float",
    )
    s.add(
        "cycles to multiply a tile",
        256,
        "cycles",
        multiply_cycles,
        lambda results, chip: _ideal_multiply(results, chip) * chip_named(chip).clock / 1e6,
        why="128 multiplications, not 64",
    )
    s.add(
        "clock",
        1.4,
        "GHz",
        lambda: note().clock / 1e9,
        lambda _, chip: chip_named(chip).clock / 1e9,
    )
    s.add(
        "time to multiply a tile",
        0.18,
        "us",
        lambda: multiply_cycles() / note().clock * 1e6,
        _ideal_multiply,
        why="128 multiplications, not 64; by chip if nobody else needs the unit",
    )
    return s.found


def balance() -> list[Claim]:
    s = Section(BALANCE)
    s.add(
        "time to load over time to multiply",
        (0.8 / 0.18, 1.2 / 0.18),
        "",
        lambda: tile_bytes() / share_of_core() / (multiply_cycles() / note().clock),
        _balance_of,
        why="by chip while all threadgroups of the core run",
    )
    s.add(
        "traffic of halves over that of FP4",
        4,
        "",
        lambda: (budget("three_stages").total / 3) / tile_bytes(),
        why="B alone shrinks, and its scales come on top",
    )
    return s.found
