"""Kinds of findings in programs for the NPU: which check each belongs to, and what helps.

Checks have the names that they have for other machines; a fault that ends a run is of `bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass

NPU_CHECKS = ("race", "init", "bounds", "budget")
"""Checks of programs for the NPU that are made unless others are asked for."""
UNREAD = "unread"
"""The check that has to be asked for: a program may load more than it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuKind:
    """One kind: its check, what it is, and what helps."""

    check: str
    title: str
    hint: str


def _kind(check: str, title: str, hint: str) -> NpuKind:
    return NpuKind(check=check, title=title, hint=hint)


NPU_KINDS = {
    "npu-race": _kind(
        "race",
        "Two units touch the same bytes, and nothing makes one wait for the other",
        "let the command stream wait for the first unit before it starts the second, or give them "
        "bytes of their own",
    ),
    "npu-not-waited": _kind(
        "race",
        "A unit is started again, or its results are taken, before anybody waited for it",
        "wait for the unit in the command stream, or for the NPU on the host, before that",
    ),
    "npu-escaped": _kind(
        "race",
        "A slice's program ends while its task still runs",
        "end the slice program with a wait for its own task",
    ),
    "npu-uninitialised": _kind(
        "init",
        "Bytes that nobody wrote decide something",
        "load or compute these bytes first; mind the ends of tensors that are only partly filled",
    ),
    "npu-operand": _kind(
        "bounds",
        "A task touches other bytes than its compiler meant",
        "compare base address, counts and strides of the agent's descriptor with the tensor",
    ),
    "npu-configuration": _kind(
        "bounds",
        "A register or the tag of a loop is other than its compiler meant",
        "compare the slice's configuration words with those that the kernel asks for",
    ),
    "npu-out-of-range": _kind(
        "bounds",
        "An access outside of a memory, or where there is no register",
        "compare the address with the memory's size, and XRAM addresses with what is mapped",
    ),
    "npu-misaligned": _kind(
        "bounds",
        "An address that the unit cannot take",
        "give the unit an address that is a multiple of what it moves at a time",
    ),
    "npu-count-mismatch": _kind(
        "bounds",
        "Two agents of a task, or both ends of a transfer, count differently: hardware hangs",
        "make the loops of both move the same number of elements",
    ),
    "npu-deadlock": _kind(
        "bounds",
        "Units wait for what never comes",
        "start what is waited for, or leave the wait out; mind the order of starts and waits",
    ),
    "npu-busy": _kind(
        "bounds",
        "A unit is started while it is at work",
        "wait for the unit before it is started again",
    ),
    "npu-malformed": _kind(
        "bounds",
        "Words that are no program",
        "see which address the words were read from, and what was to be there",
    ),
    "npu-not-modelled": _kind(
        "bounds",
        "Something that the emulated NPU cannot do",
        "use another mode of the unit; what hardware would do here is not known",
    ),
    "npu-lram-budget": _kind(
        "budget",
        "Buffers that live at one time need more LRAM than there is",
        "let fewer buffers live at once: split the work, or free buffers earlier",
    ),
    "npu-unread": _kind(
        UNREAD,
        "Bytes that are written and never read",
        "load only what is used, or see whether what should read them reads elsewhere",
    ),
}
"""All kinds by their stable names."""
