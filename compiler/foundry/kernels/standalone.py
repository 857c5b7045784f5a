"""Standalone kernels: a function in MSL as it is, with its arguments declared in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..formats import PRELUDE, Format
from .arguments import argument_of
from .declared import HEAD, Declared, refuse_defined_again, structs_of
from .includes import Included


class Standalone(Declared):
    """One kernel function and what it takes.

    `source` is the whole text, which compiles by itself: policies, structs, then the kernel's own.

    Args:
        source: MSL, or the path of a file of it (a Path). Parameter structs are not defined in it:
            they are put in front, as are the policies of `formats`.
        function: the name of the kernel.
        arguments: by the names that the function gives them, `tensor(half)`, `output(half, "x")`, a
            parameter struct or a type such as `uint`.
        formats: those of weights whose policies the source uses.
        include: folders for `#include "..."`, behind the file's own.

    Raises:
        FoundryError: for what cannot be declared, a struct that the source defines again, or a file
            that is not there.
    """

    def __init__(
        self,
        source: str | Path,
        function: str,
        arguments: Mapping[str, Any],
        *,
        formats: Iterable[Format] = (),
        include: Sequence[Path] = (),
    ) -> None:
        made = {
            name: argument_of(declared, f"{function}: {name}")
            for name, declared in arguments.items()
        }
        own = own_text(source, function, Included(tuple(include)))
        structs = structs_of(made.values(), function)
        refuse_defined_again(own, structs)
        used = tuple(formats)
        policies = [PRELUDE, *(each.text for each in used)] if used else []
        parts = [HEAD, *policies, *(each.text for each in structs), own]
        super().__init__(function, made, "\n".join(parts))


def own_text(source: str | Path, function: str, included: Included) -> str:
    """A source with what it includes."""
    if isinstance(source, Path):
        return included.of_file(source)
    return included.of_text(source, f"{function}.metal")
