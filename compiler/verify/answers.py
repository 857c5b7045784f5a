"""What proofs end in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from assay.sim.site import Site

Verdict = Literal["proved", "refuted", "undecided"]
UNKNOWN_ARRAY = "which array it accesses is not known"
UNKNOWN_TARGET = "it accesses memory through a pointer whose target is not known"
"""Why nothing is known of some accesses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A thread of a counterexample, what it does, and where.

    Attributes:
        what: `write of 4 bytes`.
        site: where in the source.
        thread: its position in the threadgroup.
        group: the threadgroup's position in the grid.
    """

    what: str
    site: Site
    thread: tuple[int, int, int]
    group: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A launch in which the solver finds that a property fails; without numbers if none were asked
    for.

    Attributes:
        memory: what it is about, in the kernel's words; empty if it is about no memory.
        groups: threadgroups of the grid.
        arguments: numbers of scalar arguments by name and byte offset, as bit patterns, and
            their types.
        lengths: bytes of arguments that stand for memory, as far as they are stated.
        actors: who does what.
    """

    memory: str
    groups: tuple[int, int, int]
    arguments: Mapping[tuple[str, int], tuple[str, int]]
    actors: tuple[Actor, ...]
    lengths: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why something was not decided, and where."""

    why: str
    site: Site = field(default_factory=Site)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found of one property.

    Attributes:
        about: the property, as `threadgroup races`.
        verdict: `refuted` is what the solver says; it is said to people once a run confirms it.
        cases: how many questions were asked of the solver.
        counterexamples: launches in which it fails, of a refuted one.
        obstacles: what was not decided.
        holds_if: an extra assumption under which it is proved; empty if none was found.
        rests_on: what was taken to hold, at places of the source, without being proved.
        is_late: whether there was no time to find more.
        in_order: places of each two stores of a simdgroup's lanes that nothing but lock step keeps
            apart, of which compilers know nothing.
    """

    about: str
    verdict: Verdict
    cases: int = 0
    counterexamples: tuple[Counterexample, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    rests_on: tuple[Obstacle, ...] = ()
    holds_if: str = ""
    is_late: bool = False
    in_order: frozenset[frozenset[Site]] = frozenset()


def merged(one: Answer, *others: Answer) -> Answer:
    """An answer to several questions of one property together."""
    everything = (one, *others)
    found = answer(
        one.about,
        sum(each.cases for each in everything),
        [example for each in everything for example in each.counterexamples],
        list(dict.fromkeys(why for each in everything for why in each.obstacles)),
    )
    return replace(
        found,
        rests_on=tuple(dict.fromkeys(what for each in everything for what in each.rests_on)),
        is_late=any(each.is_late for each in everything),
    )


def answer(
    about: str, cases: int, counterexamples: list[Counterexample], obstacles: list[Obstacle]
) -> Answer:
    """An answer, by what was found."""
    verdict: Verdict = "refuted" if counterexamples else "undecided" if obstacles else "proved"
    return Answer(
        about=about,
        verdict=verdict,
        cases=cases,
        counterexamples=tuple(counterexamples),
        obstacles=tuple(obstacles),
    )
