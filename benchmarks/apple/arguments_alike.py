"""What two compilations of a kernel say of its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from assay.compiler.msl import Argument
from assay.hal.metal.emulated.programs.argument import members_of

_TOLD = ("name", "kind", "index", "address_space", "size", "alignment", "access", "is_reference")


def other_arguments(ours: Sequence[Argument], theirs: Sequence[Argument]) -> str:
    """The first thing that is not the same, "" if all is.

    Names of types are spelled as the source has them, or as the compiler does, and not compared.
    """
    if len(ours) != len(theirs):
        return f"{len(ours)} arguments, and {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        for what in _TOLD:
            left, right = getattr(one, what), getattr(other, what)
            if left != right:
                return f"argument '{one.name}': {what} {left}, and {right}"
        if places(one) != places(other):
            return f"argument '{one.name}': members {places(one)}, and {places(other)}"
    return ""


def places(argument: Argument) -> dict[int, tuple[int, str]]:
    """Where each member of an argument buffer lies and of what kind it is, by its id."""
    return {number: (each.offset, each.kind) for number, each in members_of(argument).items()}
