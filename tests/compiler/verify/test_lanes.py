"""Without lock step, lanes need barriers: what `assay check --check lanes` finds is not proved."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from assay.checks import read_annotations
from assay.compiler.msl import KernelLibrary, compile_library
from assay.compiler.verify import Answer, Launch, prove
from assay.proofs import ProofOptions, prove_source
from assay.proofs.names import names_of

_CORPUS = Path(__file__).parents[2] / "checks" / "lanes"
ABOUT = ("barriers", "threadgroup races", "initialised", "buffer races")
QUICK = ("reverse", "broadcast", "barrier_without_flags", "two_barriers_per_iteration", "sum")
IN_PLACE_OF_MANY = "groups.x == 1 and groups.y == 1"
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


@cache
def library(path: Path) -> KernelLibrary:
    return compile_library(path.read_text())


def named(kind: str) -> list[object]:
    found: list[object] = []
    for path in sorted((_CORPUS / kind).glob("*.metal")):
        for name in re.findall(r"^kernel void (\w+)", path.read_text(), re.MULTILINE):
            marks = () if name in QUICK else pytest.mark.slow
            found.append(pytest.param(path, name, id=f"{path.stem}-{name}", marks=marks))
    return found


def answers(path: Path, name: str, *, lanes: bool) -> dict[str, Answer]:
    (setup, *_) = read_annotations(path.read_text(), path.name).setups[name]
    assert setup.threadgroup is not None
    kernel = library(path).function(name)
    launch = Launch(
        size=setup.threadgroup,
        names=names_of(kernel),
        holds=(IN_PLACE_OF_MANY,),
        lanes=lanes,
    )
    answers = prove(kernel.program(), launch, ABOUT, offers=False)
    return {each.about: each for each in answers}


@pytest.mark.parametrize(("path", "name"), named("bugs"))
def test_what_only_lock_step_makes_right_is_not_proved(path: Path, name: str) -> None:
    found = answers(path, name, lanes=True)
    assert any(each.verdict != "proved" for each in found.values())


@pytest.mark.parametrize(("path", "name"), named("clean"))
def test_lanes_with_barriers_between_them_are_proved(path: Path, name: str) -> None:
    found = answers(path, name, lanes=True)
    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(ABOUT, "proved")


def test_lock_step_makes_it_right_where_it_counts() -> None:
    found = answers(_CORPUS / "bugs" / "exchange.metal", "overwritten_too_early", lanes=False)
    assert all(each.verdict == "proved" for each in found.values())


def test_lock_step_makes_no_lane_find_what_another_wrote() -> None:
    found = answers(_CORPUS / "bugs" / "exchange.metal", "reverse", lanes=False)
    verdicts = {about: each.verdict for about, each in found.items()}
    assert verdicts["threadgroup races"] == "proved"
    assert verdicts["initialised"] != "proved"


@pytest.mark.parametrize("barrier", ["", "simdgroup_barrier(mem_flags::mem_threadgroup);"])
def test_a_barrier_that_not_all_lanes_come_to_is_none(barrier: str) -> None:
    source = f"""{HEAD}//! [kernel.k]
//! threadgroup = 32
kernel void k(device uint* y, uint t [[thread_index_in_threadgroup]]) {{
    threadgroup uint s[32];
    s[t] = t;
    if (t < 16) {{ {barrier} }}
    y[t] = s[31 - t];
}}
"""
    options = ProofOptions(cache=False, offers=False, lanes=True, assume=("groups.x == 1",))
    (proof,) = prove_source(source, "k.metal", options, workers=1)
    assert not proof.is_proved
    assert any("in any order" in each for each in proof.assumptions)


def test_the_memory_model_is_part_of_what_is_kept() -> None:
    source = (_CORPUS / "bugs" / "exchange.metal").read_text()
    about = ("overwritten_too_early",)
    assume = ("groups.x == 1",)
    relaxed = ProofOptions(functions=about, assume=assume, offers=False)
    strict = replace(relaxed, lanes=True)
    verdicts = [
        next(prove_source(source, "e.metal", options, workers=1)).is_proved
        for options in (relaxed, strict, relaxed)
    ]
    assert verdicts == [True, False, True]
