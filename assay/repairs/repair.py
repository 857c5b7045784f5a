"""The smallest change of a kernel's source after which it is proved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..checks.source import SourceOptions, check_source
from ..edits import Node, applied, offset_of, statements
from ..launches.errors import LaunchInputError
from ..proofs import KernelProof, ProofOptions
from ..proofs.proof import joined
from ..proofs.source import Question, SourceProof
from ..reports.report import Report
from . import barriers, indices
from .candidate import Candidate

if TYPE_CHECKING:
    from assay.compiler.verify import Answer

_MOST_TRIED = 48  # for a step
_MOST_STEPS = 3
_RANK = {"proved": 0, "undecided": 1, "refuted": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change after which nothing is refuted, and all that was is proved.

    Attributes:
        kernel: its name.
        what: each step in words.
        source: the whole text with it.
        tried: how many changes were tried.
    """

    kernel: str
    what: tuple[str, ...]
    source: str
    tried: int


def repaired(
    source: str, file_name: str, options: ProofOptions, proof: KernelProof
) -> Repair | None:
    """The smallest change found after which what was refuted of a kernel is proved, nothing is
    known less than before, and a run has no other findings; None if there is none.

    Args:
        source: the text that has the kernel.
        file_name: its name.
        options: as the kernel was proved.
        proof: what was found of it; something is refuted.
    """
    if proof.file != file_name:
        return None  # it stands in a file that this one includes
    text, steps, tried = source, [], 0
    current = proof
    for _ in range(_MOST_STEPS):
        step = _step(text, file_name, options, current)
        tried += step.tried
        if step.proof is None:
            return None
        text, current = step.source, step.proof
        steps.append(step.what)
        if not current.is_refuted:
            break
    known = {each.about for each in proof.answers if each.verdict == "refuted"}
    mended = all(each.verdict == "proved" for each in current.answers if each.about in known)
    if not mended or _findings(text, file_name, options, proof) - _findings(
        source, file_name, options, proof
    ):
        return None
    return Repair(kernel=proof.name, what=tuple(steps), source=text, tried=tried)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A change that mends one property, with what is proved then; None if none was found."""

    what: str = ""
    source: str = ""
    proof: KernelProof | None = None
    tried: int = 0


def _step(source: str, file_name: str, options: ProofOptions, proof: KernelProof) -> _Step:
    """The first candidate that helps against the first violation."""
    failed = next(each for each in proof.answers if each.verdict == "refuted")
    tried = {source}
    for candidate in itertools.islice(_candidates(source, proof, failed, options), _MOST_TRIED):
        text = applied(source, candidate.edits)
        if text in tried:
            continue
        tried.add(text)
        better = _better(text, file_name, options, proof, failed)
        if better is not None:
            return _Step(what=candidate.what, source=text, proof=better, tried=len(tried) - 1)
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
        extents = indices.extents_in(source, memory, options.buffers)
        yield from indices.guarded_indices(places, source, extents)
        yield from indices.widened(source, memory)
        return
    if failed.about == "barriers":
        yield from barriers.moved(function, source)
    is_shared = failed.about != "buffer races"
    yield from barriers.mended(function, source, threadgroup=is_shared)
    yield from barriers.inserted(places, source, threadgroup=is_shared)
    yield from barriers.moved(function, source)
    yield from indices.guarded_statements(places, function, source, holds_if)


def _function(tree: Node, source: str, proof: KernelProof) -> Node | None:
    """The kernel in the tree."""
    line = source.split("\n")[: proof.line]
    offset = sum(len(each) + 1 for each in line) - 2
    for node in tree.walk():
        if node.kind == "function" and node.start <= offset < node.end:
            return node
    return None


def _better(
    text: str, file_name: str, options: ProofOptions, proof: KernelProof, failed: Answer
) -> KernelProof | None:
    """What is proved of a changed text, if that is the property, and the rest no less than
    before.
    """
    from assay.compiler.msl import CompileError
    from assay.compiler.verify import TOGETHER

    alone = replace(options, functions=(proof.name,), threadgroup=proof.threadgroup)
    try:
        opened = SourceProof(text, file_name, alone)
    except (CompileError, LaunchInputError):
        return None
    before = {each.about: each.verdict for each in proof.answers}
    groups = sorted(TOGETHER, key=lambda group: failed.about not in group)
    parts = []
    for group in groups:
        after = opened.proof(Question(0, group))
        if after.problem:
            return None
        for answer in after.answers:
            if _RANK[answer.verdict] > _RANK[before.get(answer.about, "proved")]:
                return None
            if answer.about == failed.about and answer.verdict != "proved":
                return None
        parts.append(after)
    return joined(parts)


def _findings(
    text: str, file_name: str, options: ProofOptions, proof: KernelProof
) -> frozenset[tuple[str, str]]:
    """What a run of the kernel finds: kinds and memory."""
    checked = SourceOptions(
        functions=(proof.name,),
        macros=options.macros,
        include_paths=options.include_paths,
        inputs=options.inputs,
    )
    report = Report()
    check_source(text, file_name, report, checked)
    return frozenset((each.kind, each.memory) for each in report.findings)
