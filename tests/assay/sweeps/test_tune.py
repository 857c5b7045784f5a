"""Tuning: few runs, and kernels that are nearly the best, also for sizes that nobody tuned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.foundry import format_of
from assay.hw.apple.core.sample import WAVES
from assay.sweeps.declaration import space
from assay.sweeps.halving import FIRST, Runs, fields, halve
from assay.sweeps.point import Point
from assay.sweeps.refining import refine
from assay.sweeps.rows import Row
from assay.sweeps.tuning import Tuned

KNOBS = {"rows_per_lane": [2, 4], "simdgroups": [4, 8, 16, 32], "unroll": [2, 4, 8]}
WIDE = KNOBS | {"groups_together": [1, 4]}
FEW = {"rows_per_lane": [2, 4], "groups_together": [1, 2, 4], "simdgroups": [8, 16, 32]}
CHIPS = ["m1", "m2-pro", "m4-max", "m5-ultra"]


def declared(knobs: dict[str, list[int]] = KNOBS, **axes: Any) -> dict[str, Any]:
    return {"name": "decode", "caches": "cold", "axes": axes, "variants": {"gemv_columns": knobs}}


class Made:
    """Workers with times by a formula: simdgroups 4 are best below n = 3000, 16 from there on."""

    def __init__(self) -> None:
        self.asked: list[tuple[Point, int]] = []

    def measure(self, points: Sequence[Point], waves: int) -> Iterator[list[tuple[Point, Row]]]:
        for point in points:
            self.asked.append((point, waves))
            yield [(point, self.row(point, waves))]

    def row(self, point: Point, waves: int) -> Row:
        knobs = dict(point.recipe.knobs)
        wanted = 4 if point.n < 3000 else 16
        off = abs(np.log2(int(knobs["simdgroups"]) / wanted)) + 0.1 * abs(int(knobs["unroll"]) - 4)
        # Smaller samples are a little off.
        seconds = point.n * 1e-9 * (1 + off) * (1 + 0.01 * (WAVES - waves))
        groups = point.n // int(knobs["rows_per_lane"])
        row = {"threadgroups": groups, "resident_threadgroups": 1, "sampled": waves}
        row["causes"] = {"dram": 0.0}
        return {"status": "ok", "reason": None, "seconds": seconds, **row}


def test_most_kernels_get_only_cheap_runs_and_no_run_is_made_twice() -> None:
    workers = Made()
    runs = Runs(workers)  # type: ignore[arg-type]
    points = space(declared(chip="m4-max", n=[512 * i for i in range(1, 13)], k=4096)).points
    halve(runs, fields(points))
    assert len(set(workers.asked)) == len(workers.asked) == runs.cheap + runs.full
    assert {waves for _, waves in workers.asked} == {FIRST, 2, WAVES}
    assert runs.cheap < len(points) and runs.full < len(points) / 6
    first = [point for point, waves in workers.asked if waves == FIRST]
    assert {point.recipe for point in first} == {point.recipe for point in points}


class Misleading(Made):
    """The smallest sample makes 32 simdgroups look the best."""

    def row(self, point: Point, waves: int) -> Row:
        row = super().row(point, waves)
        if waves == FIRST and dict(point.recipe.knobs)["simdgroups"] == 32:
            row["seconds"] *= 0.4
        return row


def test_one_cheap_run_does_not_decide_among_the_kernels_of_a_grid() -> None:
    runs = Runs(Misleading())  # type: ignore[arg-type]
    knobs = {"simdgroups": [8, 16, 32], "rows_per_lane": [2], "unroll": [4]}
    groups = fields(space(declared(knobs, chip="m4-max", n=4096, k=4096)).points)
    halve(runs, groups)
    (points,) = groups["fp4_128", "m4-max"].values()
    best = min(points, key=lambda recipe: runs.seconds(points[recipe], WAVES))
    assert dict(best.knobs)["simdgroups"] == 16


def test_sizes_between_are_tried_and_again_where_boxes_were_wrong() -> None:
    runs = Runs(Made())  # type: ignore[arg-type]
    wanted = space(declared(chip="m4-max", n=[1024, 15360], k=4096))
    groups = fields(wanted.points)
    halve(runs, groups)
    refine(runs, groups, wanted, 0.02)
    # 3840 was taken for one of the smaller ones; 1792 and 7680 were taken for what they are.
    assert sorted(n for _, n, _ in groups["fp4_128", "m4-max"]) == [1024, 1792, 3840, 7680, 15360]


def test_sizes_between_meet_the_constraints() -> None:
    runs = Runs(Made())  # type: ignore[arg-type]
    given = declared(chip="m4-max", n=[1024, 16384], k=4096)
    wanted = space({**given, "constraints": ["n < 2000 or n > 9000"]})
    groups = fields(wanted.points)
    halve(runs, groups)
    refine(runs, groups, wanted, 0.02)
    assert all(n < 2000 or n > 9000 for _, n, _ in groups["fp4_128", "m4-max"])


def test_a_size_that_nothing_runs_is_named() -> None:
    given = {**declared(chip="m1", n=[64, 63], k=128), "variants": {"gemv_columns": {}}}
    with pytest.raises(assay.SweepError, match="no kernel runs 1x63x128 on m1; the first: 63 rows"):
        assay.tune(given, workers=1)


@pytest.fixture(scope="module")
def small() -> Tuned:
    """Of two kernels for two sizes."""
    variants = {"gemv_columns": {"rows_per_lane": [2, 4], "simdgroups": 4}}
    given = declared(chip=["m1", "m4-max"], n=[64, 4096], k=256)
    return assay.tune({**given, "variants": variants}, workers=1)


def test_a_selector_is_a_file_and_comes_back_as_it_was(small: Tuned, tmp_path: Path) -> None:
    path = tmp_path / "decode.selector.toml"
    small.selector.save(path)
    assert assay.read_selector(path) == small.selector
    again = tmp_path / "again.toml"
    assay.read_selector(path).save(again)
    assert again.read_text() == path.read_text()


def test_conditional_kernels_use_it_and_compute_what_they_should(small: Tuned) -> None:
    conditional = small.selector.conditional("m1")
    assert conditional.select(m=1, n=64, k=256).variant == "gemv_columns"
    fp4 = format_of("fp4_128")
    random = np.random.default_rng(0)
    packed = fp4.pack(random.normal(size=(64, 256)).astype(np.float32))
    x = random.normal(size=(3, 256)).astype(np.float16)
    product = small.selector.product(64, chip="m4-max")
    y = product(matrix=packed.matrix, scales=packed.scales, x=x)
    expected = x.astype(np.float32) @ fp4.unpack(packed).T
    assert np.allclose(y, expected, rtol=2e-3, atol=0.1)
    time = product.time(matrix=packed.matrix, scales=packed.scales, x=x)
    assert time.chip.key == "m4-max"


def test_what_was_not_tuned_is_refused_with_what_was(small: Tuned) -> None:
    with pytest.raises(assay.SweepError, match="fp4_128 on m2 was not tuned; there is"):
        small.selector.conditional("m2")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1", "version = 9", "is no selector of version 1"),
        ("n >= ", "n > 9", "no condition holds for"),
        ("n >= ", "q >= ", "q is no variable"),
        ('variant = "gemv_columns"', "", "is no selector that `assay tune` wrote"),
        ("chip =", "chip", "line"),
    ],
)
def test_files_that_were_damaged_say_how(tmp_path: Path, old: str, new: str, said: str) -> None:
    from assay.sweeps.point import Recipe
    from assay.sweeps.selector import Choice, Selector

    recipe = Recipe(variant="gemv_columns", knobs=(("unroll", 4),))
    choices = (Choice(when="n < 9", recipe=recipe), Choice(when="n >= 9", recipe=recipe))
    path = tmp_path / "a.toml"
    Selector(name="a", model="0", choices={("fp4_128", "m1"): choices}).save(path)
    assert len(assay.read_selector(path).choices) == 1
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(assay.SweepError) as refused:
        assay.read_selector(path)
    assert str(path) in str(refused.value) and said in str(refused.value)


@pytest.mark.slow
def test_on_held_out_sizes_it_loses_at_most_three_percent_against_all_kernels(
    tmp_path: Path,
) -> None:
    given = [1024, 2560, 6144, 14336]
    tuned = assay.tune(declared(WIDE, chip=CHIPS, n=given, k=given))
    others = declared(WIDE, chip=CHIPS, n=[1536, 4096, 8192], k=[1536, 4096, 8192])
    swept = assay.sweep(others, tmp_path)
    lost = assay.loss(tuned.selector, swept.rows)
    assert lost.targets == 36
    assert lost.mean <= 0.03
    assert lost.worst <= 0.15


@pytest.mark.slow
def test_the_tuned_decode_gemv_reaches_most_of_the_roofline_on_every_chip(tmp_path: Path) -> None:
    from assay.hw.apple.facts.chips import chips
    from assay.sweeps.compare import best

    every = [key for key, each in chips().items() if key.startswith("m") and "M" in each.name]
    sizes = [[1, 14336, 4096], [1, 4096, 14336]]
    given = declared(FEW, chip=every, sizes=sizes)
    tuned = assay.tune(given, between=False)
    # What bytes and operations take at least is the same for every kernel.
    rows = assay.sweep(declared({}, chip=every, sizes=sizes), tmp_path).rows
    least = {target: row["least_seconds"] for target, row in best(rows).items()}
    reached = {target: least[target] / seconds for target, seconds in tuned.seconds.items()}
    assert len(reached) == 2 * len(every)
    assert min(reached.values()) >= 0.8, min(reached.items(), key=lambda each: each[1])
    # Bytes that are moved are told from a sample.
    assert max(reached.values()) <= 1.02, max(reached.items(), key=lambda each: each[1])
