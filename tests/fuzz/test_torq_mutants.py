"""Damaged programs for the NPU are refused, found or harmless: in TorqHL, TorqPlan, TorqHW, words.

What a listing in TorqHW or its words say of tasks, transfers, starts and waits is all meant by the
compiler, whose notes the executable carries: whatever damage to it changes a result must be refused
or found. A damaged schedule in TorqPlan is refused unless it makes what its operators mean. Damaged
TorqHL is another program: it is refused, or the NPU gives exactly what its operators mean.
"""

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

from assay.compiler.graph.elements import LIMITS, NUMPY, Array
from assay.compiler.graph.errors import GraphRefused
from assay.compiler.graph.tosa import ops
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.dialect import hl_context, parsed
from assay.compiler.torq.hl.interpret import interpreted
from assay.compiler.torq.hl.text import text_of
from assay.compiler.torq.hl.types import Tensor, tensor_of
from assay.compiler.torq.hw.dialect import hw_parsed
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.plan.dialect import plan_context, plan_parsed
from assay.compiler.torq.schedule.compile import program_for
from assay.compiler.torq.schedule.ir.passes import (
    AllocateLram,
    AllocateXram,
    KeepCode,
    PackConstants,
    Schedule,
    Tile,
)
from assay.hal.observe import checking
from assay.hal.status import StatusError
from assay.hal.torq.check import check
from assay.hal.torq.format import Executable
from assay.hal.torq.listing.module import executable_of
from assay.hal.torq.write import write_executable
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.hw.torq.facts.hardware import hardware
from assay.sim.check import Checker
from tests.compiler.graph import models
from tests.compiler.torq.schedule.running import results
from tests.compiler.torq.test_mutants import PROGRAMS

from .torq_mutants import (
    EQUAL,
    FOUND,
    OTHER,
    REFUSED,
    Subject,
    changed_text,
    changed_word,
    is_command,
    text_verdict,
)

MANY = int(os.environ.get("ASSAY_TORQ_MUTANTS", "1000"))
"""How many of each kind the campaign makes."""


@cache
def _subject(number: int) -> Subject:
    return Subject.of(PROGRAMS[number]())


def _words(subject: Subject, rng: random.Random) -> str:
    return subject.verdict(changed_word(subject, rng))


def _text(subject: Subject, rng: random.Random) -> str:
    return text_verdict(subject, changed_text(subject.text, rng, is_command))


def _campaign(damage: Callable[[Subject, random.Random], str], count: int) -> Counter[str]:
    """Verdicts of so many mutants; none of them gives other results without a finding."""
    verdicts: Counter[str] = Counter()
    for number in range(count):
        verdict = damage(_subject(number % len(PROGRAMS)), random.Random(f"{number}"))
        assert verdict != OTHER, f"mutant {number} gives other results, and nothing says so"
        verdicts[verdict] += 1
    return verdicts


KINDS = [pytest.param(_words, id="words"), pytest.param(_text, id="TorqHW")]


@pytest.mark.parametrize("damage", KINDS)
def test_damaged_programs_are_refused_found_or_harmless(damage) -> None:  # type: ignore[no-untyped-def]
    verdicts = _campaign(damage, 90)
    assert verdicts[FOUND] > 5 and verdicts[EQUAL] > 0
    assert sum(verdicts.values()) == 90


def test_any_damaged_line_of_a_listing_is_taken_or_ends_in_a_message() -> None:
    taken = 0
    for number in range(50):
        rng = random.Random(f"any {number}")
        text = changed_text(_subject(number % len(PROGRAMS)).text, rng, bool)
        try:
            executable = executable_of(hw_parsed(text))
            write_executable(executable)
        except (ParseError, VerifyException, StatusError, TypeError):
            continue
        check_quietly(executable)
        taken += 1
    assert taken > 5


def check_quietly(executable: Executable) -> None:
    with suppress(StatusError):
        check(executable, hardware(), "mutant")


