"""A damaged pipeline is reported, at both of its places; correct ones of any form are not."""

import os
import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.compiler.foundry.structs.names import FLOAT, HALF
from assay.foundry import SILU, FoundryError, Kernel, WordColumns, bias, format_of
from assay.foundry.library import gemm, matmul
from assay.foundry.products import Pipeline, Simdgroups, Tile
from assay.foundry.types import half
from assay.sim.site import Site
from tests.assay.foundry.factors import Weighted, assert_product, drawn
from tests.assay.foundry.pipeline_mutants import MUTANTS, Mutant

FP4 = WordColumns("fp4", 8)
TILE = Tile(16, 8, 16)
WIDE = Tile(16, 16, 32)
"""A word for each of 64 threads."""
PAIR = Simdgroups(2, 1)
FORMS = {
    "one_stage": Pipeline(tile=TILE, by=PAIR, buffers=1),
    "two_stages": Pipeline(tile=TILE, by=PAIR, buffers=2),
    "three_stages": Pipeline(tile=TILE, by=PAIR, buffers=3),
    "divergent": Pipeline(tile=TILE, by=PAIR, buffers=2, loaders=1),
    "three_stages_divergent": Pipeline(tile=TILE, by=PAIR, buffers=3, loaders=2),
    "hybrid": Pipeline(tile=TILE, by=PAIR, buffers=3, weights="fused"),
    "async": Pipeline(tile=TILE, by=PAIR, buffers=3, is_async=True),
    "async_packed": Pipeline(tile=WIDE, by=PAIR, buffers=2, is_async=True, weights="packed"),
    "async_packed_deep": Pipeline(tile=WIDE, by=PAIR, buffers=3, is_async=True, weights="packed"),
}
VARIANTS = int(os.environ.get("ASSAY_FOUNDRY_CASES", "200"))
TOGETHER = 10


def damaged(kernel: Kernel, mutant: Mutant, pipeline: Pipeline) -> bool:
    """Damages the kernel's text; False where there is nothing of the kind in it."""
    text = mutant.damage(kernel.declared.source, pipeline)
    if text is None:
        return False
    assert text != kernel.declared.source
    kernel.declared.source = text
    return True


def assert_reported(findings: Any, mutant: Mutant, source: str) -> None:
    """By a check that is to find it, at its places, with lines."""
    found = [each for each in findings if each.check in mutant.checks]
    if mutant.call:
        assert any(_is_beyond(each, mutant, source) for each in found), (mutant.name, findings)
        return
    places = [[_files(party.site) for party in each.parties] for each in found]
    assert any(_stand(files, mutant.places) for files in places), (mutant.name, findings)
    assert all(party.site.line > 0 for each in found for party in each.parties)
    assert all(each.memory for each in found if each.check != "barrier")


def _files(site: Site) -> set[str]:
    """Of a place and of those that it was inlined into: policies are called by `decode.h`."""
    return {each.file for each in (site, *site.inlined)}


def _is_beyond(finding: Any, mutant: Mutant, source: str) -> bool:
    """An access beyond a buffer that is named, by a call without the guard that it needs."""
    (party,) = finding.parties
    access, call = mutant.places
    calls = [each for each in party.site.inlined if each.file in call]
    assert finding.memory and "which has" in finding.message
    return party.site.file in access and any(mutant.call in _line(source, each) for each in calls)


def _line(source: str, site: Site) -> str:
    """What stands at a place, by the names that `#line` gives to parts of a text."""
    file, number = "program_source.metal", 0
    for line in source.splitlines():
        number += 1
        if match := re.match(r'#line (\d+) "([^"]+)"', line):
            file, number = match[2], int(match[1]) - 1
        elif (file, number) == (site.file, site.line):
            return line
    return ""


def _stand(files: list[set[str]], places: tuple[frozenset[str], ...]) -> bool:
    first, second = places
    return any(a & first and b & second for a, b in (files[:2], files[1::-1]))


@pytest.mark.parametrize("name", ["barrier dropped", "modulo 2 for 3"])
def test_a_damaged_pipeline_is_reported_at_both_places(name: str) -> None:
    (mutant,) = (each for each in MUTANTS if each.name == name)
    pipeline = replace(FORMS["three_stages"], tile=Tile(16, 8, 8))
    kernel = matmul(float, pipeline=pipeline)
    assert damaged(kernel, mutant, pipeline)
    findings = kernel.check(a=drawn(0, 20, 60), b=drawn(1, 60, 12)).findings
    assert_reported(findings, mutant, kernel.source)


