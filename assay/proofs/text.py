"""Proofs as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assay.compiler.verify.answers import Answer, Obstacle
from assay.sim.site import Site

from ..reports.report import KernelRecord, Report
from ..reports.text import finding_text
from .proof import KernelProof
from .replay import CHECK_OF
from .rings import open_rings, rings_json, rings_text

MEANING = {
    "barriers": "all threads of a threadgroup come to the same barriers",
    "threadgroup races": "no two threads of a threadgroup race for its memory",
    "initialised": "threadgroup memory is written before it is read",
    "buffer races": "no two threads of the grid race for a buffer",
    "bounds": "accesses stay within arrays, and within buffers of stated length",
}
"""What is proved, in words."""

FORMAT_VERSION = 1
SHOWN_OBSTACLES = 8


def proof_text(proof: KernelProof, sources: Mapping[str, str]) -> str:
    """What was found of a kernel: a line for each property, findings, assumptions."""
    if proof.problem:
        line = f":{proof.line}" if proof.line else ""
        place = f"{proof.file}{line}: " if proof.file else ""
        return f"{place}{proof.noun} '{proof.name}': undecided: {proof.problem}"
    lines = [str(proof)]
    for answer in proof.answers:
        lines.append(f"  {answer.verdict + ':':11}{MEANING[answer.about]}")
        lines += [f"    shown by {each}" for each in proof.shown_of(answer.about)]
        lines += [f"    {obstacle_text(each)}" for each in answer.obstacles[:SHOWN_OBSTACLES]]
        if (rest := len(answer.obstacles) - SHOWN_OBSTACLES) > 0:
            lines.append(f"    and {rest} more")
        if answer.holds_if:
            lines.append(f"    it would be proved with: --assume '{answer.holds_if}'")
        if answer.verdict == "proved":
            lines += [f"    if {obstacle_text(each)}" for each in answer.rests_on]
    if proof.rings is not None:
        lines += rings_text(proof.rings, proof.gains)
    lines += [f"  assumed:   {each}" for each in proof.assumptions]
    report = Report(["race"])
    report.add_sources(sources)
    texts = [finding_text(finding, report) for finding in proof.findings]
    return "\n\n".join(["\n".join(lines), *texts])


def obstacle_text(obstacle: Obstacle) -> str:
    """Why, and where if that is known."""
    site = obstacle.site
    place = f"{site.file}:{site.line}: " if site.line else ""
    return f"{place}{obstacle.why}"


def summary(proofs: Sequence[KernelProof]) -> str:
    """One line: how many kernels are proved, refuted, undecided, and what was not asked about."""
    kernels = [each for each in proofs if each.noun == "kernel"]
    refuted = sum(each.is_refuted for each in kernels)
    proved = sum(each.is_proved for each in kernels)
    noun = "kernel" if len(kernels) == 1 else "kernels"
    undecided = len(kernels) - proved - refuted
    told = f"{len(kernels)} {noun}: {proved} proved, {refuted} refuted, {undecided} undecided"
    if not (others := len(proofs) - len(kernels)):
        return told
    return f"{told}; {others} function{'' if others == 1 else 's'} not run"


def proofs_report(proofs: Iterable[KernelProof], sources: Mapping[str, str]) -> Report:
    """What is refuted as findings, and what is undecided as what could not be checked."""
    report = Report(dict.fromkeys(CHECK_OF.values()))
    report.add_sources(sources)
    for proof in proofs:
        record = KernelRecord(
            name=proof.name,
            file=proof.file,
            line=proof.line,
            assumptions=(*proof.assumptions, *_conditions(proof)),
            problem=proof.problem,
            seconds=proof.seconds,
            noun=proof.noun,
        )
        report.add_kernel(record)
        for finding in proof.findings:
            report.add(finding)
        for answer in proof.answers:
            if answer.verdict == "undecided":
                why = "; ".join(obstacle_text(each) for each in answer.obstacles[:SHOWN_OBSTACLES])
                report.add_obstacle(f"{proof}: undecided: {MEANING[answer.about]}: {why}")
        for each in open_rings(proof.rings):
            report.add_obstacle(f"{proof}: undecided: rings: {obstacle_text(each)}")
    return report


def _conditions(proof: KernelProof) -> Iterator[str]:
    """What proofs rest on that is not assumed, as sentences."""
    for answer in proof.answers:
        if answer.verdict == "proved":
            yield from (
                f"{obstacle_text(each)} ({MEANING[answer.about]})" for each in answer.rests_on
            )


def proofs_json(proofs: Iterable[KernelProof]) -> dict[str, Any]:
    """All of it as JSON has it; `version` changes when a field changes its meaning."""
    return {"version": FORMAT_VERSION, "kernels": [_kernel_json(proof) for proof in proofs]}


def _kernel_json(proof: KernelProof) -> dict[str, Any]:
    return {
        "name": proof.name,
        "noun": proof.noun,
        "file": proof.file,
        "line": proof.line,
        "threadgroup": None if proof.threadgroup is None else list(proof.threadgroup),
        "properties": [_answer_json(answer, proof) for answer in proof.answers],
        "findings": [finding.to_json() for finding in proof.findings],
        "assumptions": list(proof.assumptions),
        "problem": proof.problem,
        "rings": None if proof.rings is None else rings_json(proof.rings, proof.gains),
    }


def _answer_json(answer: Answer, proof: KernelProof) -> dict[str, Any]:
    shown = next(proof.shown_of(answer.about), None)
    return {
        "property": answer.about,
        "meaning": MEANING[answer.about],
        "verdict": answer.verdict,
        "questions": answer.cases,
        "rests_on": [
            {"what": each.why, "file": each.site.file, "line": each.site.line}
            for each in answer.rests_on
        ],
        "holds_if": answer.holds_if,
        "shown_by": None if shown is None else shown.to_json(),
        "undecided": [
            {"why": each.why, "file": each.site.file, "line": each.site.line}
            for each in answer.obstacles
        ],
        "counterexamples": [
            {
                "memory": example.memory,
                "threadgroups": list(example.groups),
                "arguments": [
                    {"name": name, "offset": at, "type": element, "bits": number}
                    for (name, at), (element, number) in example.arguments.items()
                ],
                "lengths": dict(example.lengths),
                "threads": [
                    {**asdict(actor), "site": _site_json(actor.site)} for actor in example.actors
                ],
            }
            for example in answer.counterexamples
        ],
    }


def _site_json(site: Site) -> dict[str, Any]:
    return {"file": site.file, "line": site.line}
