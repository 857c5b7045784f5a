"""What the note states as numbers: each once, with what it comes to, and what the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from assay.hw.apple.core.occupancy import occupancy
from assay.hw.apple.facts.chips import Chip
from assay.hw.apple.facts.chips import chip as chip_named
from assay.hw.apple.facts.instructions import instruction_set
from assay.hw.apple.facts.limits import limits
from assay.hw.apple.facts.memory import memory

from .forms import BITS, FORMS, FP4, budget
from .runs import CHIPS, NOTE, Result, Results, Run

_NEAR: Final = 0.005
"""A number of the note that is so near to what it comes to is the same; bytes are counted."""
_SIMDGROUP: Final = 32
_SCALE_BYTES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One number of the note.

    Attributes:
        section: the heading that it stands under.
        what: what it is the number of.
        says: the number, or the least and the largest.
        unit: of all three columns.
        comes_to: the same by arithmetic, with the note's own assumptions (chip `seed-m4-max`); None
            where it gives none.
        model: the same for a chip by measured facts and predicted runs; None where chips have no
            part in it.
        why: what the difference is from.
    """

    section: str
    what: str
    says: float | tuple[float, float]
    unit: str
    comes_to: Callable[[], float] | None
    model: Callable[[Results, str], float] | None = None
    why: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the note's number is what it comes to; None where nothing is to be computed."""
        if self.comes_to is None:
            return None
        low, high = self.says if isinstance(self.says, tuple) else (self.says, self.says)
        near = 0.0 if self.unit == "B" else _NEAR
        return low * (1 - near) <= self.comes_to() <= high * (1 + near)

    def predicted(self, results: Results) -> Mapping[str, float]:
        """By chip; empty where chips have no part in it."""
        return {chip: self.model(results, chip) for chip in CHIPS} if self.model else {}


# What the arithmetic is made of.


def _note() -> Chip:
    return chip_named(NOTE)


def _resident(memory_bytes: int) -> Callable[[], float]:
    """Threadgroups of a core by threadgroup memory alone, as the note counts them."""

    def count() -> float:
        found = occupancy(
            _note(), registers=16, simdgroups=4, threadgroup_memory=memory_bytes, threadgroups=4096
        )
        return found.threadgroups

    return count


def _tile_bytes() -> int:
    """Read from device memory for a tile: x, weights, and their scales."""
    whole = budget("three_stages")
    tile = FORMS["three_stages"].tile
    scales = tile.n * tile.k // FP4.group * _SCALE_BYTES
    return whole.read_a + whole.read_b + scales


def _share_of_core() -> float:
    return _note().bandwidth / _note().cores


def _mma(chip: Chip, name: str = "mma_8x8x8_f16") -> float:
    return instruction_set(chip.timing).classes[name].interval


def _multiply_cycles() -> float:
    return FORMS["three_stages_divergent"].multiplications * _mma(_note())


def _bytes(form: str, name: str) -> Callable[[], float]:
    return lambda: float(getattr(budget(form), name))


# What the model says.


def _steady(results: Results, form: str, chip: str) -> Result:
    return results[Run(form=form, chip=chip, m=512, n=4096, k=512)]


def _on_core(form: str) -> Callable[[Results, str], float]:
    return lambda results, chip: _steady(results, form, chip).resident


def _phase(name: str) -> Callable[[Results, str], float]:
    """Microseconds of a simdgroup for a tile, in the form that the note proposes."""

    def found(results: Results, chip: str) -> float:
        cycles = _steady(results, "three_stages_divergent", chip).phases[name]
        return cycles / chip_named(chip).clock * 1e6

    return found


def _balance(results: Results, chip: str) -> float:
    phases = _steady(results, "three_stages_divergent", chip).phases
    return phases["load"] / phases["multiply"]


def _ideal_load(results: Results, chip: str) -> float:
    found = chip_named(chip)
    rate = found.bandwidth * found.sustained
    return _tile_bytes() / (rate / found.cores) * 1e6


def _ideal_multiply(results: Results, chip: str) -> float:
    found = chip_named(chip)
    cycles = FORMS["three_stages_divergent"].multiplications * _mma(found, "mma_8x8x8_f32")
    return cycles / found.clock * 1e6


CURRENT: Final = "Current design: double-buffered"
WHY_THREE: Final = "Why 3 stages, not 4"
BUDGET: Final = "Memory budget: 64x64x32"
SMALLER: Final = "Memory budget: reduced tiles"
LOAD: Final = "Load phase"
COMPUTE: Final = "Compute phase"
BALANCE: Final = "Balance assessment"
TILES: Final = "Tile size trade-offs"
SHORT: Final = "TILE_K = 16 variant"
DECODE: Final = "TILE_M = 32 for decode"
HYBRID: Final = "Fused dequant + triple-buffer hybrid"


