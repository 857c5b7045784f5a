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
    return [each.verdict for each in prove(kernel.program(), launch, ABOUT)]


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
