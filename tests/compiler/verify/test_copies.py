"""Asynchronous copies are proved if somebody waits for them, and never if nobody does."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from assay.checks import read_annotations
from assay.compiler.msl import KernelLibrary, compile_library
from assay.compiler.verify import Launch, prove
from assay.proofs.names import names_of

from . import copy_kernels
from .copy_kernels import CopyKernel, Statement, faults
from .judge import QUICK
from .unsound import unsound

_CHECKS = Path(__file__).parents[2] / "checks"
_CORPUS = _CHECKS / "race_threadgroup"
CLEAN = (_CORPUS / "clean" / "copies.metal").read_text()
BUGS = (_CORPUS / "bugs" / "copies.metal").read_text()
FIELD = {path.stem: path.read_text() for path in (_CHECKS / "field" / "async").glob("*.metal")}
ABOUT = ("threadgroup races", "initialised")


def named(source: str) -> list[str]:
    return re.findall(r"^kernel void (\w+)", source, re.MULTILINE)


@cache
def library(source: str) -> KernelLibrary:
    return compile_library(source)


def verdicts(source: str, name: str) -> list[str]:
    """What is found of races for threadgroup memory and of what is read unwritten."""
    (setup, *_) = read_annotations(source, "copies.metal").setups[name]
    assert setup.threadgroup is not None
    kernel = library(source).function(name)
    launch = Launch(size=setup.threadgroup, names=names_of(kernel))
    return [each.verdict for each in prove(kernel.program(), launch, ABOUT, offers=False)]


@pytest.mark.parametrize("name", named(CLEAN))
def test_copies_that_are_waited_for_are_proved(name: str) -> None:
    assert verdicts(CLEAN, name) == ["proved", "proved"]


@pytest.mark.parametrize("name", named(BUGS))
def test_copies_that_race_are_not_proved(name: str) -> None:
    assert verdicts(BUGS, name)[0] != "proved"


# That one reads past a buffer; all that write an element of its tile write the same.
@pytest.mark.parametrize("name", sorted(FIELD.keys() - {"past_end"}))
def test_copies_of_the_field_that_go_wrong_are_not_proved(name: str) -> None:
    assert verdicts(FIELD[name], name)[0] != "proved"


# -- random kernels -------------------------------------------------------------------------------

_COPY = Statement("copy", 2, ("0", "32 * i"), event=0, count=64)
_WAIT = Statement("wait", 3, event=0, count=1)
_READ = Statement("get", 5, ("lane",))


def _about(*body: Statement, threads: int = 32, n: int = 3) -> set[str]:
    return {each.about for each in faults(CopyKernel(threads, body), n)}


def _rounds(*body: Statement) -> Statement:
    return Statement("for", 1, ("n",), body=body)


def test_a_copy_that_begins_again_before_its_end_races_with_itself() -> None:
    assert _about(_rounds(_COPY), _WAIT, _READ) == {"threadgroup races"}
    assert _about(_rounds(_COPY, _WAIT), _READ) == set()
    assert _about(_rounds(_COPY, _WAIT), _READ, n=0) == {"initialised"}


def test_others_see_a_copy_behind_the_wait_and_a_barrier() -> None:
    one = Statement("only", 1, ("sg == 0",), body=(Statement("copy", 2, ("0", "0"), 0, 64), _WAIT))
    barrier = Statement("barrier", 4)
    assert _about(one, barrier, _READ, threads=64) == set()
    assert _about(one, _READ, threads=64) == {"threadgroup races"}
    assert _about(one.body[0], barrier, _WAIT, _READ, threads=64) == {"threadgroup races"}


def _said(body: tuple[Statement, ...]) -> str | None:
    source = copy_kernels.source([copy_kernels.text(CopyKernel(32, body), 0)])
    return copy_kernels.verdicts(library(source).function("k0"), 32, QUICK).get("threadgroup races")


def test_a_copy_that_begins_again_before_its_end_is_not_proved() -> None:
    again = (_rounds(_COPY), _WAIT)
    assert _said(again) != "proved"
    with unsound("copies begin once"):
        assert _said(again) == "proved"


@pytest.mark.parametrize("to", ["64", "0"])
def test_a_copy_whose_event_another_takes_the_place_of_is_never_waited_for(to: str) -> None:
    """Their numbers are made from where they write; neither offsets nor events may be confused."""
    first = Statement("copy", 1, ("0", "0"), 0, 64)
    second = Statement("copy", 2, (to, "0"), 0, 64)
    put = Statement("put", 4, ("t", "lane"))
    assert _said((first, second, _WAIT, put)) != "proved"
    assert _said((first, _WAIT, second, _WAIT, put)) == "proved"


def test_no_launch_contradicts_a_proof_of_random_copies() -> None:
    assert [line for seed in range(10) for line in copy_kernels.contradictions(seed, QUICK)] == []


@pytest.mark.slow
def test_no_launch_contradicts_a_proof_of_many_random_copies() -> None:
    found = [line for seed in range(400) for line in copy_kernels.contradictions(seed, QUICK)]
    assert found == []


def test_a_prover_for_which_copies_end_at_once_is_caught() -> None:
    with unsound("copies end at once"):
        assert copy_kernels.contradictions(10, QUICK)
