"""Runs counterexamples under the usual checks: what the solver says is told once a run shows it."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.compiler.verify.answers import Answer, Counterexample, Obstacle
from assay.sim.check import Finding

from ..checks.runs import run_setup
from ..launches.errors import LaunchInputError
from ..launches.grid import choose_grid
from ..launches.inputs import Given, Raw, Setup, Size
from ..launches.plan import CannotPlan, Plan, make_plan
from ..launches.runner import CannotRun, Runner
from ..reports.report import Report
from .allowed import Allowed
from .filled import Filled
from .kinds import Memories, memories_of, memory_of
from .places import Places, places_of
from .shown import ShownBy, shown_by
from .stated import Numbers, with_numbers
from .unread import smallest, with_unread

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.verify import Launch

CHECK_OF = {
    "barriers": "barrier",
    "threadgroup races": "race",
    "initialised": "init",
    "buffer races": "race",
    "bounds": "bounds",
}
"""The check that finds a violation of a property in a run."""

LANES = "lanes"
"""The check that finds races which only lock step hides."""
_BOUNDS = CHECK_OF["bounds"]
_MOST_GROUPS = 4096  # threadgroups of a run


@dataclass(frozen=True, slots=True)
class Replayed:
    """What runs showed of an answer.

    Attributes:
        answer: the answer; undecided if it was refuted and no run shows it.
        findings: of the run that shows it.
        shown: that run, if there is one.
    """

    answer: Answer
    findings: tuple[Finding, ...] = ()
    shown: tuple[ShownBy, ...] = ()


class Replay:
    """Runs of one kernel.

    Args:
        kernel: the kernel.
        runner: runs it.
        launch: what is assumed of runs.
        setups: how its own file runs it, tried where a counterexample shows nothing.
        sources: texts for reports.
        fixed: arguments that are as they are, whatever a counterexample says.
        grid: threads of the only grid that is meant; None if there are others.
        cut: arguments whose memory goes on beyond the length that is stated.
    """

    def __init__(
        self,
        kernel: KernelFunction,
        runner: Runner,
        launch: Launch,
        setups: Iterable[Setup],
        sources: Mapping[str, str],
        fixed: Mapping[str, Given] | None = None,
        *,
        grid: Size | None = None,
        cut: Collection[str] = (),
    ) -> None:
        self._kernel = kernel
        self._runner = runner
        self._launch = launch
        self._setups = tuple(
            replace(each, threadgroup=launch.size)
            for each in setups
            if each.threadgroup in (None, launch.size)
        )
        self._sources = sources
        self._fixed = dict(fixed or {})
        self._grid = grid
        self._filled = Filled(kernel, launch.names, launch.holds)
        self._allowed = Allowed(launch)
        self._open = {
            each.name
            for each in kernel.arguments
            if each.name in cut or not self._allowed.is_stated(each.name)
        }

    def confirmed(self, answer: Answer) -> Replayed:
        """What runs show of an answer's counterexamples; undecided if they show nothing."""
        if answer.verdict != "refuted":
            return Replayed(answer)
        check = CHECK_OF[answer.about]
        checks = (check, LANES) if self._launch.lanes and check == "race" else (check,)
        for example in self._examples(answer):
            ran, every = self._run(self._setup(example), checks, example)
            found = self._about(answer, every)
            if chosen := self._same_place(found, example) or self._any_place(found, answer):
                put = tuple(self._places.placed(each, example) for each in chosen)
                return Replayed(answer, put, self._shown(answer, ran))
        for setup in self._setups:
            ran, every = self._run(setup, checks)
            if chosen := self._any_place(self._about(answer, every), answer):
                return Replayed(answer, chosen, self._shown(answer, ran))
        return Replayed(_undecided(answer))

    def _examples(self, answer: Answer) -> Iterator[Counterexample]:
        """Counterexamples, each with a smaller one before it if there may be one."""
        for example in answer.counterexamples:
            small = smallest(self._launch, example)
            yield from (each for each in (small, example) if each is not None)

    def _shown(self, answer: Answer, ran: Plan | None) -> tuple[ShownBy, ...]:
        """The run that showed it."""
        assert ran is not None  # it has findings
        return (shown_by(answer.about, ran, self._launch),)

    @functools.cached_property
    def _places(self) -> Places:
        return places_of(self._kernel.program())

    @functools.cached_property
    def _memories(self) -> Memories:
        return memories_of(self._kernel)

    def _about(self, answer: Answer, found: Iterable[Finding]) -> list[Finding]:
        """Findings that violate a property."""
        return [each for each in found if self._memories.is_about(each, answer.about)]

    def _same_place(self, found: Iterable[Finding], example: Counterexample) -> tuple[Finding, ...]:
        """Findings of the memory and at the lines that a counterexample names."""
        lines = {(actor.site.file, actor.site.line) for actor in example.actors}
        return tuple(
            finding
            for finding in found
            if lines <= {(party.site.file, party.site.line) for party in finding.parties}
            and self._memories.may_be_one(finding, example)
        )

    def _any_place(self, found: Iterable[Finding], answer: Answer) -> tuple[Finding, ...]:
        """Findings of the memory that counterexamples are about."""
        memory = {example.memory for example in answer.counterexamples}
        return tuple(each for each in found if not any(memory) or memory_of(each) in memory)

    def _run(
        self, setup: Setup, checks: Collection[str], example: Counterexample | None = None
    ) -> tuple[Plan | None, tuple[Finding, ...]]:
        """A run of checks with the numbers of a counterexample in its arguments, and its findings;
        none if it cannot be run, or is not as it is assumed.
        """
        from assay.compiler.verify import AssumptionError

        plan: Plan | None = None
        assumed = self._filled.buffers
        # What lies beyond a buffer is none of the numbers that something is assumed of.
        report = Report({*checks, _BOUNDS} if assumed else checks)
        report.add_sources(self._sources)
        with contextlib.suppress(CannotRun, CannotPlan, LaunchInputError, AssumptionError):
            if (known := self._as_assumed(setup, example)) is not None:
                meant, plan = known
                run_setup(self._kernel, meant, self._runner, report)
        found = report.all_findings
        beyond = {memory_of(each) for each in found if each.check == _BOUNDS}
        if beyond & assumed.keys() and (_BOUNDS not in checks or beyond & self._open):
            return plan, ()
        asked = (each for each in found if each.check in checks and not self._is_open(each))
        return plan, tuple(asked)

    def _is_open(self, finding: Finding) -> bool:
        """Whether it tells of a place that may be within memory whose length nobody knows."""
        return finding.check == _BOUNDS and memory_of(finding) in self._open

    def _as_assumed(
        self, setup: Setup, example: Counterexample | None
    ) -> tuple[Setup, Plan] | None:
        """A setup with the numbers of a counterexample, and with what is assumed of its grid and
        its buffers, and its run; None if some of that does not hold in it.
        """
        kernel, allowed = self._kernel, self._allowed
        known = allowed.in_full(setup, choose_grid(kernel, setup))
        known = with_numbers(kernel, known, self._numbers_of(example))
        if example is not None:
            known = allowed.lengthened(known, make_plan(kernel, known))
        filled = self._filled.setup(known)
        plan = None if filled is None else make_plan(kernel, filled)
        if filled is None or plan is None or not allowed.is_among(plan):
            return None
        return filled, plan

    def _numbers_of(self, example: Counterexample | None) -> Numbers:
        """What a counterexample says of arguments that may be as it says."""
        told = {} if example is None else with_unread(self._launch, example, self._bytes(example))
        return {at: number for at, number in told.items() if at[0] not in self._fixed}

    def _bytes(self, example: Counterexample) -> dict[str, int]:
        """How long a counterexample has buffers; less than an element cannot be bound."""
        least = {each.name: each.size for each in self._kernel.arguments}
        return {
            name: max(length, least.get(name, 0), 1) for name, length in example.lengths.items()
        }

    def _setup(self, example: Counterexample) -> Setup:
        """How the kernel is run as a counterexample says, but for the numbers in its arguments; the
        rest is as its file has it.
        """
        given: dict[str, Given] = {}
        if self._setups:
            given.update(self._setups[0].arguments)
        for argument in self._kernel.arguments:
            if argument.address_space == "device":
                given.pop(argument.name, None)  # made for another grid
        own = {argument.name for argument in self._kernel.arguments if argument.is_reference}
        for name, length in self._bytes(example).items():
            if name not in own:
                given[name] = Raw(bytes=length)
        given.update(self._fixed)
        setup = Setup(where="counterexample", threadgroup=self._launch.size, arguments=given)
        if self._grid is not None:
            return replace(setup, threads=self._grid)
        is_small = math.prod(example.groups) <= _MOST_GROUPS
        return replace(setup, threadgroups=example.groups if is_small else (1, 1, 1))


def findings_of(replayed: Iterable[Replayed]) -> tuple[Finding, ...]:
    """All that runs showed, each once."""
    return tuple(dict.fromkeys(finding for each in replayed for finding in each.findings))


def _undecided(answer: Answer) -> Answer:
    """A counterexample that no run shows may rest on values that cannot be."""
    obstacles = [
        Obstacle(
            why=f"{' and '.join(_who(example))} may go wrong, but no run that was tried shows it",
            site=example.actors[0].site,
        )
        for example in answer.counterexamples[:1]
    ]
    return replace(answer, verdict="undecided", obstacles=(*answer.obstacles, *obstacles))


def _who(example: Counterexample) -> list[str]:
    return [f"{actor.what} at line {actor.site.line}" for actor in example.actors]
