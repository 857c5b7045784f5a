"""What was found of one kernel, with what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.compiler.verify.answers import Answer
from assay.compiler.verify.rings import Rings
from assay.sim.check import Finding

from ..launches.grid import size_text
from ..launches.inputs import Size
from .cost import Gain
from .rings import open_rings
from .shown import ShownBy


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProof:
    """What is proved of a kernel, refuted or not decided.

    Attributes:
        name, file, line: which kernel.
        threadgroup: threads of its threadgroups; None where nothing was asked about them.
        answers: of each property; a refuted one has findings.
        findings: what runs of counterexamples showed.
        shown: those runs.
        assumptions: what the proofs rest on, as sentences.
        problem: why nothing could be proved; empty if it could.
        rings: of buffers, if that was asked, and which barriers are redundant if all is proved.
        gains: what it would change to leave redundant barriers out, if a chip was named.
        seconds: of the processor.
        noun: what it is, if it is no kernel: a function of a module, whose kernels are not known.
    """

    name: str
    file: str
    line: int
    threadgroup: Size | None = None
    answers: tuple[Answer, ...] = ()
    findings: tuple[Finding, ...] = ()
    shown: tuple[ShownBy, ...] = ()
    assumptions: tuple[str, ...] = ()
    problem: str = ""
    rings: Rings | None = None
    gains: tuple[Gain, ...] = ()
    seconds: float = 0.0
    noun: str = "kernel"

    @property
    def is_proved(self) -> bool:
        """Whether all properties hold for all sizes, and what was asked of rings."""
        are_proved = all(each.verdict == "proved" for each in self.answers)
        return not self.problem and are_proved and not any(open_rings(self.rings))

    @property
    def is_refuted(self) -> bool:
        """Whether a run showed that some property fails."""
        return any(each.verdict == "refuted" for each in self.answers)

    def shown_of(self, about: str) -> Iterator[ShownBy]:
        """The runs that showed a property to fail."""
        return (each for each in self.shown if each.about == about)

    def __str__(self) -> str:
        size = self.threadgroup
        of_size = "" if size is None else f", threadgroups of {size_text(size)} threads"
        return f"{self.file}:{self.line}: kernel '{self.name}'{of_size}"


def joined(parts: Sequence[KernelProof]) -> KernelProof:
    """Proofs of different properties of one kernel as one."""
    findings = dict.fromkeys(finding for part in parts for finding in part.findings)
    answers = tuple(answer for part in parts for answer in part.answers)
    rings = next((part.rings for part in parts if part.rings is not None), None)
    if rings is not None and any(each.verdict != "proved" for each in answers):
        rings = replace(rings, needs=())  # without a barrier no more is proved than with it
    return replace(
        max(parts, key=lambda part: len(part.assumptions)),  # of one that was stopped none is known
        answers=answers,
        findings=tuple(findings),
        shown=tuple(run for part in parts for run in part.shown),
        rings=rings,
        problem=next((part.problem for part in parts if part.problem), ""),
        seconds=sum(part.seconds for part in parts),
    )