@pytest.mark.slow
@pytest.mark.parametrize("damage", KINDS)
def test_thousands_of_damaged_programs_are_refused_found_or_harmless(damage) -> None:  # type: ignore[no-untyped-def]
    verdicts = _campaign(damage, MANY)
    print(dict(verdicts))
    assert verdicts[FOUND] > MANY // 10


@cache
def _network(folder: Path) -> str:
    module = models.imported("small", folder)
    run_passes(module, usual_passes())
    Tile().apply(hl_context(), module)
    return text_of(module)


def _hl_verdict(text: str) -> str:
    """What becomes of damaged TorqHL; the NPU does what it means, free of hazards."""
    try:
        module = parsed(text)
        function = models.main(module)
        inputs = [_random(tensor_of(argument)) for argument in ops.body(function).args]
        expected = interpreted(function, inputs)
        program = program_for(module)
    except (ParseError, VerifyException, ModelError, GraphRefused):
        return REFUSED
    with checking(Checker(NPU_CHECKS)) as checker:
        found = results(program, inputs, expected)
    assert checker.findings == ()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    return EQUAL


@cache
def _schedule(folder: Path) -> str:
    """A network's schedule with all addresses."""
    module = parsed(_network(folder))
    for each in (Schedule(), PackConstants(), AllocateLram(), KeepCode(), AllocateXram()):
        each.apply(plan_context(), module)
    return str(module)


def _plan_campaign(count: int, folder: Path) -> Counter[str]:
    """Verdicts of damaged schedules; none of them gives other results without a finding."""
    text = _schedule(folder)
    inputs, expected = models.reference("small", folder)
    verdicts: Counter[str] = Counter()
    for number in range(count):
        damaged = changed_text(text, random.Random(f"{number}"), _is_step)
        try:
            program = program_for(plan_parsed(damaged))
        except (ParseError, VerifyException, ModelError):
            verdicts[REFUSED] += 1
            continue
        with checking(Checker(NPU_CHECKS)) as checker:
            found = results(program, inputs, expected)
        is_same = all(map(np.array_equal, expected, found))
        assert checker.findings or is_same, f"schedule {number} gives other results"
        verdicts[FOUND if checker.findings else EQUAL] += 1
    return verdicts


def _is_step(line: str) -> bool:
    return "torq_plan." in line and "torq_plan.schedule" not in line


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_damaged_schedules_are_refused_found_or_harmless(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    verdicts = _plan_campaign(40, tmp_path_factory.mktemp("network"))
    assert verdicts[REFUSED] > 20 and verdicts[EQUAL] > 0


@pytest.mark.slow
@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_many_damaged_schedules_are_refused_found_or_harmless(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    verdicts = _plan_campaign(MANY, tmp_path_factory.mktemp("network"))
    print(dict(verdicts))
    assert verdicts[EQUAL] > MANY // 100


def _random(kind: Tensor) -> Array:
    low, high = LIMITS[kind.dtype]
    chance = np.random.default_rng(0)
    return chance.integers(low, high, kind.shape, endpoint=True).astype(NUMPY[kind.dtype])


def _hl_campaign(count: int, folder: Path) -> Counter[str]:
    text = _network(folder)
    names = [op.name for op in ops.body(models.main(parsed(text))).ops]
    assert len(names) > 5
    verdicts: Counter[str] = Counter()
    for number in range(count):
        rng = random.Random(f"{number}")
        verdicts[_hl_verdict(changed_text(text, rng, _is_operator))] += 1
    return verdicts


def _is_operator(line: str) -> bool:
    return "torq_hl." in line and "torq_hl.const" not in line and "func." not in line


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_damaged_operators_are_refused_or_done_as_they_say(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    verdicts = _hl_campaign(40, tmp_path_factory.mktemp("network"))
    assert verdicts[REFUSED] > 5 and verdicts[EQUAL] > 2


@pytest.mark.slow
@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_many_damaged_operators_are_refused_or_done_as_they_say(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    verdicts = _hl_campaign(MANY, tmp_path_factory.mktemp("network"))
    print(dict(verdicts))
    assert verdicts[EQUAL] > MANY // 50
