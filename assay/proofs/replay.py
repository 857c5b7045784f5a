"""Runs counterexamples under the usual checks: what the solver says is told once a run shows it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.compiler.verify.answers import Answer, Counterexample, Obstacle
from assay.sim.check import Finding

from ..checks.runs import run_setup
from ..launches.errors import LaunchInputError
from ..launches.grid import choose_grid
from ..launches.inputs import Given, Raw, Setup
from ..launches.plan import CannotPlan, make_plan
from ..launches.runner import CannotRun, Runner
from ..reports.report import Report
from .allowed import Allowed
from .filled import Filled
from .kinds import Memories, memories_of, memory_of
from .stated import Numbers, with_numbers

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


class Replay:
    """Runs of one kernel.

    Args:
        kernel: the kernel.
        runner: runs it.
        launch: what is assumed of runs.
        setups: how its own file runs it, tried where a counterexample shows nothing.
        sources: texts for reports.
        fixed: arguments that are as they are, whatever a counterexample says.
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
        cut: Collection[str] = (),
    ) -> None:
        self._kernel = kernel
        self._runner = runner
        self._size = launch.size
        self._setups = tuple(
            replace(each, threadgroup=launch.size)
            for each in setups
            if each.threadgroup in (None, launch.size)
        )
        self._sources = sources
        self._fixed = dict(fixed or {})
        self._lanes = launch.lanes
        self._filled = Filled(kernel, launch.names, launch.holds)
        self._allowed = Allowed(launch)
        self._open = {
            each.name
            for each in kernel.arguments
            if each.name in cut or not self._allowed.is_stated(each.name)
        }

    def confirmed(self, answer: Answer) -> tuple[Answer, tuple[Finding, ...]]:
        """An answer, and what runs show of its counterexamples; undecided if they show nothing."""
        if answer.verdict != "refuted":
            return answer, ()
        check = CHECK_OF[answer.about]
        checks = (check, LANES) if self._lanes and check == "race" else (check,)
        for example in answer.counterexamples:
            found = self._about(answer, self._run(self._setup(example), checks, example))
            if chosen := self._same_place(found, example) or self._any_place(found, answer):
                return answer, chosen
        for setup in self._setups:
            found = self._about(answer, self._run(setup, checks))
            if chosen := self._any_place(found, answer):
                return answer, chosen
        return _undecided(answer), ()

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
    ) -> tuple[Finding, ...]:
        """The findings of a run of checks, with the numbers of a counterexample in its arguments;
        none if it cannot be run, or is not as it is assumed.
        """
        from assay.compiler.verify import AssumptionError

        assumed = self._filled.buffers
        # What lies beyond a buffer is none of the numbers that something is assumed of.
        report = Report({*checks, _BOUNDS} if assumed else checks)
        report.add_sources(self._sources)
        with contextlib.suppress(CannotRun, CannotPlan, LaunchInputError, AssumptionError):
            known = self._as_assumed(setup, example)
            if known is not None:
                run_setup(self._kernel, known, self._runner, report)
        found = report.all_findings
        beyond = {memory_of(each) for each in found if each.check == _BOUNDS}
        if beyond & assumed.keys() and (_BOUNDS not in checks or beyond & self._open):
            return ()
        return tuple(each for each in found if each.check in checks and not self._is_open(each))

    def _is_open(self, finding: Finding) -> bool:
        """Whether it tells of a place that may be within memory whose length nobody knows."""
        return finding.check == _BOUNDS and memory_of(finding) in self._open

    def _as_assumed(self, setup: Setup, example: Counterexample | None) -> Setup | None:
        """A setup with the numbers of a counterexample, and with what is assumed of its grid and
        its buffers; None if some of that does not hold in it.
        """
        kernel, allowed = self._kernel, self._allowed
        known = allowed.in_full(setup, choose_grid(kernel, setup))
        known = with_numbers(kernel, known, self._numbers_of(example))
        if example is not None:
            known = allowed.lengthened(known, make_plan(kernel, known))
        filled = self._filled.setup(known)
        if filled is None or not allowed.is_among(make_plan(kernel, filled)):
            return None
        return filled

    def _numbers_of(self, example: Counterexample | None) -> Numbers:
        """What a counterexample says of arguments that may be as it says."""
        told = {} if example is None else example.arguments
        return {at: number for at, number in told.items() if at[0] not in self._fixed}

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
        for name, length in example.lengths.items():
            if name not in own:
                given[name] = Raw(bytes=max(length, 1))
        given.update(self._fixed)
        x, y, z = example.groups
        groups = example.groups if x * y * z <= _MOST_GROUPS else (1, 1, 1)
        return Setup(
            where="counterexample", threadgroups=groups, threadgroup=self._size, arguments=given
        )


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
