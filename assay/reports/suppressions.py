"""Suppressions: findings that a person has looked at and accepts, with the reason."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from assay.sim.check import Finding, UnitPlace
from assay.sim.site import Site

from ..launches.errors import LaunchInputError

_COMMENT = re.compile(r"//\s*assay-suppress:\s*(?P<kind>[\w*?-]*)\s*(?P<reason>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Which findings are accepted.

    `kind` is a kind (`race-read-write`) or a check (`race`), also with `*`; kernel, file and line
    narrow it down if given. A file is named by its last parts. Programs without source lines have a
    unit (`SLC0`, or `SLC0.DEQW` with its agent) in the place of the file, and a `task` (-1: any).
    `origin` says where it was written.
    """

    kind: str
    kernel: str = ""
    file: str = ""
    line: int = 0
    task: int = -1
    reason: str = ""
    origin: str = ""

    def accepts(self, finding: Finding) -> bool:
        """Whether the finding is one of those meant."""
        names = (finding.kind, finding.check)
        if not any(fnmatch.fnmatchcase(name, self.kind) for name in names):
            return False
        if self.kernel and not fnmatch.fnmatchcase(finding.kernel, self.kernel):
            return False
        if finding.at.unit:
            return any(self._is_in(p.unit) for p in finding.parties if p.unit is not None)
        if not self.file and not self.line:
            return True
        return any(self._is_at(site) for site in _sites(finding))

    def _is_in(self, place: UnitPlace) -> bool:
        if self.task >= 0 and place.task != self.task:
            return False
        names = (place.unit, f"{place.unit}.{place.agent}")
        return not self.file or any(fnmatch.fnmatchcase(name, self.file) for name in names)

    def _is_at(self, site: Site) -> bool:
        if self.line and site.line != self.line:
            return False
        return not self.file or _ends_with(site.file, self.file)

    def __str__(self) -> str:
        parts = [self.kind, self.kernel, self.file, str(self.line) if self.line else ""]
        return ":".join(parts).rstrip(":")


def parse_suppression(text: str) -> Suppression:
    """`KIND[:KERNEL[:FILE[:LINE]]]`, as the command line has it. Raises LaunchInputError."""
    parts = text.split(":")
    kind, kernel, file, line = (*parts, "", "", "", "")[:4]
    if not kind or len(parts) > 4 or (line and not line.isdigit()):
        raise LaunchInputError(
            f"--suppress {text}: expected KIND, KIND:KERNEL, KIND:KERNEL:FILE or "
            "KIND:KERNEL:FILE:LINE, such as race-read-write:reduce:kernels.metal:12; for the NPU "
            "KIND:PROGRAM:UNIT:TASK, such as npu-race:conv:SLC0:2"
        )
    return Suppression(
        kind=kind,
        kernel=kernel,
        file=file,
        line=int(line or 0),
        task=int(line) if line else -1,
        reason="given on the command line",
        origin=f"--suppress {text}",
    )


def suppressions_in(sources: Mapping[str, str]) -> tuple[Suppression, ...]:
    """Those that stand in comments, `// assay-suppress: KIND REASON`, on a line or above it.

    Args:
        sources: texts by file name.

    Raises:
        LaunchInputError: for a comment without a kind or a reason.
    """
    found: list[Suppression] = []
    for file, text in sources.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            match = _COMMENT.search(line)
            if match is None:
                continue
            origin = f"{file}:{number}"
            if not match["kind"] or not match["reason"].strip():
                raise LaunchInputError(
                    f"{origin}: expected // assay-suppress: KIND REASON, such as "
                    "// assay-suppress: race-write-write all threads write the same flag"
                )
            found.append(
                Suppression(
                    kind=match["kind"],
                    file=file,
                    line=_line_meant(lines, number, match.start()),
                    reason=match["reason"].strip(),
                    origin=origin,
                )
            )
    return tuple(found)


def _line_meant(lines: list[str], number: int, column: int) -> int:
    """The comment's own line if it has code, else the next that is no comment."""
    if lines[number - 1][:column].strip():
        return number
    for following in range(number + 1, len(lines) + 1):
        text = lines[following - 1].strip()
        if text and not text.startswith("//"):
            return following
    return number


def divide(
    findings: Iterable[Finding], suppressions: Iterable[Suppression]
) -> tuple[list[Finding], list[tuple[Finding, Suppression]], list[Suppression]]:
    """(findings that stand, those suppressed and by what, suppressions that none needed)."""
    known = list(suppressions)
    used: set[int] = set()
    standing: list[Finding] = []
    suppressed: list[tuple[Finding, Suppression]] = []
    for finding in findings:
        accepting = [at for at, each in enumerate(known) if each.accepts(finding)]
        used.update(accepting)
        if accepting:
            suppressed.append((finding, known[accepting[0]]))
        else:
            standing.append(finding)
    return standing, suppressed, [each for at, each in enumerate(known) if at not in used]


def _sites(finding: Finding) -> Iterable[Site]:
    for party in finding.parties:
        yield party.site
        yield from party.site.inlined


def _ends_with(path: str, tail: str) -> bool:
    """Whether the last parts of a path are those of `tail`, with `*` in them."""
    wanted, parts = PurePath(tail).parts, PurePath(path).parts
    return len(parts) >= len(wanted) and all(
        fnmatch.fnmatchcase(part, want)
        for part, want in zip(parts[-len(wanted) :], wanted, strict=True)
    )
