"""Answers that tell which extra assumption would make a proof."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from assay.sim.site import Site

from ..answers import Answer
from ..assumed.assumptions import unused_axes
from ..assumed.launch import Launch, assumed_of, can_be, contents_of
from ..kernel import Kernel
from ..ranges import Lemmas
from ..solver import OutOfTime, time_limit
from ..study import Effort, Study
from .choices import choices
from .rising import Chosen, sensible, together
from .weakest import Ask, weakest

_MOST_ROUNDS: Final = 5
_MOST_TRIES: Final = 60  # for a property
_MOST_SECONDS: Final = 20.0
_SECONDS_OF_TRY: Final = 0.3
Prove = Callable[[Kernel, Launch, Effort, Lemmas], Answer]
IsProved = Callable[[Launch, float], bool]


def with_offer(
    answer: Answer,
    kernel: Kernel,
    launch: Launch,
    seconds: float | None,
    is_proved: IsProved,
    prove: Prove | None = None,
) -> Answer:
    """An answer that is no proof, with the weakest extra assumption found that makes it one.

    Args:
        answer: what was found.
        kernel: what it is about.
        launch: what is assumed already.
        seconds: for the search, if it is to take less than it mostly may.
        is_proved: whether the property is proved of a launch in so many seconds, with all that
            this rests on.
        prove: the property alone, where the rest is proved.
    """
    if answer.verdict == "proved" or not answer.counterexamples:
        return answer
    seconds = _MOST_SECONDS if seconds is None else min(seconds, _MOST_SECONDS)
    search = _Search(kernel, launch, seconds, is_proved)
    with contextlib.suppress(OutOfTime), time_limit(seconds):  # what was found stays
        found = search.by_one_question(prove, _failed(answer)) if prove else search.by_proofs()
        return replace(answer, holds_if=together(found))
    return answer


class _Search:
    """Looks for an extra assumption. Raises OutOfTime where there is no time left for it."""

    def __init__(self, kernel: Kernel, launch: Launch, seconds: float, is_proved: IsProved) -> None:
        self._kernel = kernel
        self._launch = launch
        self._end = time.monotonic() + seconds
        self._is_proved = is_proved
        self._tries = 0
        study = Study(kernel, assumed_of(kernel, launch))
        self._choices = choices(
            kernel,
            launch.names,
            launch.lengths,
            {(name, at) for name, (at, _), _ in study.scalars()},
            unused=unused_axes(kernel),
        )

    def by_proofs(self) -> list[Chosen]:
        """The weakest conditions found that make a proof; none if none do."""
        return self._weakest([], self._makes_a_proof)

    def by_one_question(self, prove: Prove, failed: frozenset[frozenset[Site]]) -> list[Chosen]:
        """The same, where one question decides: of the accesses that failed first, then of those
        that fail beside what helped these.
        """
        lemmas = Lemmas()

        def found(parts: Sequence[Chosen], effort: Effort) -> Answer:
            further = self._with(together(parts))
            assumed = replace(self._kernel, contents=contents_of(self._kernel, further))
            return prove(assumed, further, effort, lemmas.under_more())

        def help_with(failed: frozenset[frozenset[Site]], parts: Sequence[Chosen]) -> bool:
            quick = Effort(examples=1, seconds=_SECONDS_OF_TRY, only=failed, is_for_proofs=True)
            return _is_proof(found(parts, quick))

        parts: list[Chosen] = []
        for _ in range(_MOST_ROUNDS):
            further = self._weakest(parts, functools.partial(help_with, failed))
            if not further:
                return []
            parts = [*parts, *further]
            answer = found(parts, Effort(examples=1))
            if _is_proof(answer):
                parts = self._without_needless(parts, len(parts) - len(further))
                return parts if self._makes_a_proof(parts) else []
            failed = _failed(answer)
        return []

    def _weakest(self, beside: Sequence[Chosen], helps: Ask) -> list[Chosen]:
        """The weakest found that help beside others."""

        def counted(parts: Sequence[Chosen]) -> bool:
            self._tries += 1
            if self._tries > _MOST_TRIES:
                raise OutOfTime
            return helps([*beside, *parts])

        def can_be(parts: Sequence[Chosen]) -> bool:
            return self._can_be([*beside, *parts])

        return weakest(self._choices.tries(), counted, can_be)

    def _without_needless(self, parts: list[Chosen], earlier: int) -> list[Chosen]:
        """Without those of the first parts that no others found later leave needed."""
        for each in parts[:earlier]:
            rest = [part for part in parts if part is not each]
            if self._makes_a_proof(rest):
                parts = rest
        return parts

    def _makes_a_proof(self, parts: Sequence[Chosen]) -> bool:
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return self._is_proved(self._with(together(parts)), left)

    def _can_be(self, parts: Sequence[Chosen]) -> bool:
        return can_be(self._kernel, self._with(sensible(parts)))

    def _with(self, text: str) -> Launch:
        return replace(self._launch, holds=(*self._launch.holds, text))


def _is_proof(found: Answer) -> bool:
    return found.verdict == "proved" and not found.in_order


def _failed(found: Answer) -> frozenset[frozenset[Site]]:
    """The accesses of counterexamples."""
    return frozenset(
        frozenset(actor.site for actor in example.actors) for example in found.counterexamples
    )
