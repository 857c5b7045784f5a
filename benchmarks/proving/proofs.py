"""What is proved of one unit, property by property."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.checks.inputs import Inputs
from assay.launches.inputs import Setup
from assay.proofs import KernelProof, ProofOptions
from assay.proofs.source import Question, SourceProof

from .launches import launch_of
from .units import PROJECTS, Unit, include_paths

RACES = (("barriers", "threadgroup races"), ("buffer races",))
QUESTIONS = (*RACES, ("bounds",), ("initialised",))
"""Properties in the order in which they are proved: all within the time of one kernel."""
NO_LIMIT = 1e6
"""Seconds by the clock: those of the processor count here."""
_SHOWN = 6  # reasons of a property


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A unit, and the folder that its project lies in."""

    unit: Unit
    root: Path
    questions: tuple[tuple[str, ...], ...] = QUESTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What was found of a property: verdict, and why it is none."""

    name: str
    verdict: str
    reasons: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    rests_on: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some properties of a unit, and seconds of the processor that they took."""

    properties: tuple[Property, ...] = ()
    problem: str = ""
    threadgroup: tuple[int, int, int] = (1, 1, 1)
    assumptions: tuple[str, ...] = field(default_factory=tuple)
    seconds: float = 0.0


def proved(task: Task) -> Iterator[Part]:
    """The parts of a proof as they are found."""
    begin = time.process_time()
    try:
        opened = _opened(task)
    except Exception as error:  # whatever is wrong with one kernel, the others are counted
        yield Part(problem=_first_line(error), seconds=time.process_time() - begin)
        return
    for about in task.questions:
        try:
            proof = opened.proof(Question(0, about))
        except Exception as error:
            yield Part(problem=_first_line(error), seconds=time.process_time() - begin)
            return
        part = part_of(proof, time.process_time() - begin)
        # Results do not depend on where the sources lie.
        yield replace(part, problem=part.problem.replace(f"{task.root}/", ""))
        if proof.problem:
            return
        begin = time.process_time()


def _opened(task: Task) -> SourceProof:
    unit = task.unit
    project = next(each for each in PROJECTS if each.name == unit.project)
    path = task.root / project.folder / unit.file
    launch = launch_of(unit.project, unit.kernel)
    size = launch.size_for(unit.kernel)
    setup = Setup(threadgroup=size, constants=dict(launch.constants))
    options = ProofOptions(
        functions=(unit.kernel,),
        threadgroup=size,
        include_paths=include_paths(project, task.root),
        inputs=Inputs(setups={unit.kernel: (setup,)}),
        assume=launch.assume,
        buffers=launch.lengths,
        timeout=NO_LIMIT,
        cache=False,
        offers=False,
        ragged=launch.ragged,
    )
    return SourceProof(path.read_text(), str(path), options)


def part_of(proof: KernelProof, seconds: float) -> Part:
    """What was found, as results keep it."""
    return Part(
        properties=tuple(
            Property(
                name=answer.about,
                verdict=answer.verdict,
                reasons=tuple(
                    f"{each.why} @{Path(each.site.file).name}:{each.site.line}"
                    for each in answer.obstacles[:_SHOWN]
                ),
                findings=tuple(
                    f"{finding.kind} {finding.memory} "
                    + " ".join(f"{Path(p.site.file).name}:{p.site.line}" for p in finding.parties)
                    for finding in proof.findings[:_SHOWN]
                )
                if answer.verdict == "refuted"
                else (),
                rests_on=len(answer.rests_on),
            )
            for answer in proof.answers
        ),
        problem=_line(proof.problem),
        threadgroup=proof.threadgroup,
        assumptions=proof.assumptions,
        seconds=round(seconds, 2),
    )


def _first_line(error: Exception) -> str:
    return _line(f"{type(error).__name__}: {error}")


def _line(text: str) -> str:
    return text.partition("\n")[0]
