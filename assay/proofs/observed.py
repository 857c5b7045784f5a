"""Proofs of what a program launched: no data and no order makes anything go wrong in it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.hal.metal.emulated.commands.checking import kernel_of
from assay.hal.observe import checking, current_watch
from assay.sim.check import Finding

from ..launches.grid import size_in_threads, size_text
from ..launches.inputs import Exact, Given, Size
from ..launches.runner import Runner
from ..reports.report import Report
from .contradictions import contradicted
from .kept import kept_answers
from .names import names_of
from .options import SECONDS
from .pointed import Pointed, Range, lengths_of, overlap, places, pointers_in, whole
from .proof import KernelProof
from .replay import LANES, Replay, findings_of
from .source import memory_model
from .text import MEANING, SHOWN_OBSTACLES, obstacle_text

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction, KernelLibrary
    from assay.compiler.verify import Answer, Launch, Place
    from assay.hal.metal.emulated import MTLCommandBuffer, MTLComputePipelineState, MTLDevice
    from assay.hal.metal.emulated.commands.commands import DispatchCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """A dispatch.

    Attributes:
        kernel: its key and name.
        threadgroup: threads of its threadgroups.
        threads: of its grid.
        constants: bytes of arguments in constant memory that are one value, by name.
        lengths: bytes of its buffers, and of what references are to, by name.
        cut: references to memory that goes on beyond their types.
        overlaps: names of two arguments that share memory of which one is written.
        pointers: where pointers in constant memory lead to, by parameter and byte.
    """

    kernel: tuple[str, str]
    threadgroup: Size
    threads: Size
    constants: tuple[tuple[str, bytes], ...] = ()
    lengths: tuple[tuple[str, int], ...] = ()
    cut: tuple[str, ...] = ()
    overlaps: tuple[str, str] | None = None
    pointers: tuple[tuple[tuple[int, int], Place], ...] = ()


@dataclass(slots=True)
class Launches:
    """What a program launched; an observer of the emulated Metal.

    `kernels` has each kernel with its library, by key and name, `made` those that pipelines were
    made of, launched or not.
    """

    found: dict[Launched, None] = field(default_factory=dict)
    kernels: dict[tuple[str, str], tuple[KernelFunction, KernelLibrary]] = field(
        default_factory=dict
    )
    made: dict[tuple[str, str], KernelFunction] = field(default_factory=dict)
    _recent: list[Launched] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pipeline_made(self, pipeline: MTLComputePipelineState) -> None:
        """Remember what may be launched."""
        kernel = kernel_of(pipeline)
        with self._lock:
            self.made[_key(kernel)] = kernel

    def dispatch_begins(self, device: MTLDevice, command: DispatchCommand) -> None:
        """Remember how a kernel is launched."""
        kernel = kernel_of(command.pipeline)
        key = _key(kernel)
        with self._lock:
            self.kernels[key] = kernel, command.pipeline.function.library.compiled
            self._recent.append(_launched(key, device, command))

    def buffer_committed(self, buffer: MTLCommandBuffer) -> None:
        """Nothing: it tells when it ends."""

    def buffer_ended(self, buffer: MTLCommandBuffer, error: Exception | None) -> None:
        """Launches that a fault ended are not counted: they are found wrong already."""
        with self._lock:
            if error is None:
                self.found.update(dict.fromkeys(self._recent))
            self._recent.clear()


def _key(kernel: KernelFunction) -> tuple[str, str]:
    return kernel.program().key, kernel.name


@contextmanager
def launches_kept() -> Iterator[Launches]:
    """Remember what is launched to emulated devices meanwhile, as far as it is checked."""
    launches = Launches()
    outer = current_watch()
    with checking(outer.checker if outer else Report(()).new_checker(), observer=launches):
        yield launches


def prove_launches(launches: Launches, report: Report) -> None:
    """Prove that nothing goes wrong in launches, whatever buffers hold and in any order.

    What is refuted is added to the report as findings, the rest as notes and obstacles. If the
    report is about lanes too, nothing but barriers orders those of a simdgroup.
    """
    for _, library in launches.kernels.values():
        report.add_sources(library.sources())
    proofs = list(launch_proofs(launches, lanes=LANES in report.checks))
    for proof in proofs:
        _tell_open(proof, report)
    for launched, proof in zip(launches.found, proofs, strict=True):
        kernel, _ = launches.kernels[launched.kernel]
        _tell_proved(proof, kernel, report)


def launch_proofs(
    launches: Launches, *, timeout: float = SECONDS, cache: bool = True, lanes: bool = False
) -> Iterator[KernelProof]:
    """What is proved of each launch, for any contents of buffers and in any order."""
    for launched in launches.found:
        kernel, library = launches.kernels[launched.kernel]
        yield _proof(launched, kernel, library, timeout, cache=cache, lanes=lanes)


def _proof(
    launched: Launched,
    kernel: KernelFunction,
    library: KernelLibrary,
    timeout: float,
    *,
    cache: bool,
    lanes: bool,
) -> KernelProof:
    from assay.compiler.verify import PROPERTIES, AssumptionError
    from assay.sim.simt import UnsupportedKernel

    proof = KernelProof(
        name=kernel.name, file=kernel.file, line=kernel.line, threadgroup=launched.threadgroup
    )
    if (why := _beyond(launched)) is not None:
        return replace(proof, problem=why)
    fixed = {name: _exact(raw) for name, raw in launched.constants}
    sources = library.sources()
    launch = replace(_launch(launched, kernel, sources), lanes=lanes)
    replay = Replay(
        kernel,
        Runner(library),
        launch,
        (),
        sources,
        fixed,
        grid=launched.threads,
        cut=launched.cut,
    )
    try:
        given = kept_answers(kernel.program(), launch, PROPERTIES, seconds=timeout, cache=cache)
    except (UnsupportedKernel, AssumptionError) as error:
        return replace(proof, problem=str(error))
    replayed = [replay.confirmed(_unconditional(answer)) for answer in given]
    return replace(
        proof,
        answers=tuple(each.answer for each in replayed),
        findings=findings_of(replayed),
        shown=tuple(shown for each in replayed for shown in each.shown),
        assumptions=tuple(_assumptions(launch)),
    )


def _assumptions(launch: Launch) -> Iterator[str]:
    yield f"threadgroups of {size_text(launch.size)} threads"
    yield from launch.holds
    yield from (f"{name} has {text} bytes" for name, text in launch.lengths.items())
    yield memory_model(lanes=launch.lanes)


def _unconditional(answer: Answer) -> Answer:
    """An answer for one launch, whose numbers are known: nothing is taken not to wrap in it."""
    from assay.compiler.verify import Obstacle

    if answer.verdict != "proved" or not answer.rests_on:
        return answer
    open = (
        Obstacle(why=f"it is not proved that {each.why}", site=each.site)
        for each in answer.rests_on
    )
    return replace(answer, verdict="undecided", obstacles=tuple(open), rests_on=())


def _tell_open(proof: KernelProof, report: Report) -> None:
    """Add what is refuted or not decided of a launch to a report."""
    if proof.problem:
        report.add_obstacle(f"{proof}: not proved: {proof.problem}")
    for answer in proof.answers:
        if answer.verdict == "undecided":
            why = _why(answer)
            report.add_obstacle(f"{proof}: not proved that {MEANING[answer.about]}: {why}")
    known = {(each.kind, _places(each)) for each in report.all_findings}
    news = [each for each in proof.findings if (each.kind, _places(each)) not in known]
    for finding in news:
        report.add(finding)
    if news:
        kinds = ", ".join(dict.fromkeys(f"[{each.kind}] at {each.site}" for each in news))
        report.add_note(
            f"{proof}: refuted for any data: {kinds} was found in a run of this grid with other "
            "data in its buffers"
        )


def _why(answer: Answer) -> str:
    reasons = list(dict.fromkeys(obstacle_text(each) for each in answer.obstacles))
    rest = len(reasons) - SHOWN_OBSTACLES
    return "; ".join([*reasons[:SHOWN_OBSTACLES], *([f"and {rest} more"] if rest > 0 else [])])


def _tell_proved(proof: KernelProof, kernel: KernelFunction, report: Report) -> None:
    """Add what is proved of a launch to a report; where something was found, the finding counts."""
    if not proof.is_proved:
        return
    buffers = {
        each.name
        for each in kernel.arguments
        if each.kind == "buffer" and each.address_space != "threadgroup"
    }
    denied = contradicted(proof, report.all_findings, buffers)
    held = [answer.about for answer in proof.answers if answer.about not in denied]
    if held:
        report.add_note(f"{proof}: proved for this launch and any data: {', '.join(held)}")
    for about, finding in denied.items():
        report.add_note(
            f"{proof}: not taken as proved: {about}: [{finding.kind}] was found at {finding.site}"
        )


def _places(finding: Finding) -> frozenset[tuple[str, int]]:
    return frozenset((party.site.file, party.site.line) for party in finding.parties)


def _beyond(launched: Launched) -> str | None:
    """Why proofs cannot be about a launch."""
    if launched.overlaps is not None:
        return f"its arguments '{launched.overlaps[0]}' and '{launched.overlaps[1]}' share memory"
    return None


def _launch(launched: Launched, kernel: KernelFunction, sources: Mapping[str, str]) -> Launch:
    from assay.compiler.verify import Launch

    names = names_of(kernel)
    constants = dict(launched.constants)
    sizes = list(zip("xyz", launched.threads, launched.threadgroup, strict=True))
    ragged = any(threads % size for _, threads, size in sizes)
    holds = [
        f"grid.{axis} == {threads}" if ragged else f"groups.{axis} == {threads // size}"
        for axis, threads, size in sizes
    ]
    for scalar in names.scalars.values():
        if (raw := constants.get(scalar.argument)) is not None:
            own = raw[scalar.offset : scalar.offset + scalar.width // 8]
            if len(own) < scalar.width // 8:
                continue
            value = int.from_bytes(own, "little", signed=scalar.is_signed)
            holds.append(f"{scalar.name} == {value}")
    return Launch(
        size=launched.threadgroup,
        names=names,
        holds=tuple(holds),
        lengths={name: str(length) for name, length in launched.lengths},
        ragged=ragged,
        pointers=dict(launched.pointers),
    )


def _launched(key: tuple[str, str], device: MTLDevice, command: DispatchCommand) -> Launched:
    kernel = kernel_of(command.pipeline)
    constants: dict[str, bytes] = {}
    lengths: dict[str, int] = {}
    cut: list[str] = []
    ranges: list[Range] = []
    pointed: list[Pointed] = []
    memory = device.memory.memory
    for number, (argument, value) in enumerate(
        zip(kernel.arguments, command.arguments, strict=True)
    ):
        if argument.kind == "threadgroup":
            lengths[argument.name] = value
        elif argument.kind == "buffer":
            host, available = memory.resolve(value)
            if argument.is_reference and argument.address_space == "constant":
                raw = ctypes.string_at(host, min(available, argument.size or available))
                constants[argument.name] = raw
                lengths[argument.name] = len(raw)  # as its range: who shares the rest is not asked
                if available > len(raw):
                    cut.append(argument.name)
                ranges.append(Range(argument.name, False, host, host + len(raw)))
                pointed += pointers_in(raw, number, argument.name, memory.resolve)
            elif available:
                lengths[argument.name] = available
                ranges.append(Range(argument.name, True, host, host + available, number))
    met = [*ranges, *whole(pointed)]
    if overlap(met) is not None:
        written = _written(kernel)
        met = [each.written_if(each.parameter in written) for each in met]
    return Launched(
        kernel=key,
        threadgroup=command.threads_per_threadgroup,
        threads=size_in_threads(
            command.threads, command.threadgroups, command.threads_per_threadgroup
        ),
        constants=tuple(constants.items()),
        lengths=(*lengths.items(), *lengths_of(pointed)),
        cut=tuple(cut),
        overlaps=overlap(met),
        pointers=tuple(places(pointed).items()),
    )


def _written(kernel: KernelFunction) -> Collection[int]:
    """Numbers of the arguments that a kernel may write, whatever it declares: `const` may be cast
    away. One that computes or loads addresses may write any. The engines' own reading of it lacks
    stores of what is there already.
    """
    from assay.compiler.verify import written_arguments

    found = written_arguments(kernel.program())
    return range(len(kernel.arguments)) if found is None else found


def _exact(raw: bytes) -> Given:
    return Exact(array=np.frombuffer(raw, np.uint8))
