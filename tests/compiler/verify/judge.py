"""Proofs of random kernels against what their threads do in some launches.

The launches come first: a proof is only asked for of what goes wrong in one of them, since it
could contradict nothing else. Where accesses are known that go wrong, those are asked about first;
if they are not even proved alone, the property is not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.compiler.verify import Answer, Effort, Launch, Names, Scalar, prove
from assay.compiler.verify.kernel import LOOPS
from assay.sim.simt import Program
from assay.sim.site import Site
from tests.support.kernels import ENTRY, assemble

from .all_threads import launched
from .meetings import RESTS_ON, Fault, faults
from .random_kernels import ARRAYS, DATA, Memory, RandomKernel, Sizes, Tree, is_body
from .random_text import PARAMETERS, text
from .schedules import PROVED, can_be_told, depends_on_schedule

_SMALL = (Sizes(0, 0), Sizes(1, 3), Sizes(3, 1), Sizes(5, 64), Sizes(64, 2))
_NUMBERS = (1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 40, 64, 65, 96, 128, 160, 192, 256)
_GROUPS = ((1, 1), (2, 1), (3, 1), (2, 2), (1, 2))
_LAUNCHES, _TRIES = 6, 60
_RUNS, _ORDERS = 2, 3  # launches that are run by the engine, and in how many orders each
_WITHOUT_NUMBER = ("set", "lanes", "simdgroup_barrier", "if", "break", "continue", "return")
_INTEGERS = {
    name: Scalar(name=name, argument=name, parameter=at, width=32, is_signed=False)
    for at, name in enumerate(("n", "m", "data"))
}
_NAMES = Names({name: _INTEGERS[name] for name in ("n", "m")}, buffers={"data": _INTEGERS["data"]})
_EACH = "data[*]"
QUICK = Effort(examples=1, seconds=0.3, is_for_proofs=True)
LONG = Effort(examples=1, is_for_proofs=True)


@dataclass(frozen=True, slots=True)
class Found:
    """What goes wrong in a launch, and whether nothing wraps in it."""

    fault: Fault
    sizes: Sizes
    is_plain: bool


def satisfying(kernel: RandomKernel, seed: int) -> list[Sizes]:
    """Launches that fulfil what is assumed of the kernel's."""
    if kernel.words == 65536 and not (kernel.holds or kernel.lengths or kernel.is_ragged):
        return list(_SMALL)
    chance = random.Random(seed)
    found: list[Sizes] = []
    for _ in range(_TRIES):
        sizes = Sizes(chance.choice(_NUMBERS), chance.choice(_NUMBERS), chance.choice(_GROUPS))
        if kernel.is_ragged and sizes.groups[1] == 1 and kernel.size[1] == 1:
            sizes = replace(sizes, lacks=chance.randrange(kernel.threads))
        if all(_value(each, kernel, sizes) for each in kernel.holds) and sizes not in found:
            found.append(sizes)
        if len(found) == _LAUNCHES:
            break
    return found


def _value(expression: str, kernel: RandomKernel, sizes: Sizes) -> int:
    across, down = (a * b for a, b in zip(sizes.groups, kernel.size, strict=True))
    names = {
        "n": sizes.n,
        "m": sizes.m,
        "groups": _Axes(*sizes.groups),
        "grid": _Axes(across - sizes.lacks, down),
        "data": DATA,
        "distinct": lambda numbers: len(set(numbers)) == len(numbers),
    }
    if _EACH in expression:
        one = expression.replace(_EACH, "each")
        return int(all(_evaluated(one, {**names, "each": each}) for each in DATA))
    return _evaluated(expression, names)


def _evaluated(expression: str, names: Mapping[str, object]) -> int:
    return int(eval(expression, {"__builtins__": {}}, names))


@dataclass(frozen=True, slots=True)
class _Axes:
    x: int
    y: int


def found_in_launches(kernel: RandomKernel, seed: int) -> list[Found]:
    """What goes wrong in some launches: of each property what a proof is soonest asked about, and
    only of those whose proofs rest on no other that went wrong.

    What nothing wraps in comes first: it contradicts all proofs that the rest does.
    """
    launches = satisfying(kernel, seed)
    if not launches:
        return []
    log = launched(kernel, launches)
    wraps = np.logical_or.reduceat(log.wraps, np.searchsorted(log.launch, range(len(launches))))
    lengths = _lengths(kernel, launches)
    places = _places(kernel.body)
    found: dict[str, Found] = {}
    for chosen in (~wraps, wraps):
        nearest: dict[str, tuple[float, Fault]] = {}
        known = frozenset(found)
        for fault in faults(log, lengths, chosen, known, is_strict=kernel.is_strict):
            far = max((places.get(each, 0) for each in fault.statements), default=math.inf)
            if far < nearest.get(fault.about, (math.inf, None))[0] or fault.about not in nearest:
                nearest[fault.about] = far, fault
        for about, (_, fault) in nearest.items():
            of = Found(fault, launches[fault.launch], is_plain=not wraps[fault.launch])
            found[about] = of
    return [of for about, of in found.items() if not found.keys() & RESTS_ON[about]]


