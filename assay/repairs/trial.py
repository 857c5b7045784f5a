"""What is proved of a kernel once its source is changed, in all ways that it is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..launches.errors import LaunchInputError
from ..proofs import KernelProof, ProofOptions
from ..proofs.proof import joined
from ..proofs.source import Question, SourceProof

_RANK = {"proved": 0, "undecided": 1, "refuted": 2}


def better(
    text: str,
    file_name: str,
    options: ProofOptions,
    proofs: Sequence[KernelProof],
    at: int,
    about: str,
) -> tuple[KernelProof, ...] | None:
    """What is proved of a changed text, if that is a property that was not, and the rest no less
    than before; None otherwise.

    Args:
        text: the whole changed source.
        file_name: its name.
        options: as the kernel was proved.
        proofs: what was known of the kernel, for each of its setups; what helps one of them may
            harm another, which a user would see only once the change is applied.
        at: which of them has the property.
        about: the property.
    """
    from assay.compiler.msl import CompileError

    try:
        alone = replace(options, functions=(proofs[at].name,), offers=False)
        opened = SourceProof(text, file_name, alone)
    except (CompileError, LaunchInputError):
        return None
    if len(opened.kernels) != len(proofs):
        return None
    found = {}
    for number in sorted(range(len(proofs)), key=lambda each: each != at):
        mended = about if number == at else ""
        after = _no_worse(opened, number, proofs[number], mended)
        if after is None:
            return None
        found[number] = after
    return tuple(found[number] for number in range(len(proofs)))


def with_offers(
    text: str, file_name: str, options: ProofOptions, proofs: Sequence[KernelProof]
) -> tuple[KernelProof, ...]:
    """What is proved of a text, with assumptions that would help where something is refuted."""
    from assay.compiler.verify import TOGETHER

    opened = SourceProof(text, file_name, replace(options, functions=(proofs[0].name,)))
    return tuple(
        joined([opened.proof(Question(at, group)) for group in TOGETHER])
        if each.is_refuted
        else each
        for at, each in enumerate(proofs)
    )


def _no_worse(
    opened: SourceProof, number: int, before: KernelProof, about: str
) -> KernelProof | None:
    """What is proved of one setup, if it is a property, if one is named, and no less than before;
    what is likely to fail is asked first.
    """
    from assay.compiler.verify import TOGETHER

    known = {each.about: each.verdict for each in before.answers}
    parts = []
    for group in sorted(TOGETHER, key=lambda each: about not in each):
        after = opened.proof(Question(number, group))
        if after.problem:
            return None
        for answer in after.answers:
            if _RANK[answer.verdict] > _RANK[known.get(answer.about, "proved")]:
                return None
            if answer.about == about and answer.verdict != "proved":
                return None
        parts.append(after)
    return joined(parts)
