"""Proofs about the kernels of a source: each kernel by itself, each property by itself."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks.inputs import read_annotations
from ..launches.constants import compiled_kernel, kernel_and_constants
from ..launches.errors import LaunchInputError
from ..launches.grid import choose_grid, size_text
from ..launches.inputs import Setup, Size
from ..launches.opening import opened_library
from ..launches.plan import CannotPlan, make_plan
from ..launches.runner import Runner
from ..launches.source import chosen_kernels, unknown_kernels
from .comments import Stated, assumptions_of
from .kept import are_kept, kept_answers
from .names import names_of, referred_lengths
from .options import ProofOptions
from .proof import KernelProof
from .replay import Replay, findings_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.verify import Answer, Launch
    from assay.compiler.verify.rings import Rings

FULL = "all threadgroups are full"
ALWAYS = (
    "a grid has less than 2**32 threads in a dimension, and its threads come to an end",
    "buffers do not overlap, also those behind pointers that constant arguments hold, and the grid "
    "has one thread in dimensions that the kernel ignores",
)
"""What every proof rests on, beside a memory model."""


def memory_model(*, lanes: bool) -> str:
    """What orders the lanes of a simdgroup."""
    if lanes:
        return "lanes of a simdgroup run in any order between barriers of it or the threadgroup"
    return "lanes of a simdgroup run in lock step"


@dataclass(frozen=True, slots=True)
class Question:
    """Some properties of one kernel, run in one way.

    Attributes:
        kernel: number among `SourceProof.kernels`.
        about: names of properties.
    """

    kernel: int
    about: tuple[str, ...]


class SourceProof:
    """A text, or a compiled library, with kernels to prove.

    Attributes:
        kernels: names, each with one way to run it; one kernel may stand here several times.

    Raises:
        CompileError: if the text does not compile.
        LaunchInputError: if there is no such kernel, or a comment is not understood.
    """

    def __init__(self, source: str, file_name: str, options: ProofOptions) -> None:
        from assay.compiler.msl import CompileOptions

        compiled = CompileOptions(
            macros=options.macros, include_paths=(*options.include_paths, Path(file_name).parent)
        )
        self._options = options
        self._library = opened_library(source, file_name, compiled)
        self._setups = {**read_annotations(source, file_name).setups, **options.inputs.setups}
        self._assumed = assumptions_of(self._library)
        self._understood: set[str] = set()  # kernels whose setups fit them
        names = chosen_kernels(self._library, options.functions)
        if not options.functions:
            for problem in unknown_kernels(self._setups, self._library):
                raise LaunchInputError(problem)
        self._library.prepare(names)
        self.kernels = [
            (name, setup)
            for name in names
            for setup in self._sizes(name, self._setups.get(name, (Setup(),)))
        ]
        self._refuse_unknown_buffers()
        self._runner = Runner(self._library)

    def _sizes(self, name: str, setups: Iterable[Setup]) -> list[Setup]:
        """One setup for each size of threadgroups, with one set of function constants."""
        given = self._options.threadgroup
        known = [each if given is None else replace(each, threadgroup=given) for each in setups]
        are_alike = len({each.threads for each in known}) == 1
        found: dict[object, Setup] = {}
        for each in known:
            size = each.threadgroup if are_alike else self._size(name, each)
            constants = sorted((str(key), repr(value)) for key, value in each.constants.items())
            found.setdefault((size, tuple(constants)), each)
        return list(found.values())

    def _size(self, name: str, setup: Setup) -> Size | None:
        """The size of threadgroups of a setup; None of a kernel that does not compile so."""
        from assay.compiler.msl import CompileError
        from assay.sim.simt import UnsupportedKernel

        if setup.threadgroup is not None:
            return setup.threadgroup
        try:
            kernel, _ = compiled_kernel(self._library, name, setup.constants)
            return choose_grid(kernel, setup).threadgroup
        except (CompileError, LaunchInputError, UnsupportedKernel):
            return None

    def _refuse_unknown_buffers(self) -> None:
        """A name that is written wrong would leave accesses unchecked. Raises LaunchInputError."""
        if not self._options.buffers:
            return
        functions = [
            compiled_kernel(self._library, name, setup.constants, setup.threadgroup)[0]
            for name, setup in self.kernels
        ]
        known = sorted({each.name for function in functions for each in function.arguments})
        for name in self._options.buffers:
            if name not in known:
                raise LaunchInputError(
                    f"--buffer {name}: there is no such argument; there are {', '.join(known)}"
                )

    def is_known(self, question: Question) -> bool:
        """Whether the prover was asked before."""
        from assay.compiler.msl import CompileError
        from assay.sim.simt import UnsupportedKernel

        if self._options.rings:
            return False

        name, setup = self.kernels[question.kernel]
        try:
            kernel, _ = compiled_kernel(self._library, name, setup.constants, setup.threadgroup)
            self._refuse_mistakes(kernel)
            launch = self._launch(kernel, setup)
        except (CompileError, LaunchInputError, UnsupportedKernel):
            return True  # there is nothing to prove
        return self._options.cache and are_kept(kernel.program(), launch, question.about)

    def siblings(self, name: str) -> tuple[str, ...]:
        """Other kernels that the same text makes: instances of one template or macro."""
        places = self._library.places()
        return tuple(
            each for each, place in places.items() if place == places[name] and each != name
        )

    def proof(self, question: Question) -> KernelProof:
        """What is proved, or why nothing could be."""
        from assay.compiler.msl import CompileError
        from assay.compiler.verify import AssumptionError
        from assay.sim.simt import UnsupportedKernel

        name, setup = self.kernels[question.kernel]
        file, line = self._library.places()[name]
        start = time.process_time()
        try:
            kernel, assumed = kernel_and_constants(
                self._library, name, setup.constants, setup.threadgroup
            )
            proof = self._of_kernel(kernel, setup, question.about)
        except (CompileError, UnsupportedKernel, LaunchInputError, AssumptionError) as error:
            return KernelProof(name=name, file=file, line=line, problem=str(error))
        seconds = time.process_time() - start
        return replace(proof, assumptions=(*assumed, *proof.assumptions), seconds=seconds)

    def undecided(self, question: Question, why: str) -> KernelProof:
        """That nothing was found."""
        from assay.compiler.verify import Answer, Obstacle

        name, _ = self.kernels[question.kernel]
        file, line = self._library.places()[name]
        obstacle = (Obstacle(why=why),)
        return KernelProof(
            name=name,
            file=file,
            line=line,
            answers=tuple(
                Answer(about=about, verdict="undecided", obstacles=obstacle)
                for about in question.about
            ),
        )

    def _refuse_mistakes(self, kernel: KernelFunction) -> None:
        """What is said of a kernel's runs has to be understood, though a proof is about all of
        them: else it would be about sizes that nobody meant. Raises LaunchInputError.
        """
        if kernel.name in self._understood:
            return
        for setup in self._setups.get(kernel.name, ()):
            if setup.problem:
                raise LaunchInputError(setup.problem)
            if setup.arguments:
                with contextlib.suppress(CannotPlan):
                    make_plan(kernel, setup)
        self._understood.add(kernel.name)

    def _of_kernel(self, kernel: KernelFunction, setup: Setup, about: Sequence[str]) -> KernelProof:
        self._refuse_mistakes(kernel)
        launch = self._launch(kernel, setup)
        setups = self._setups.get(kernel.name, ())
        sources = self._library.sources()
        replay = Replay(kernel, self._runner, launch, setups, sources)
        replayed = [replay.confirmed(each) for each in self._answers(kernel, launch, about)]
        answers = self._tried_again(kernel, launch, [each.answer for each in replayed])
        return KernelProof(
            name=kernel.name,
            file=kernel.file,
            line=kernel.line,
            threadgroup=launch.size,
            answers=tuple(answers),
            findings=findings_of(replayed),
            shown=tuple(shown for each in replayed for shown in each.shown),
            assumptions=tuple(_assumptions(kernel, setup, launch, self._options)),
            rings=self._rings(kernel, launch, answers),
        )

    def _tried_again(
        self, kernel: KernelFunction, launch: Launch, answers: list[Answer]
    ) -> list[Answer]:
        """What is undecided of the kernel as it is written may be proved of it with its short loops
        unrolled.
        """
        open = [each.about for each in answers if each.verdict == "undecided" and not each.is_late]
        if not open:
            return answers
        again = self._answers(kernel, launch, open, optimised=True)
        proved = {each.about: each for each in again if each.verdict == "proved"}
        return [proved.get(each.about, each) for each in answers]

    def _rings(
        self, kernel: KernelFunction, launch: Launch, answers: Sequence[Answer]
    ) -> Rings | None:
        """With the properties that they rest on, what is asked of rings."""
        from assay.compiler.verify.rings import RESTS_ON, rings_of

        if not self._options.rings or not {each.about for each in answers}.issuperset(RESTS_ON):
            return None
        return rings_of(kernel.program(), launch, answers)

    def _answers(
        self,
        kernel: KernelFunction,
        launch: Launch,
        about: Sequence[str],
        *,
        optimised: bool = False,
    ) -> list[Answer]:
        options = self._options
        return kept_answers(
            kernel.program(),
            launch,
            about,
            seconds=options.timeout,
            cache=options.cache,
            offers=options.offers and not optimised,
            optimised=optimised,
        )

    def _launch(self, kernel: KernelFunction, setup: Setup) -> Launch:
        """What is assumed. Raises LaunchInputError, with the place of what is wrong."""
        from assay.compiler.verify import AssumptionError, Launch
        from assay.hw.apple.facts.limits import limits

        names = names_of(kernel)
        given = [Stated(text) for text in self._options.assume]
        stated = [*given, *self._assumed.get(kernel.name, ())]
        for each in stated:
            try:
                names.check(each.text, condition=True)
            except AssumptionError as error:
                place = f"{each.place}: " if each.place else ""
                raise LaunchInputError(f"{place}{error}") from None
        size = choose_grid(kernel, setup).threadgroup
        most = kernel.max_total_threads_per_threadgroup or limits().threads_per_threadgroup
        if math.prod(size) > most:
            raise LaunchInputError(
                f"kernel '{kernel.name}': threadgroups of {size_text(size)} threads; "
                f"{most} are the most"
            )
        return Launch(
            size=size,
            names=names,
            holds=tuple(dict.fromkeys(each.text for each in stated)),
            lengths=_lengths(kernel, self._options),
            ragged=self._options.ragged,
            lanes=self._options.lanes,
            wide=_wide(self._setups.get(kernel.name, ()), size),
        )


def _wide(setups: Iterable[Setup], size: Size) -> tuple[int, ...]:
    """Dimensions of which a setup states that there are several threadgroups."""
    found = set[int]()
    for setup in setups:
        grid = setup.threadgroups or setup.threads
        one = (1, 1, 1) if setup.threadgroups is not None else size
        if grid is not None:
            found |= {at for at in range(3) if grid[at] > one[at]}
    return tuple(sorted(found))


def _lengths(kernel: KernelFunction, options: ProofOptions) -> dict[str, str]:
    """The stated lengths of a kernel's own arguments, and of what references are to."""
    names = {argument.name for argument in kernel.arguments}
    stated = {name: text for name, text in options.buffers.items() if name in names}
    return {**referred_lengths(kernel), **stated}


def _assumptions(
    kernel: KernelFunction, setup: Setup, launch: Launch, options: ProofOptions
) -> Iterator[str]:
    """What proofs rest on, as sentences."""
    usual = ", a usual size" if setup.threadgroup is None else ""
    yield f"threadgroups of {size_text(launch.size)} threads{usual}"
    if not launch.ragged:
        yield FULL
    yield from launch.holds
    contents = launch.names.contents(launch.holds)
    spoken = dict.fromkeys(each.of.name for each in contents.elements)
    yield from (f"{name} holds a number at least, as all are assumed to be" for name in spoken)
    one = {argument.name for argument in kernel.arguments if argument.is_reference}
    yield from (
        f"{name} has {text} bytes, and one at least"
        for name, text in launch.lengths.items()
        if name not in one or name in options.buffers
    )
    open = [
        argument.name
        for argument in kernel.arguments
        if argument.name not in launch.lengths and not argument.is_reference
    ]
    if open:
        yield f"accesses stay within {', '.join(open)}: --buffer states how long they are"
    yield ALWAYS[0]
    yield memory_model(lanes=launch.lanes)
    yield from ALWAYS[1:]
