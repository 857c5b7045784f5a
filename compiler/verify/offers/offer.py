"""Answers that tell which extra assumption would make a proof."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from assay.sim.site import Site

from ..answers import Answer
from ..assumed.assumptions import unused_axes
from ..assumed.launch import Launch, assumed_of, can_be, contents_of
from ..kernel import Kernel
from ..ranges import Lemmas
from ..solver import OutOfTime
from ..study import Effort, Study
from .choices import choices
from .weakest import weakest

_MOST_ROUNDS: Final = 4  # in which an extra assumption is looked for
_SECONDS_OF_TRY: Final = 0.3
Prove = Callable[[Kernel, Launch, Effort, Lemmas], Answer]


def offered(kernel: Kernel, launch: Launch, prove: Prove, effort: Effort) -> Answer:
    """An answer; if it is no proof, with the weakest extra assumption found that makes it one."""
    lemmas = Lemmas()
    found = prove(kernel, launch, effort, lemmas)
    if found.verdict == "proved" or not found.counterexamples or effort.is_for_proofs:
        return found
    with contextlib.suppress(OutOfTime):  # what was found stays
        return replace(found, holds_if=_helping(kernel, launch, prove, _failed(found), lemmas))
    return found


def _helping(
    kernel: Kernel,
    launch: Launch,
    prove: Prove,
    failed: frozenset[frozenset[Site]],
    lemmas: Lemmas,
) -> str:
    """The weakest extra assumption found under which there is a proof; empty if there is none."""

    def found(text: str, effort: Effort) -> Answer:
        further = with_more(launch, text)
        assumed = replace(kernel, contents=contents_of(kernel, further))
        return prove(assumed, further, effort, lemmas.under_more())

    def helps(effort: Effort, text: str) -> bool:
        return _is_proof(found(text, effort))

    for _ in range(_MOST_ROUNDS):
        # What failed is asked first: mostly nothing helps there.
        quick = Effort(examples=1, seconds=_SECONDS_OF_TRY, only=failed, is_for_proofs=True)
        text = extra_assumption(kernel, launch, functools.partial(helps, quick))
        answer = found(text, Effort(examples=1)) if text else None
        if answer is None or _is_proof(answer):
            return text
        failed |= _failed(answer)
    return ""


def offered_of(
    answer: Answer,
    kernel: Kernel,
    launch: Launch,
    is_proved: Callable[[str, float | None], bool],
    seconds: float | None,
) -> Answer:
    """An answer with the weakest extra assumption found under which there is a proof, by whether
    there is one in so many seconds.
    """
    if answer.verdict == "proved" or not answer.counterexamples:
        return answer
    end = None if seconds is None else time.monotonic() + seconds

    def helps(text: str) -> bool:
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise OutOfTime
        return is_proved(text, left)

    with contextlib.suppress(OutOfTime):  # what was found stays
        return replace(answer, holds_if=extra_assumption(kernel, launch, helps))
    return answer


def extra_assumption(kernel: Kernel, launch: Launch, helps: Callable[[str], bool]) -> str:
    """The weakest found that helps beside what is assumed of launches; empty if none does."""
    read = {(name, at) for name, (at, _), _ in Study(kernel, assumed_of(kernel, launch)).scalars()}
    unused = unused_axes(kernel)
    known = choices(kernel, launch.names, launch.lengths, read, unused=unused)

    def possible(text: str) -> bool:
        return can_be(kernel, with_more(launch, text))

    return next(filter(None, (weakest(each, helps, possible) for each in known)), "")


def with_more(launch: Launch, text: str) -> Launch:
    """With an extra assumption."""
    return replace(launch, holds=(*launch.holds, text))


def _is_proof(found: Answer) -> bool:
    return found.verdict == "proved" and not found.in_order


def _failed(found: Answer) -> frozenset[frozenset[Site]]:
    """The accesses of counterexamples."""
    return frozenset(
        frozenset(actor.site for actor in example.actors) for example in found.counterexamples
    )
