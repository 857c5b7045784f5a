"""The result of checking: which kernels, what was found, what is suppressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from assay.sim.check import DEFAULT_CHECKS, OPTIONAL_CHECKS, Checker, Finding
from assay.sim.names import listed
from assay.sim.site import Site

from .errors import CheckFindings
from .suppressions import Suppression, divide, suppressions_in
from .uncompiled import compile_finding
from .variables import with_variable

NOTHING_RAN = "no kernel was dispatched: nothing was checked"

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord:
    """A kernel that was checked, or why it could not be; or a program of another machine.

    `noun` says what it is. `runs` says on which grids, `assumptions` what nobody had stated,
    `assumed_memory` names the buffers among that, `assumed_values` the arguments in constant
    memory, `assumed_constants` the function constants that are numbers; `rests_on` has those of
    these values, with members of structs, that addresses at a line of a file are made of,
    `own_rests_on` those behind indices of the kernel's own arrays. `buffers` names all buffers.
    `missed` says what of its code never ran.
    `seconds` is host time.
    """

    name: str
    file: str = ""
    line: int = 0
    runs: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    assumed_memory: frozenset[str] = frozenset()
    assumed_values: tuple[str, ...] = ()
    assumed_constants: tuple[str, ...] = ()
    buffers: frozenset[str] = frozenset()
    rests_on: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict, hash=False)
    own_rests_on: Mapping[tuple[str, int], tuple[str, ...]] = field(
        default_factory=dict, hash=False
    )
    missed: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0
    noun: str = "kernel"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPart:
    """What was found in some kernels by another process; `sources` are texts that only it has."""

    kernels: tuple[KernelRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    uncompiled: Mapping[str, Finding] = field(default_factory=dict)
    dropped: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)


class Report:
    """What the checks found. `str()` is for people; `findings` has it as data.

    Findings of a checked block appear as soon as its command buffers have run.
    """

    def __init__(
        self,
        checks: Iterable[str] = DEFAULT_CHECKS,
        *,
        suppressions: Iterable[Suppression] = (),
        seeds: Iterable[int] = (),
    ) -> None:
        chosen = frozenset(checks)
        known = DEFAULT_CHECKS + OPTIONAL_CHECKS
        self.checks = tuple(name for name in known if name in chosen)
        self.checks += tuple(sorted(chosen.difference(known)))
        self.seeds = tuple(seeds)
        self.kernels: list[KernelRecord] = []
        self.sources: dict[str, str] = {}
        self._suppressions = list(suppressions)
        self._checkers: list[Checker] = []
        self._own = Checker(chosen)
        self._obstacles: list[str] = []
        self._dropped = 0  # by other processes
        self.notes: list[str] = []
        self.uncompiled: dict[str, Finding] = {}  # by the obstacle that it is

    def new_checker(self, seed: int | None = None) -> Checker:
        """A checker whose findings belong to this report."""
        checker = Checker(self.checks, seed=seed)
        self._checkers.append(checker)
        return checker

    def discard(self, checker: Checker) -> None:
        """Forget the findings of a run that did not count."""
        self._checkers.remove(checker)

    def add(self, finding: Finding) -> None:
        """Add a finding that no run of the engine made."""
        self._own.report(finding)

    def add_kernel(self, record: KernelRecord) -> None:
        """Add a kernel, or a further run of a known one."""
        for at, known in enumerate(self.kernels):
            if (known.name, known.file) == (record.name, record.file):
                self.kernels[at] = _with_run(known, record)
                return
        self.kernels.append(record)

    def kernel_of(self, finding: Finding) -> KernelRecord | None:
        """The kernel that a finding is about; of several with its name, that of its file."""
        named = [kernel for kernel in self.kernels if kernel.name == finding.kernel]
        same = [kernel for kernel in named if kernel.file == finding.site.file]
        return next(iter(same or named), None)

    def add_obstacle(self, text: str) -> None:
        """Add what kept a program, or a part of it, from being checked: a sentence."""
        if text not in self._obstacles:
            self._obstacles.append(text)

    def add_uncompiled(self, file: str, error: str) -> None:
        """Add a file that does not compile, with all that the compiler said."""
        self.uncompiled[error] = compile_finding(file, error)
        self.add_obstacle(error)

    def add_uncompiled_kernel(self, name: str, file: str, error: str) -> None:
        """Add a kernel that does not compile in a text that does."""
        found = replace(compile_finding(file, error), kernel=name, hint="this kernel alone")
        self.uncompiled[error] = found
        self.add_kernel(
            KernelRecord(name=name, file=found.site.file, line=found.site.line, problem=error)
        )

    def add_note(self, text: str) -> None:
        """Add a sentence that people should know beside what was found."""
        if text not in self.notes:
            self.notes.append(text)

    def part(self, known: Iterable[str] = ()) -> ReportPart:
        """What belongs to the kernels, for the report of another process.

        `known` names the files whose texts that report has.
        """
        there = frozenset(known)
        checkers = (*self._checkers, self._own)
        return ReportPart(
            kernels=tuple(self.kernels),
            findings=tuple(each for checker in checkers for each in checker.findings),
            uncompiled=dict(self.uncompiled),
            dropped=self.dropped,
            sources={name: text for name, text in self.sources.items() if name not in there},
        )

    def absorb(self, part: ReportPart) -> ReportPart:
        """Add what was found elsewhere, and give it back."""
        checker = self.new_checker()
        for finding in part.findings:
            checker.report(finding)
        for record in part.kernels:
            self.add_kernel(record)
        self.uncompiled.update(part.uncompiled)
        self.add_sources(part.sources)
        self._dropped += part.dropped
        return part

    def sort_kernels(self, names: Iterable[str]) -> None:
        """Put the kernels of these names and their findings, however they finished, in order."""
        order = {name: at for at, name in enumerate(names)}
        _reorder(self.kernels, lambda kernel: order.get(kernel.name))
        _reorder(self._checkers, lambda checker: order.get(_kernel_of(checker)))

    def add_sources(self, sources: Mapping[str, str]) -> None:
        """Texts to quote from, by file name; their comments may suppress findings."""
        self.sources.update(sources)

    def suppress(self, suppressions: Iterable[Suppression]) -> None:
        """Accept further findings."""
        self._suppressions.extend(suppressions)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from .html import report_html

        return report_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows in a terminal."""
        printer.text(str(self))

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """All findings, those that are suppressed too, each once.

        A place outside of memory whose size was only assumed gives a warning, unless no size would
        do; and so does what a kernel does whose function constants are numbers that were assumed.
        """
        merged: dict[tuple[object, ...], Finding] = {}
        for checker in (*self._checkers, self._own):
            for finding in checker.findings:
                key = _defect(finding)
                known = merged.get(key)
                count = finding.count + (known.count if known else 0)
                merged[key] = replace(known or finding, count=count)
        return tuple(
            with_variable(self._weighed(finding), self.sources) for finding in merged.values()
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that no suppression accepts.

        Raises:
            CheckInputError: for a comment that suppresses without saying what and why.
        """
        return tuple(self.divided()[0])

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of severity error."""
        return tuple(each for each in self.findings if each.severity == "error")

    def tells_budget(self, kernel: str) -> bool:
        """Whether a finding says already why the device refuses the kernel."""
        return any(
            finding.kernel == kernel and finding.check == "budget" and finding.severity == "error"
            for finding in self.all_findings
        )

    @property
    def problems(self) -> tuple[KernelRecord, ...]:
        """Kernels that could not be checked."""
        return tuple(kernel for kernel in self.kernels if kernel.problem)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """What kept programs from being checked to their ends, and whether nothing was checked."""
        found = list(self._obstacles)
        if not self.kernels and not self.findings and not self.uncompiled:
            found.append(NOTHING_RAN)
        if not self.checks:
            found.append("nothing was looked for")
        return tuple(found)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Sentences about all that was not checked; a report with any is never clean."""
        kernels = [
            f"kernel '{each.name}' was not checked: {each.problem}" for each in self.problems
        ]
        return (*self.obstacles, *kernels)

    @property
    def passed(self) -> bool:
        """Whether everything was checked, and without findings of severity error."""
        return not self.errors and not self.unchecked

    @property
    def dropped(self) -> int:
        """Different findings beyond the number that is kept."""
        return self._dropped + sum(checker.dropped for checker in self._checkers)

    def divided(
        self,
    ) -> tuple[list[Finding], list[tuple[Finding, Suppression]], list[Suppression]]:
        """(findings that stand, those suppressed and by what, suppressions that none needed)."""
        every = [*self._suppressions, *suppressions_in(self.sources)]
        return divide(self.all_findings, every)

    def raise_if_any(self) -> None:
        """Raise CheckFindings, with the findings as its text, if there are any."""
        if self.findings:
            raise CheckFindings(str(self))

    def assumptions_of(self, finding: Finding) -> tuple[str, ...]:
        """What the finding depends on that nobody had stated."""
        kernel = self.kernel_of(finding)
        return kernel.assumptions if kernel is not None else ()

    def _weighed(self, finding: Finding) -> Finding:
        """A warning of what might not be there with arguments that somebody states."""
        kernel = self.kernel_of(finding)
        if kernel is None or finding.severity != "error":
            return finding
        if kernel.assumed_constants:
            said = listed(kernel.assumed_constants)
            hint = f"{finding.hint}; or state the function constants {said} in --args or //! lines"
            return replace(finding, severity="warning", hint=f"{hint}: their values are assumed")
        if not _is_conditional(finding, kernel):
            return finding
        behind = kernel.own_rests_on if _is_own(finding, kernel) else kernel.rests_on
        names = [
            name
            for party in finding.parties
            for name in behind.get((party.site.file, party.site.line), ())
        ]
        names = list(dict.fromkeys(names)) or list(kernel.assumed_values)
        hint = finding.hint
        if names:
            hint += f"; or state {listed(names)} in --args or //! lines: the value is assumed"
        return replace(finding, severity="warning", hint=hint)

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __str__(self) -> str:
        from .text import report_text

        return report_text(self)


def _is_conditional(finding: Finding, kernel: KernelRecord) -> bool:
    """Whether a finding rests on what nobody stated: the size of memory, or strides and counts."""
    lines = [(party.site.file, party.site.line) for party in finding.parties]
    if finding.check == "bounds":
        if finding.kind == "runaway":
            return bool(kernel.assumed_values)
        if _is_own(finding, kernel):
            return any(kernel.own_rests_on.get(line) for line in lines)
        return not finding.at_any_size and finding.memory.strip("'") in kernel.assumed_memory
    if finding.check != "race":
        return False
    is_buffer = finding.memory.strip("'") in kernel.buffers
    return is_buffer and any(kernel.rests_on.get(line) for line in lines)


def _is_own(finding: Finding, kernel: KernelRecord) -> bool:
    """Whether it is about an access beyond an array of the kernel itself, whose size is known."""
    memory = finding.memory.strip("'")
    return finding.check == "bounds" and memory not in kernel.buffers | kernel.assumed_memory


def _defect(finding: Finding) -> tuple[object, ...]:
    """What two findings of one defect have in common.

    Of a race, either side may come first. The accesses of two lines are parted by one barrier,
    however many they are, and however often the compiler copied them.
    """
    if finding.check in ("race", "lanes") and not finding.at.unit:
        lines = frozenset(_line(party.site) for party in finding.parties)
        return (finding.kind, finding.kernel, finding.memory, lines)
    return finding.key


def _line(site: Site) -> tuple[object, ...]:
    return (site.file, site.line, *((outer.file, outer.line) for outer in site.inlined))


def _with_run(known: KernelRecord, run: KernelRecord) -> KernelRecord:
    """A kernel with one more run."""
    return replace(
        known,
        runs=tuple(dict.fromkeys(known.runs + run.runs)),
        assumptions=tuple(dict.fromkeys(known.assumptions + run.assumptions)),
        assumed_memory=known.assumed_memory | run.assumed_memory,
        assumed_values=tuple(dict.fromkeys(known.assumed_values + run.assumed_values)),
        assumed_constants=tuple(dict.fromkeys(known.assumed_constants + run.assumed_constants)),
        buffers=known.buffers | run.buffers,
        rests_on={**known.rests_on, **run.rests_on},
        own_rests_on={**known.own_rests_on, **run.own_rests_on},
        missed=tuple(text for text in known.missed if text in run.missed),
        problem=known.problem or run.problem,
        seconds=known.seconds + run.seconds,
    )


def _kernel_of(checker: Checker) -> str:
    """The kernel that a checker found something in; none if it found nothing."""
    return next((finding.kernel for finding in checker.findings), "")


def _reorder(items: list[_Item], key: Callable[[_Item], int | None]) -> None:
    """Sort the items that have a key, at the places that they have."""
    keys = {at: number for at, item in enumerate(items) if (number := key(item)) is not None}
    ordered = [items[at] for at in sorted(keys, key=keys.__getitem__)]
    for at, item in zip(keys, ordered, strict=True):
        items[at] = item