@dataclass(slots=True)
class _Section:
    """Collects the claims of one heading."""

    name: str
    found: list[Claim] = field(default_factory=list)

    def add(
        self,
        what: str,
        says: float | tuple[float, float],
        unit: str,
        comes_to: Callable[[], float] | None,
        model: Callable[[Results, str], float] | None = None,
        why: str = "",
    ) -> None:
        self.found.append(
            Claim(
                section=self.name,
                what=what,
                says=says,
                unit=unit,
                comes_to=comes_to,
                model=model,
                why=why,
            )
        )


def _current() -> list[Claim]:
    s = _Section(CURRENT)
    s.add("memory of two buffers", 16384, "B", _bytes("two_stages", "total"))
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
        lambda: memory(_note().timing).threadgroup_latency,
        lambda _, chip: memory(chip_named(chip).timing).threadgroup_latency,
    )
    s.add("tiles of k when K is 128", 4, "tiles", lambda: 128 / FORMS["two_stages"].tile.k)
    s.add(
        "threadgroups on a core",
        2,
        "",
        _resident(16384),
        _on_core("two_stages"),
    )
    return s.found


def _why_three() -> list[Claim]:
    s = _Section(WHY_THREE)

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
    s.add("memory of four buffers", 32768, "B", _bytes("four_stages", "total"))
    s.add(
        "threadgroups on a core with four",
        1,
        "",
        _resident(32768),
        _on_core("four_stages"),
    )
    return s.found


def _added_by_fourth() -> float:
    return budget("four_stages").total - budget("three_stages").total


def _budget() -> list[Claim]:
    s = _Section(BUDGET)
    form, share = "three_stages", limits().threadgroup_memory / 100
    s.add("A tile", 4096, "B", _bytes(form, "a_tile"))
    s.add("B tile", 4096, "B", _bytes(form, "b_tile"))
    s.add("one buffer", 8192, "B", lambda: budget(form).a_tile + budget(form).b_tile)
    s.add("three buffers", 24576, "B", _bytes(form, "total"))
    s.add("of 32 KB", 75, "%", lambda: budget(form).total / share)
    s.add(
        "left",
        7680,
        "B",
        _bytes(form, "left"),
        why="512 bytes to stage results; they have room in tiles that nobody reads any more",
    )
    s.add("threadgroups on a core", 1, "", _resident(24576), _on_core(form))
    tile = FORMS[form].tile
    s.add("elements of the product for each buffer", 4096, "", lambda: tile.m * tile.n)
    return s.found


def _smaller() -> list[Claim]:
    s = _Section(SMALLER)
    share = limits().threadgroup_memory / 100
    square, low = "three_stages 48x48x32", "three_stages 32x64x32"
    s.add("48x48x32: A tile", 3072, "B", _bytes(square, "a_tile"))
    s.add("48x48x32: B tile", 3072, "B", _bytes(square, "b_tile"))
    s.add("48x48x32: three buffers", 18432, "B", _bytes(square, "total"))
    s.add("48x48x32: of 32 KB", 56, "%", lambda: budget(square).total / share)
    s.add(
        "48x48x32: left",
        13824,
        "B",
        _bytes(square, "left"),
        why="512 bytes to stage results, as above",
    )
    s.add(
        "48x48x32: matrices along a side",
        6,
        "",
        lambda: FORMS[square].tile.m / 8,
        why="so 48 is a multiple of 8, of which the note says that it is not",
    )
    s.add("48x48x32: threadgroups on a core", 1, "", _resident(18432), _on_core(square))
    s.add("32x64x32: A tile", 2048, "B", _bytes(low, "a_tile"))
    s.add("32x64x32: B tile", 4096, "B", _bytes(low, "b_tile"))
    s.add("32x64x32: three buffers", 18432, "B", _bytes(low, "total"))
    tile, whole = FORMS[low].tile, FORMS["three_stages"].tile
    s.add("32x64x32: elements of the product", 2048, "", lambda: tile.m * tile.n)
    s.add(
        "32x64x32: times as many threadgroups", 2, "", lambda: whole.m * whole.n / tile.m / tile.n
    )
    return s.found