def _lengths(kernel: RandomKernel, launches: Sequence[Sizes]) -> dict[Memory, Any]:
    """Bytes of memory in each launch, as far as they are known."""
    arrays = np.full(len(launches), 4 * kernel.words)
    return {
        **dict.fromkeys(range(ARRAYS), arrays),
        **{
            name: np.asarray([_value(text, kernel, each) for each in launches])
            for name, text in kernel.lengths.items()
        },
    }


def _places(statements: tuple[Tree, ...]) -> dict[int, float]:
    """How far inside of loops and branches, and behind others, statements are, by number."""
    found: dict[int, float] = {}

    def walk(statements: tuple[Tree, ...], depth: int) -> None:
        for each in statements:
            if each[0] not in _WITHOUT_NUMBER:
                found[each[1]] = 100 * depth + len(found)
            for part in each:
                if is_body(part):
                    walk(part, depth + 1)

    walk(statements, 0)
    return found


def program_of(kernel: RandomKernel, name: str) -> Program:
    """A kernel as the engines have it."""
    made = assemble.__wrapped__(text(kernel), PARAMETERS)
    return Program(made.bitcode, ENTRY, name=name, parameters=made.parameters)


def answers(
    program: Program,
    kernel: RandomKernel,
    about: Collection[str],
    effort: Effort,
    *,
    optimised: bool = False,
) -> dict[str, Answer]:
    """What the prover says of properties of a kernel as it is written, or with loops unrolled."""
    width, height = kernel.size
    launch = Launch(
        size=(width, height, 1),
        names=_NAMES,
        holds=kernel.holds,
        lengths=kernel.lengths,
        ragged=kernel.is_ragged,
        lanes=kernel.is_strict,
    )
    found = prove(program, launch, about, offers=False, effort=effort, optimised=optimised)
    return {each.about: each for each in found}


def contradictions(
    kernel: RandomKernel, name: str, seed: int, effort: Effort = QUICK, *, optimised: bool = False
) -> list[str]:
    """Proofs about a kernel that some launch contradicts.

    Args:
        kernel: the kernel.
        name: what it is called in answers.
        seed: chooses launches.
        effort: of the prover, which finds less with less of it.
        optimised: whether the prover reads the kernel with its loops unrolled.
    """
    found = found_in_launches(kernel, seed)
    if not found:
        return []
    return [
        f"{name}: {each.fault.about} is proved; {each.sizes} contradicts it at statements "
        f"{sorted(each.fault.statements)}"
        for each in wrongly_proved(
            program_of(kernel, name), kernel, found, effort, optimised=optimised
        )
    ]


def out_of_order(
    program: Program, kernel: RandomKernel, seed: int, given: Mapping[str, Answer]
) -> list[str]:
    """Answers that runs of the engine in other orders contradict: what they leave differs."""
    if not can_be_told(kernel) or not is_ordered(given):
        return []
    return [
        f"{program.name}: nothing is out of order by proofs; {sizes} contradicts it"
        for sizes in satisfying(kernel, seed)[:_RUNS]
        if depends_on_schedule(program, kernel, sizes, range(seed, seed + _ORDERS))
    ]


def is_ordered(given: Mapping[str, Answer]) -> bool:
    """Whether it is proved that no order of threads makes a difference, whatever wraps."""
    answers = [given.get(each) for each in PROVED]
    return all(x is not None and x.verdict == "proved" and not x.rests_on for x in answers)


def wrongly_proved(
    program: Program,
    kernel: RandomKernel,
    found: Sequence[Found],
    effort: Effort,
    *,
    optimised: bool = False,
) -> list[Found]:
    """What was found of which the prover says that it does not happen."""
    places = [_sites(program, each.fault, optimised=optimised) for each in found]
    known = [each for each, at in zip(found, places, strict=True) if at is not None]
    if known:
        # One question for all: what fails there is not proved.
        only = {
            each.fault.about: frozenset([at])
            for each, at in zip(found, places, strict=True)
            if at is not None
        }
        stays = _said(program, kernel, known, replace(effort, each=only), optimised=optimised)
        found = [each for each in found if each in stays or each not in known]
    return _said(program, kernel, found, effort, optimised=optimised) if found else []


def _said(
    program: Program,
    kernel: RandomKernel,
    found: Sequence[Found],
    effort: Effort,
    *,
    optimised: bool,
) -> list[Found]:
    about = {each.fault.about for each in found}
    given = answers(program, kernel, about, effort, optimised=optimised)
    return [each for each in found if _says_so(given, each)]


def _says_so(given: Mapping[str, Answer], found: Found) -> bool:
    """Whether a property is proved for the launch; some proofs are for launches without wraps."""
    answer = given.get(found.fault.about)
    if answer is None or answer.verdict != "proved":
        return False
    return found.is_plain or not answer.rests_on


def _sites(program: Program, fault: Fault, *, optimised: bool) -> frozenset[Site] | None:
    """Places of the accesses that go wrong, none of barriers; None if they are not found."""
    if fault.about == "barriers":
        return frozenset()
    by_line = {each.line: each for each in _accessed(program, optimised=optimised)}
    if not fault.statements or not by_line.keys() >= fault.statements:
        return None
    return frozenset(by_line[number] for number in fault.statements)


def _accessed(program: Program, *, optimised: bool) -> Iterator[Site]:
    marks = LOOPS - {"loops"} if optimised else LOOPS
    function = program.marked_function(marks)
    return (each.site for each in function.instructions() if each.operation.accesses_memory)
