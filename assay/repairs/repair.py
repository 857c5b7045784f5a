"""The smallest change of a kernel's source after which it is proved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..checks.source import SourceOptions, check_source
from ..edits import Node, applied, offset_of, statements
from ..proofs import KernelProof, ProofOptions
from ..proofs.source import SourceProof
from ..reports.report import Report
from . import barriers, indices
from .candidate import Candidate
from .outcome import left_open, newly_proved
from .trial import better, with_offers

if TYPE_CHECKING:
    from assay.compiler.verify import Answer

_MOST_TRIED = 48  # for a step
_MOST_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change after which nothing is refuted, and all that was is proved.

    Attributes:
        kernel: its name.
        what: each step in words.
        source: the whole text with it.
        tried: how many changes were tried.
        proved: properties that were not proved before, and are with it.
        undecided: what is not proved with it either.
    """

    kernel: str
    what: tuple[str, ...]
    source: str
    tried: int
    proved: tuple[str, ...]
    undecided: tuple[str, ...]


def repaired(
    source: str, file_name: str, options: ProofOptions, proofs: Sequence[KernelProof]
) -> Repair | None:
    """The smallest change found after which what was refuted of a kernel is proved, nothing is
    known less than before, and a run has no other findings; None if there is none, or if another
    kernel is made of the same text.

    Args:
        source: the text that has the kernel.
        file_name: its name.
        options: as the kernel was proved.
        proofs: what was found of it, for each of its setups in their order; something is refuted.
    """
    if any(each.file != file_name or each.problem for each in proofs):
        return None  # it stands in a file that this one includes, or not all of it can be judged
    if SourceProof(source, file_name, options).siblings(proofs[0].name):
        return None  # what mends one instance of a template may harm another
    text, current, tried = source, tuple(proofs), 0
    steps: list[str] = []
    for _ in range(_MOST_STEPS):
        if steps:
            current = with_offers(text, file_name, options, current)
        step = _step(text, file_name, options, current)
        tried += step.tried
        if not step.proofs:
            return None
        text, current = step.source, step.proofs
        steps.append(step.what)
        if not any(each.is_refuted for each in current):
            break
    name = proofs[0].name
    if not _is_mended(proofs, current) or _findings(text, file_name, options, name) - _findings(
        source, file_name, options, name
    ):
        return None
    return Repair(
        kernel=name,
        what=tuple(steps),
        source=text,
        tried=tried,
        proved=newly_proved(proofs, current),
        undecided=left_open(current),
    )


def _is_mended(before: Sequence[KernelProof], after: Sequence[KernelProof]) -> bool:
    """Whether all that was refuted of each setup is proved of it."""
    for was, now in zip(before, after, strict=True):
        refuted = {each.about for each in was.answers if each.verdict == "refuted"}
        if any(each.verdict != "proved" for each in now.answers if each.about in refuted):
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A change that mends one property, with what is proved then; nothing if none was found."""

    what: str = ""
    source: str = ""
    proofs: tuple[KernelProof, ...] = ()
    tried: int = 0


def _step(
    source: str, file_name: str, options: ProofOptions, proofs: Sequence[KernelProof]
) -> _Step:
    """The first candidate that helps against the first violation."""
    at, failed = next(
        (at, answer)
        for at, proof in enumerate(proofs)
        for answer in proof.answers
        if answer.verdict == "refuted"
    )
    tried = {source}
    candidates = _candidates(source, proofs[at], failed, options)
    for candidate in itertools.islice(candidates, _MOST_TRIED):
        text = applied(source, candidate.edits)
        if text in tried:
            continue
        tried.add(text)
        found = better(text, file_name, options, proofs, at, failed.about)
        if found is not None:
            return _Step(what=candidate.what, source=text, proofs=found, tried=len(tried) - 1)
    return _Step(tried=len(tried) - 1)


def _candidates(
    source: str, proof: KernelProof, failed: Answer, options: ProofOptions
) -> Iterator[Candidate]:
    """What may help against a violation of a property, the smaller changes first."""
    tree = statements(source)
    sites = dict.fromkeys(
        (actor.site.line, actor.site.column)
        for example in failed.counterexamples
        for actor in example.actors
        if actor.site.line
    )
    places = [tree.at(offset_of(source, line, column)) for line, column in sites]
    function = _function(tree, source, proof)
    if function is None:
        return
    places = list(dict.fromkeys(each for each in places if function in each.around()))
    memory = dict.fromkeys(each.memory for each in failed.counterexamples if each.memory)
    holds_if = failed.holds_if
    if failed.about == "bounds":
        extents = indices.extents_in(source, function, memory, options.buffers)
        yield from indices.guarded_indices(places, source, extents)
        yield from indices.widened(source, function, memory)
        return
    if failed.about == "barriers":
        yield from barriers.moved(function, source, options.macros.values())
    is_shared = failed.about != "buffer races"
    yield from barriers.mended(function, source, threadgroup=is_shared)
    yield from barriers.inserted(places, source, threadgroup=is_shared)
    yield from barriers.moved(function, source, options.macros.values())
    yield from indices.guarded_statements(places, function, source, holds_if, options.macros)


def _function(tree: Node, source: str, proof: KernelProof) -> Node | None:
    """The kernel in the tree."""
    line = source.split("\n")[: proof.line]
    offset = sum(len(each) + 1 for each in line) - 2
    for node in tree.walk():
        if node.kind == "function" and node.start <= offset < node.end:
            return node
    return None


def _findings(
    text: str, file_name: str, options: ProofOptions, name: str
) -> frozenset[tuple[str, str]]:
    """What a run of the kernel finds: kinds and memory."""
    checked = SourceOptions(
        functions=(name,),
        macros=options.macros,
        include_paths=options.include_paths,
        inputs=options.inputs,
    )
    report = Report()
    check_source(text, file_name, report, checked)
    return frozenset((each.kind, each.memory) for each in report.findings)
