"""Removes from a source whatever a finding does not need.

Hierarchical delta debugging: parts are removed in halves, quarters and so on, from declarations
down to statements, what is around them, and arguments. What is left compiles, runs, and has a
finding of the same kind between the same statements.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.sim.check import Finding
from assay.sim.check.finding import DECLARED

from ..checks.source import SourceOptions, check_source
from ..edits import offset_of
from ..launches.errors import LaunchInputError
from ..reports.report import Report
from . import simpler, units
from .launch import as_comments, launch_lines, shrunk, without_launch
from .pieces import Pieces, Range, Unit
from .single import by_type, single_text, without_header

FUEL = 1 << 22
"""Instructions of one simdgroup in a try; removing parts makes loops endless."""

_MOST_ROUNDS = 8
_NAME = "reduced.metal"
Say = Callable[[str], None]


class NothingToReduce(LaunchInputError):
    """There is no finding; `str()` says where it was looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """What is left of a source.

    Attributes:
        source: one text, which `assay check` runs by itself.
        finding: what it has, in places of that text.
        lines_before, lines_after: how many lines it was and is, without empty ones.
        tries: how many texts were run.
    """

    source: str
    finding: Finding
    lines_before: int
    lines_after: int
    tries: int


def reduce_source(
    source: str,
    file_name: str,
    options: SourceOptions,
    *,
    checks: Iterable[str],
    kind: str | None = None,
    arguments: Path | None = None,
    say: Say | None = None,
) -> Reduced:
    """The smallest part of a source that still has its first finding.

    Args:
        source: MSL.
        file_name: its name; what it includes is looked for beside it.
        options: how it is compiled, and which kernel is meant: the first with a finding if none is
            named.
        checks: what is looked for.
        kind: of the finding, such as `race-read-write`; any if None.
        arguments: the TOML file that `options.inputs` come from.
        say: told how far it is.

    Raises:
        CompileError: if the source does not compile.
        NothingToReduce: if it has no such finding, or not as one text.
    """
    checks = tuple(checks)
    target = _target(source, file_name, options, checks, kind)
    text = single_text(source, Path(file_name).parent, options.include_paths, options.macros)
    launch = launch_lines(text, target.kernel, arguments)
    search = _Search(without_launch(text), launch, target, checks, say or (lambda _: None))
    search.run(_lines(source))
    return search.result(_lines(source))


def _target(
    source: str, file_name: str, options: SourceOptions, checks: tuple[str, ...], kind: str | None
) -> Finding:
    """The finding that is to stay."""
    report = Report(checks)
    check_source(source, file_name, report, options)
    for finding in report.findings:
        if finding.kernel and (kind is None or finding.kind == kind):
            return finding
    what = f"no finding of kind '{kind}'" if kind else "no finding"
    found = ", ".join(dict.fromkeys(each.kind for each in report.findings))
    also = f"; there are {found}" if found else ""
    also += "".join(f"; {each}" for each in report.unchecked)
    raise NothingToReduce(f"{file_name}: there is {what} to reduce it to{also}")


