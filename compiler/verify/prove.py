"""Proofs of one kernel: what holds for all sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, is_private
from assay.sim.simt.run.program import Program

from . import barriers, bounds, races
from .answers import Answer, Obstacle
from .assumed.launch import Launch, assumed_of, contents_of, refuse_contradictions
from .initial import ABOUT as INITIALISED
from .initial import initialised
from .kernel import Kernel, Lack, is_read_only, prepared, read_by_all
from .lanes import Strict
from .memory.stored import stored_in
from .offers import Prove, with_offer
from .ranges import NEGATIVE, Lemmas
from .solver import OutOfTime, own_terms, time_limit
from .study import Effort, Study
from .walks.parts import made_by_part

_LACKS: Final = "accesses or barriers may be missing in what the optimiser made of it"
DEFAULT: Final = Effort()


TOGETHER: Final = (
    (barriers.ABOUT, races.THREADGROUP, INITIALISED),
    (races.BUFFERS,),
    (bounds.ABOUT,),
)
"""Properties in the groups in which they are proved."""
PROPERTIES: Final = tuple(about for group in TOGETHER for about in group)
"""What is proved, by name."""


@own_terms()
def prove(
    program: Program,
    launch: Launch,
    about: Collection[str] = PROPERTIES,
    *,
    seconds: float | None = None,
    offers: bool = True,
    effort: Effort = DEFAULT,
    optimised: bool = False,
) -> list[Answer]:
    """What is proved, refuted or not decided of a kernel.

    Args:
        program: the kernel.
        launch: what is assumed of its launches.
        about: names of properties.
        seconds: after which a property is left undecided; None for any number.
        offers: whether an assumption that would help is looked for where there is no proof.
        effort: how much is done for each answer.
        optimised: whether the kernel is read as the engines run it. In short loops that are
            unrolled, steps that double are numbers, which proves more; most kernels are easier to
            follow as they are written. The optimiser knows of no lock step, so that nothing but
            barriers orders lanes there.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
        AssumptionError: for an assumption that is not understood.
    """
    for text in launch.holds:
        launch.names.check(text, condition=True)
    for text in launch.lengths.values():
        launch.names.check(text, condition=False)
    in_any_order = replace(launch, lanes=True)
    kernel = _prepared(program, in_any_order if optimised else launch, optimised=optimised)
    if Lack.OWN in kernel.lacks and not optimised:
        # What cannot be followed as it is written is read as the engines run it, too.
        optimised = True
        kernel = _prepared(program, in_any_order, optimised=True)
    launch = in_any_order if optimised else launch
    assumed = assumed_of(kernel, launch)
    refuse_contradictions(kernel, launch, Study(kernel, assumed))

    def within(name: str, find: Callable[[], Answer]) -> Answer:
        return _within(seconds, name, find)

    # Only properties of one group share lemmas, so that processes change no answer.
    lemmas = Lemmas()
    strict = Strict(
        kernel,
        lambda: _prepared(program, launch, optimised=optimised, by_simdgroup=True),
        lambda other: assumed_of(other, launch),
        effort,
        is_meant=launch.lanes,
    )

    def within_bounds() -> Answer:
        answer = _bounds(kernel, launch, effort, Lemmas())
        if answer.verdict == "proved":
            return if_followed(answer)
        stored = stored_in(kernel, Study(kernel, assumed, alone=True, effort=effort).a)
        if not stored or not reads_what_was_stored():
            return if_followed(answer)
        known = _bounds(replace(kernel, stored=stored), launch, effort, Lemmas())
        return if_followed(known if known.verdict == "proved" else answer)

    def if_followed(answer: Answer) -> Answer:
        """A proof, if what the optimiser took threads to read is what they do read."""
        is_proof = optimised and answer.verdict == "proved"
        needed = _communicated(kernel) if is_proof else set()
        return answer if not needed or are_proved(needed) else _of_lacking(answer)

    def reads_what_was_stored() -> bool:
        """Whether all that is read of threadgroup memory was written before, without a race."""
        return are_proved(TOGETHER[0])

    def are_proved(needed: Collection[str]) -> bool:
        answers = [each for each in found if each.about in needed]
        if len(answers) < len(needed) or (effort.only, effort.each) != (None, None):
            everything = replace(effort, only=None, each=None, is_for_proofs=True)
            answers = prove(
                program,
                launch,
                needed,
                seconds=seconds,
                effort=everything,
                optimised=optimised,
            )
        return len(answers) == len(needed) and all(x.verdict == "proved" for x in answers)

    def study(name: str) -> Study:
        return Study(kernel, assumed, effort=effort.of(name), lemmas=lemmas)

    def uniform_barriers() -> Answer:
        return strict.barriers(barriers.uniform_barriers(study(barriers.ABOUT)))

    def threadgroup_races() -> Answer:
        return strict.threadgroup(study(races.THREADGROUP))

    def buffer_races() -> Answer:
        return strict.buffers(_buffer_races(kernel, launch, effort, Lemmas()))

    found: list[Answer] = []
    buffers_rest = races.BUFFERS in about and bool(read_by_all(kernel))
    if set(about) - {bounds.ABOUT}:
        uniform = within(barriers.ABOUT, uniform_barriers)
        if effort.is_for_proofs and uniform.verdict != "proved":
            # All but bounds rests on it.
            about = {bounds.ABOUT, barriers.ABOUT} & set(about)
    if buffers_rest or not set(TOGETHER[0]).isdisjoint(about):
        raced = within(races.THREADGROUP, threadgroup_races)
        uniform, raced = _together(kernel, uniform, raced)
        found += [uniform, raced]
    if INITIALISED in about and not (effort.is_for_proofs and raced.verdict != "proved"):
        written = within(INITIALISED, lambda: _initialised(kernel, launch, effort, lemmas))
        found.append(_resting(_resting(written, uniform), raced))
    if races.BUFFERS in about:
        answer = _resting(within(races.BUFFERS, buffer_races), uniform)
        found.append(_resting(answer, raced) if buffers_rest else answer)
    if bounds.ABOUT in about:
        found.append(within(bounds.ABOUT, within_bounds))
    meant = [_of_what_is_there(kernel, each) for each in found if each.about in about]
    quick = replace(effort, is_for_proofs=True)  # how lanes part is not shown

    together = _of_whole_simdgroups(
        meant, lambda: Study(kernel, assumed, together=True, effort=quick)
    )
    if not offers or effort.is_for_proofs:
        return together

    def is_proved(about: str, launch: Launch, seconds: float) -> bool:
        answers = prove(
            program,
            launch,
            {about},
            seconds=seconds,
            offers=False,
            effort=quick,
            optimised=optimised,
        )
        return [each.verdict for each in answers] == ["proved"]

    rest_is_proved = not launch.lanes and all(
        each.verdict == "proved" for each in found if each.about in TOGETHER[0]
    )
    return [
        with_offer(
            each,
            kernel,
            launch,
            seconds,
            functools.partial(is_proved, each.about),
            _ALONE.get(each.about) if rest_is_proved else None,
        )
        for each in together
    ]


def _of_whole_simdgroups(answers: list[Answer], study: Callable[[], Study]) -> list[Answer]:
    """Proofs about what a simdgroup does as a whole are none where part of one may come to it."""
    rests = [each.verdict == "proved" and each.about != barriers.ABOUT for each in answers]
    obstacles = tuple(made_by_part(study())) if any(rests) else ()
    return [
        _without_proof(each, obstacles) if obstacles and rest else each
        for each, rest in zip(answers, rests, strict=True)
    ]


def _without_proof(answer: Answer, obstacles: tuple[Obstacle, ...]) -> Answer:
    """An answer that is no proof."""
    if answer.verdict != "proved":
        return answer
    return replace(answer, verdict="undecided", obstacles=obstacles)


def _of_what_is_there(kernel: Kernel, answer: Answer) -> Answer:
    """A proof about a reading that lacks something which it is about is none."""
    lacks = kernel.lacks if answer.about == bounds.ABOUT else kernel.lacks & {Lack.SHARED}
    return _of_lacking(answer) if lacks else answer


def _of_lacking(answer: Answer) -> Answer:
    return _without_proof(answer, (Obstacle(why=_LACKS),))


def _communicated(kernel: Kernel) -> set[str]:
    """What has to be proved so that the optimiser, to which a thread is alone between barriers,
    did not take what it reads for what it wrote itself.
    """
    roots = [
        each.root
        for each in kernel.accesses()
        if each.operation.reads_memory and not is_private(each.root)
    ]
    written = [root for root in roots if not is_read_only(root, kernel.written)]
    in_threadgroup = any(isinstance(root, THREADGROUP_ROOTS) for root in written)
    in_buffers = any(not isinstance(root, THREADGROUP_ROOTS) for root in written)
    return {*(TOGETHER[0] if in_threadgroup else ()), *([races.BUFFERS] if in_buffers else ())}


def _prepared(
    program: Program, launch: Launch, *, optimised: bool = False, by_simdgroup: bool = False
) -> Kernel:
    """The kernel as it is launched."""
    kernel = prepared(
        program,
        launch.size,
        pointers=launch.pointers,
        optimised=optimised,
        by_simdgroup=by_simdgroup,
    )
    kernel.is_ragged = launch.ragged
    kernel.contents = contents_of(kernel, launch)
    barriers.share_loops(kernel)
    return kernel


def _within(seconds: float | None, about: str, find: Callable[[], Answer]) -> Answer:
    """An answer, if it is found in time."""
    try:
        with time_limit(seconds):
            return find()
    except OutOfTime:
        why = f"it takes longer than {seconds:g} s"
        return Answer(
            about=about, verdict="undecided", obstacles=(Obstacle(why=why),), is_late=True
        )


def _together(kernel: Kernel, uniform: Answer, raced: Answer) -> tuple[Answer, Answer]:
    """That threads come to the same barriers and that they do not race is proved together, by what
    goes wrong first: until then, the other holds.
    """
    rests = bool(read_by_all(kernel))
    return (_resting(uniform, raced) if rests else uniform), _resting(raced, uniform)


def _resting(answer: Answer, other: Answer) -> Answer:
    """A proof that is one only together with another that was not found is none."""
    if other.verdict == "proved":
        return answer
    return _without_proof(answer, (Obstacle(why=f"it would be proved if {other.about} were, too"),))


def _buffer_races(kernel: Kernel, launch: Launch, effort: Effort, lemmas: Lemmas) -> Answer:
    assumed, effort = assumed_of(kernel, launch), effort.of(races.BUFFERS)
    within = Study(kernel, assumed, lenient=True, effort=effort, lemmas=lemmas)
    between = Study(kernel, assumed, apart=True, lenient=True, effort=effort, lemmas=lemmas)
    return replace(races.buffer_races(within, between), rests_on=taken_not_to_wrap(within, between))


def _initialised(kernel: Kernel, launch: Launch, effort: Effort, lemmas: Lemmas) -> Answer:
    if launch.ragged and any(isinstance(x.root, THREADGROUP_ROOTS) for x in kernel.accesses()):
        why = "which threads of threadgroups that are not full write is not followed"
        return Answer(about=INITIALISED, verdict="undecided", obstacles=(Obstacle(why=why),))
    assumed, effort = assumed_of(kernel, launch), effort.of(INITIALISED)
    study = Study(kernel, assumed, many=True, effort=effort, lemmas=lemmas)
    return initialised(study)


def _bounds(kernel: Kernel, launch: Launch, effort: Effort, lemmas: Lemmas) -> Answer:
    """If it holds only as long as nothing wraps, that is told."""
    assumed, effort = assumed_of(kernel, launch), effort.of(bounds.ABOUT)

    def ask(*, lenient: bool) -> Answer:
        study = Study(kernel, assumed, alone=True, lenient=lenient, effort=effort, lemmas=lemmas)
        return replace(_bounds_by(study, launch), rests_on=taken_not_to_wrap(study))

    if effort.is_for_proofs:
        found = ask(lenient=True)
        # What is not proved so is not proved at all.
        if found.verdict != "proved" or not found.rests_on:
            return found
        exact = ask(lenient=False)
        return exact if exact.verdict == "proved" else found
    exact = ask(lenient=False)
    if exact.verdict == "proved":
        return exact
    found = ask(lenient=True)
    # A negative number that is read is no wrap: what it leads to is shown.
    is_hidden = exact.verdict == "refuted" and any(x.why == NEGATIVE for x in found.rests_on)
    return found if found.verdict == "proved" and not is_hidden else exact


def _bounds_by(study: Study, launch: Launch) -> Answer:
    values = study.a
    lengths = {name: launch.names.number(text, values) for name, text in launch.lengths.items()}
    return bounds.within_bounds(study, lengths)


def taken_not_to_wrap(*studies: Study) -> tuple[Obstacle, ...]:
    """What is taken to hold of numbers, with its places."""
    return tuple(dict.fromkeys(each for study in studies for each in study.ranges.rests_on()))


_ALONE: Final[Mapping[str, Prove]] = {races.BUFFERS: _buffer_races, bounds.ABOUT: _bounds}
"""How properties are asked about where all that they rest on is proved."""
