"""Proofs side by side: properties of kernels are proved by several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assay.sim.simt.run.settings import default_workers

from ..checks.pool import Lost, done_by_processes, internal_error, serve
from .options import ProofOptions
from .proof import KernelProof, joined
from .source import Question, SourceProof

_WORKER = "from assay.proofs.processes import work; work()"
_FEW = 3  # questions that are answered sooner than processes start
_SLACK_S = 30.0  # for reading a kernel, and for a question that is begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What each process is told first."""

    source: str
    file_name: str
    options: ProofOptions


def prove_source(
    source: str, file_name: str, options: ProofOptions, *, workers: int | None = None
) -> Iterator[KernelProof]:
    """What is proved of each kernel of a text, or of a compiled library, in its order.

    Args:
        source: the text.
        file_name: its name; of a compiled library, which has no text, its path.
        options: what is proved.
        workers: processes at work at a time, which change no answer; None for one for each core.

    Raises:
        CompileError: if the text does not compile.
        LaunchInputError: if there is no such kernel.
    """
    from assay.compiler.verify import TOGETHER

    opened = SourceProof(source, file_name, options)
    questions = [
        Question(kernel, about) for kernel in range(len(opened.kernels)) for about in TOGETHER
    ]
    open = [each for each in questions if not opened.is_known(each)]
    jobs = workers or default_workers()
    if jobs == 1 or (workers is None and len(open) <= _FEW):
        open = []
    task = Task(source=source, file_name=file_name, options=options)
    elsewhere = _elsewhere(opened, task, open, jobs)
    answers: dict[Question, KernelProof] = {}
    for kernel in range(len(opened.kernels)):
        parts = []
        for question in (each for each in questions if each.kernel == kernel):
            while question in open and question not in answers:
                done, proof = next(elsewhere)
                answers[done] = proof
            known = answers.pop(question) if question in answers else opened.proof(question)
            parts.append(known)
        yield joined(parts)


def _elsewhere(
    opened: SourceProof, task: Task, questions: Sequence[Question], jobs: int
) -> Iterator[tuple[Question, KernelProof]]:
    """What processes prove, in the order in which they end."""
    most = max((len(each.about) for each in questions), default=0)
    timeout = task.options.timeout * (most + 1) + _SLACK_S
    done = done_by_processes(_WORKER, task, questions, jobs=jobs, timeout=timeout)
    for question, proof in done:
        if isinstance(proof, Lost):
            late = f"it takes longer than {task.options.timeout:g} s for a property (--timeout)"
            why = late if proof.is_late else f"its process ended early{proof.ending}"
            yield question, opened.undecided(question, why)
        else:
            yield question, proof


def work() -> None:
    """What a process does: prove what it is asked."""
    serve(_begun)


def _begun(task: Task) -> Callable[[Question], KernelProof]:
    opened = SourceProof(task.source, task.file_name, task.options)

    def prove(question: Question) -> KernelProof:
        try:
            return opened.proof(question)
        except Exception as error:
            return opened.undecided(question, internal_error(error))

    return prove