def test_a_load_beyond_a_buffer_is_reported_with_the_call_that_lacks_a_guard() -> None:
    (mutant,) = (each for each in MUTANTS if each.name == "no guard of the last columns of x")
    pipeline = replace(FORMS["three_stages"], tile=Tile(16, 8, 8))
    kernel = matmul(float, pipeline=pipeline)
    assert damaged(kernel, mutant, pipeline)
    findings = kernel.check(a=drawn(0, 32, 60), b=drawn(1, 60, 12)).findings
    assert_reported(findings, mutant, kernel.source)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.parametrize("form", FORMS)
def test_every_damage_to_every_form_is_reported_at_its_places(form: str, mutant: Mutant) -> None:
    pipeline = FORMS[form]
    kernel = gemm(FP4, 12, half, pipeline=pipeline)
    if not damaged(kernel, mutant, pipeline):
        pytest.skip("nothing of the kind in it")
    seed = random.Random(f"{form} {mutant.name}").randrange(1000)
    k = int(mutant.tiles * pipeline.tile.k)
    findings = kernel.check(**Weighted(mutant.rows, 12, k, FP4, seed=seed).values()).findings
    assert_reported(findings, mutant, kernel.source)


def drawn_variant(seed: int) -> tuple[Kernel, dict[str, Any], Any]:
    """A correct kernel of any form, its arguments, and what asserts its product."""
    choose = random.Random(seed)
    while True:
        try:
            return _variant(choose, seed)
        except FoundryError as error:  # beyond the memory that there is
            assert error.rule == "threadgroup-budget"


def _variant(choose: random.Random, seed: int) -> tuple[Kernel, dict[str, Any], Any]:
    rows, columns = choose.choice([(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (1, 4)])
    tile = Tile(
        8 * rows * choose.randint(1, 3),
        8 * columns * choose.randint(1, 3),
        8 * choose.randint(1, 4),
    )
    is_weighted = choose.random() < 0.7
    is_half = choose.random() < 0.6
    buffers = choose.randint(1, 4)
    loaders = choose.choice([0, 1, 2]) if buffers > 1 else 0
    is_async = buffers > 1 and not loaders and choose.random() < 0.5
    weights = choose.choice([FP4, format_of("f16"), WordColumns("nf4", 8), WordColumns("u4", 8)])
    ways = ["tile", "fused", *["packed"] * (is_async and isinstance(weights, WordColumns))]
    pipeline = Pipeline(
        tile=tile,
        by=Simdgroups(rows, columns),
        buffers=buffers,
        loaders=loaders,
        is_async=is_async,
        weights=choose.choice(ways) if is_weighted else "tile",
        accumulator=choose.choice([FLOAT, HALF]) if is_half else FLOAT,
        band=choose.choice([1, 1, 2]),
    )
    m, n, k = (choose.randint(1, 2 * side + 3) for side in (tile.m, tile.n, tile.k))
    element, of = (half, np.float16) if is_half else (float, np.float32)
    sums = np.float16 if pipeline.accumulator == HALF else np.float32
    if is_weighted:
        given = Weighted(m, n, -(-k // 8) * 8, weights, of=of, seed=seed)
        kernel = gemm(weights, n, element, pipeline=pipeline)
        return kernel, given.values(), lambda made: given.check(made, sums=sums)
    turned = choose.random() < 0.5, choose.random() < 0.5
    a, b = drawn(seed, m, k, of=of), drawn(seed + 1, k, n, of=of)
    kernel = matmul(element, turned=turned, pipeline=pipeline)
    values = {"a": a.T if turned[0] else a, "b": b.T if turned[1] else b}
    return kernel, values, lambda made: assert_product(made, a, b, sums=sums)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, VARIANTS, TOGETHER))
def test_seeded_correct_variants_are_right_and_have_no_findings(first: int) -> None:
    for seed in range(first, min(first + TOGETHER, VARIANTS)):
        kernel, values, check = drawn_variant(seed)
        check(kernel(**values))
        findings = kernel.check(**values).findings
        assert not findings, (seed, findings)


@pytest.mark.slow
def test_epilogues_with_loaders_have_no_findings() -> None:
    pipeline = FORMS["three_stages_divergent"]
    kernel = gemm(FP4, 12, half, epilogue=[bias(float), SILU], pipeline=pipeline)
    values = Weighted(20, 12, 40, FP4).values()
    assert not kernel.check(**values, bias=drawn(3, 12)).findings