class _Search:
    """Tries parts of a text, with lines that say how it is run."""

    def __init__(
        self, source: str, launch: list[str], target: Finding, checks: tuple[str, ...], say: Say
    ) -> None:
        self._header, self._source = without_header(source)
        self._pieces = Pieces(self._source)
        self._launch = launch
        self._target = target
        self._checks = checks
        self._say = say
        self._tries = 0
        self._fuel: int | None = FUEL
        self._places: frozenset[int] | None = None
        self._kinds: frozenset[str] = frozenset()  # of all findings at the begin
        self._known: dict[str, bool] = {}
        self._finding = target

    def run(self, lines: int) -> None:
        """Remove all that can go. Raises NothingToReduce."""
        self._begin()
        self._remove([(0, 0), *units.decoration(self._source)], lines)
        for _ in range(_MOST_ROUNDS):
            before = self._pieces.text, self._launch
            self._pieces = self._pieces.settled()
            for level in units.levels(self._pieces.source):
                self._remove(level, lines)
            self._pieces = self._pieces.settled()
            for kind in simpler.KINDS:
                self._simplify(kind, lines)
            self._shorten()
            if (self._pieces.text, self._launch) == before:
                break
        self._pieces = self._pieces.settled()
        while found := [each for each in units.blanks(self._pieces) if each[0] < each[1]]:
            before_blanks = self._pieces
            self._remove(found, lines)
            if self._pieces == before_blanks:
                break

    def result(self, lines: int) -> Reduced:
        """What is left."""
        text = self._pieces.text
        self._pieces = self._pieces.without([(0, len(text) - len(text.lstrip()))])
        source = self._head(self._launch) + self._pieces.text.rstrip() + "\n"
        self._has(self._pieces, self._launch, again=True)
        return Reduced(
            source=source,
            finding=self._finding,
            lines_before=lines,
            lines_after=_lines(source),
            tries=self._tries,
        )

    def _begin(self) -> None:
        """Look where the finding is in the text as it is, with little fuel or with the usual."""
        texts = dict.fromkeys((by_type(self._source), self._source))
        for fuel, text in itertools.product((FUEL, None), texts):
            self._fuel, self._source, self._pieces = fuel, text, Pieces(text)
            found = self._findings(self._pieces, self._launch)
            self._kinds = frozenset(each.kind for each in found)
            for finding in filter(self._is_meant, found):
                self._places = self._original(finding, self._pieces, self._launch)
                return
        raise NothingToReduce(
            f"the finding {self._target.kind} of kernel '{self._target.kernel}' is gone when its "
            "source, the files that it includes and its launch are put into one text"
        )

    def _remove(self, level: Sequence[Unit], lines: int) -> None:
        """Remove as many units of a level as can go: all, halves, quarters, ..., one by one."""
        open = [each for each in map(_ranges, level) if any(self._pieces.has(*r) for r in each)]
        if not open and level:
            open = [each for each in map(_ranges, level) if any(a < b for a, b in each)]
        size = len(open)
        while size:
            at = len(open)
            while at > 0:
                chunk = open[max(at - size, 0) : at]
                smaller = self._pieces.without(r for each in chunk for r in each)
                if smaller != self._pieces and self._has(smaller, self._launch):
                    self._pieces = smaller
                    del open[max(at - size, 0) : at]
                    self._tell(lines)
                at -= size
            size = 0 if size == 1 else (size + 1) // 2

    def _simplify(self, kind: simpler.Find, lines: int) -> None:
        """Replace what can be, from the last on."""
        limit = len(self._pieces.source) + 1
        while limit:
            text, limit_before = self._pieces.source, limit
            limit = 0
            for changes in simpler.candidates(kind, text):
                if changes[0].start >= limit_before:
                    continue
                smaller = self._pieces.changed(changes)
                if _size(smaller.text) < _size(text) and self._has(smaller, self._launch):
                    self._pieces = smaller
                    limit = changes[0].start + 1
                    self._tell(lines)
                    break

    def _tell(self, lines: int) -> None:
        left = _lines(self._pieces.text) + len(self._launch)
        self._say(f"{left} of {lines} lines are left after {self._tries} tries")

    def _shorten(self) -> None:
        """Remove lines of the launch, and make its numbers smaller."""
        if self._launch and self._has(self._pieces, []):
            self._launch = []
        at = len(self._launch) - 1
        while at >= 0:
            fewer = [*self._launch[:at], *self._launch[at + 1 :]]
            if self._has(self._pieces, fewer):
                self._launch = fewer
            at = min(at, len(self._launch)) - 1
        changed = True
        while changed:
            changed = False
            for smaller in shrunk(self._launch):
                if self._has(self._pieces, smaller):
                    self._launch, changed = smaller, True
                    break

    def _has(self, pieces: Pieces, launch: list[str], *, again: bool = False) -> bool:
        """Whether a part has the finding, and none of a kind that the whole has not."""
        text = self._head(launch) + pieces.text
        if text not in self._known or again:
            self._known[text] = False
            findings = self._findings(pieces, launch)
            if not self._kinds.issuperset(each.kind for each in findings):
                return False
            for finding in filter(self._is_meant, findings):
                if self._original(finding, pieces, launch) == self._places:
                    self._finding = finding
                    self._known[text] = True
                    break
        return self._known[text]

    def _is_meant(self, finding: Finding) -> bool:
        target = self._target
        return (finding.kind, finding.severity) == (target.kind, target.severity)

    def _head(self, launch: list[str]) -> str:
        """What stands before the source."""
        return as_comments(launch) + self._header

    def _findings(self, pieces: Pieces, launch: list[str]) -> list[Finding]:
        """What a run of a part finds; nothing if it cannot be run."""
        from assay.compiler.msl import CompileError

        self._tries += 1
        report = Report(self._checks)
        options = SourceOptions(functions=(self._target.kernel,), fuel=self._fuel)
        try:
            check_source(self._head(launch) + pieces.text, _NAME, report, options)
        except (CompileError, LaunchInputError):
            return []
        return [each for each in report.findings if each.kernel == self._target.kernel]

    def _original(self, finding: Finding, pieces: Pieces, launch: list[str]) -> frozenset[int]:
        """The lines of the whole text that a finding names."""
        head = self._head(launch)
        text = head + pieces.text
        found = set()
        for party in finding.parties:
            if party.what == DECLARED or party.site.file != _NAME:
                continue
            at = offset_of(text, party.site.line, max(party.site.column, 1)) - len(head)
            found.add(self._source.count("\n", 0, pieces.origin(at)))
        return frozenset(found)


def _ranges(unit: Unit) -> tuple[Range, ...]:
    first = unit[0]
    return (unit,) if isinstance(first, int) else unit  # type: ignore[return-value]


def _size(text: str) -> tuple[int, int, int]:
    """Lines, characters that are no blanks, and letters."""
    return (
        _lines(text),
        sum(not each.isspace() for each in text),
        sum(each.isalpha() for each in text),
    )


def _lines(text: str) -> int:
    """Lines that are not empty."""
    return sum(bool(line.strip()) for line in text.split("\n"))
