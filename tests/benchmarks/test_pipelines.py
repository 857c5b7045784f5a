"""The page about the note on pipelines is what its claims and the kept results give."""

import pytest

from benchmarks.pipelines.advice import ADVICE, CONFIRMED, DEPENDS, REFUTED
from benchmarks.pipelines.claims import claims
from benchmarks.pipelines.main import IMAGES, PAGE, PREDICTED
from benchmarks.pipelines.page import page
from benchmarks.pipelines.pictures import PICTURES, picture
from benchmarks.pipelines.runs import CHIPS, Run, predict, read, runs

SLIPS = {
    ("Current design: double-buffered", "multiplications for each element loaded"),
    ("Memory budget: 64x64x32", "left"),
    ("Memory budget: reduced tiles", "48x48x32: left"),
    ("Load phase", "read of packed B"),
    ("Load phase", "read in all"),
    ("Load phase", "ideal time to load a tile"),
    ("Compute phase", "multiplications of a simdgroup for a sub-tile, four compute"),
    ("Compute phase", "multiplications of a simdgroup for a tile, four compute"),
    ("Compute phase", "multiplications of a simdgroup for a tile, two compute"),
    ("Compute phase", "cycles to multiply a tile"),
    ("Compute phase", "time to multiply a tile"),
    ("Balance assessment", "time to load over time to multiply"),
    ("Balance assessment", "traffic of halves over that of FP4"),
    ("TILE_K = 16 variant", "one buffer"),
    ("TILE_K = 16 variant", "three buffers"),
    ("TILE_M = 32 for decode", "TILE_M = 16, A alone in three buffers (recommendation 3)"),
    ("Fused dequant + triple-buffer hybrid", "left"),
}


def test_the_numbers_that_do_not_come_out_are_those_that_are_known() -> None:
    assert {(each.section, each.what) for each in claims() if each.holds is False} == SLIPS


def test_a_number_s_arithmetic_is_that_of_the_note_s_own_steps() -> None:
    found = {(each.section, each.what): each.comes_to for each in claims()}

    def comes_to(section: str, what: str) -> float:
        arithmetic = found[section, what]
        assert arithmetic is not None
        return arithmetic()

    read_in_all = 64 * 32 * 2 + 32 * 64 // 2 + 64 * 2
    assert comes_to("Load phase", "read in all") == read_in_all
    ideal = read_in_all / (400e9 / 40) * 1e6
    assert comes_to("Load phase", "ideal time to load a tile") == pytest.approx(ideal)
    multiply = 4 * 8 * 4 * 4 / 1.4e9 * 1e6
    assert comes_to("Compute phase", "time to multiply a tile") == pytest.approx(multiply)


def test_results_of_all_runs_are_kept() -> None:
    kept = read(PREDICTED)
    assert set(kept) == set(runs())
    assert all(result.microseconds > 0 and result.resident > 0 for result in kept.values())


def test_the_page_is_what_claims_and_results_give() -> None:
    assert PAGE.read_text("utf-8") == page(read(PREDICTED))


def test_each_recommendation_has_a_verdict_by_runs() -> None:
    results = read(PREDICTED)
    for advice in ADVICE:
        verdict = advice.verdict(results)
        assert verdict.word in (CONFIRMED, REFUTED, DEPENDS)
        for table in advice.tables(results):
            assert table.rows[0][1:] == list(CHIPS)
            assert len(table.rows) > 1
    assert {verdict.verdict(results).word for verdict in ADVICE} != {CONFIRMED}


@pytest.mark.slow
@pytest.mark.parametrize("run", runs()[::40], ids=lambda run: run.key)
def test_kept_results_are_those_that_runs_give(run: Run) -> None:
    kept, found = read(PREDICTED)[run], predict(run)
    assert found.resident == kept.resident
    assert found.microseconds == pytest.approx(kept.microseconds, rel=1e-3)
    assert found.bytes == pytest.approx(kept.bytes, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_are_what_the_kernels_draw(name: str) -> None:
    assert (IMAGES / name).read_text("utf-8") == picture(name)