def _load() -> list[Claim]:
    s = _Section(LOAD)
    form = "three_stages_divergent"
    s.add("threads that load", 64, "", lambda: FORMS[form].loading)
    s.add("read of A", 4096, "B", _bytes(form, "read_a"))
    s.add(
        "read of packed B",
        512,
        "B",
        _bytes(form, "read_b"),
        why=f"32 x 64 weights of {BITS} bits",
    )
    s.add(
        "scales",
        128,
        "B",
        lambda: _tile_bytes() - budget(form).read_a - budget(form).read_b,
    )
    s.add("read in all", 4736, "B", _tile_bytes, why="with 1,024 bytes of B")
    s.add("written to threadgroup memory", 8192, "B", lambda: budget(form).total / 3)
    s.add(
        "ideal time to load a tile",
        0.47,
        "us",
        lambda: _tile_bytes() / _share_of_core() * 1e6,
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


def _compute() -> list[Claim]:
    s = _Section(COMPUTE)
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
        lambda: _mma(_note()),
        lambda _, chip: _mma(chip_named(chip), "mma_8x8x8_f32"),
        why="by chip for sums of float",
    )
    s.add(
        "cycles to multiply a tile",
        256,
        "cycles",
        _multiply_cycles,
        lambda results, chip: _ideal_multiply(results, chip) * chip_named(chip).clock / 1e6,
        why="128 multiplications, not 64",
    )
    s.add(
        "clock",
        1.4,
        "GHz",
        lambda: _note().clock / 1e9,
        lambda _, chip: chip_named(chip).clock / 1e9,
    )
    s.add(
        "time to multiply a tile",
        0.18,
        "us",
        lambda: _multiply_cycles() / _note().clock * 1e6,
        _ideal_multiply,
        why="128 multiplications, not 64; by chip if nobody else needs the unit",
    )
    return s.found


def _balance_claims() -> list[Claim]:
    s = _Section(BALANCE)
    s.add(
        "time to load over time to multiply",
        (0.8 / 0.18, 1.2 / 0.18),
        "",
        lambda: _tile_bytes() / _share_of_core() / (_multiply_cycles() / _note().clock),
        _balance,
        why="by chip while all threadgroups of the core run",
    )
    s.add(
        "traffic of halves over that of FP4",
        4,
        "",
        lambda: (budget("three_stages").total / 3) / _tile_bytes(),
        why="B alone shrinks, and its scales come on top",
    )
    return s.found


def _tiles() -> list[Claim]:
    s = _Section(TILES)
    rows = {
        "three_stages": (4096, 4096, 24576, (1, 1)),
        "three_stages 64x64x16": (2048, 2048, 12288, (2, 2)),
        "three_stages 32x64x32": (2048, 4096, 18432, (1, 2)),
        "three_stages 32x32x32": (2048, 2048, 12288, (2, 2)),
    }
    for form, (a, b, total, resident) in rows.items():
        tile = FORMS[form].tile
        s.add(f"{tile}: A tile", a, "B", _bytes(form, "a_tile"))
        s.add(f"{tile}: B tile", b, "B", _bytes(form, "b_tile"))
        s.add(f"{tile}: three buffers", total, "B", _bytes(form, "total"))
        s.add(f"{tile}: threadgroups on a core", resident, "", _resident(total), _on_core(form))
    return s.found


def _short() -> list[Claim]:
    s = _Section(SHORT)
    short, whole = "three_stages 64x64x16", "three_stages"
    s.add(
        "one buffer",
        6144,
        "B",
        lambda: budget(short).a_tile + budget(short).b_tile,
        why="the note's own table has it right",
    )
    s.add("three buffers", 18432, "B", _bytes(short, "total"), why="as above")
    s.add("times as many iterations", 2, "", lambda: FORMS[whole].tile.k / FORMS[short].tile.k)
    s.add("sub-tiles of k", 2, "", lambda: FORMS[short].tile.k / 8)
    return s.found


def _decode() -> list[Claim]:
    s = _Section(DECODE)
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
    s.add("TILE_M = 16: three buffers", 15360, "B", _bytes("decode", "total"))
    s.add("TILE_M = 16: threadgroups on a core", 2, "", _resident(15360), _on_core("decode"))
    s.add(
        "TILE_M = 16, A alone in three buffers (recommendation 3)",
        15360,
        "B",
        _bytes("decode_hybrid", "a_tiles"),
        why="15,360 is with B",
    )
    return s.found


def _hybrid() -> list[Claim]:
    s = _Section(HYBRID)
    share = limits().threadgroup_memory / 100
    s.add("A tile", 4096, "B", _bytes("hybrid", "a_tile"))
    s.add("three buffers of A", 12288, "B", _bytes("hybrid", "a_tiles"))
    s.add("staging of B", 512, "B", _bytes("hybrid", "decoded"))
    s.add("in all", 12800, "B", _bytes("hybrid", "total"))
    s.add("of 32 KB", 39, "%", lambda: budget("hybrid").total / share)
    s.add("left", 19712, "B", _bytes("hybrid", "left"))
    s.add("two threadgroups", 25600, "B", lambda: 2 * budget("hybrid").total)
    s.add("threadgroups on a core", 2, "", _resident(12800), _on_core("hybrid"))
    return s.found


def claims() -> list[Claim]:
    """All of them, in the note's order."""
    made = (
        _current,
        _why_three,
        _budget,
        _smaller,
        _load,
        _compute,
        _balance_claims,
        _tiles,
        _short,
        _decode,
        _hybrid,
    )
    return [claim for section in made for claim in section()]
