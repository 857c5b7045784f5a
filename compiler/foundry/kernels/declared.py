"""What every declared kernel has: a text that compiles by itself, and the arguments in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ..errors import FoundryError
from ..formats.prelude import without_unused
from ..structs import Struct
from .arguments import Argument, Params
from .places import code_of, place_of

if TYPE_CHECKING:
    from ...msl import Library
    from ...msl.arguments import Argument as Reflected

HEAD: Final = "#include <metal_stdlib>\nusing namespace metal;\n"
_ATTRIBUTES: Final = (
    r"(?:(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)\s*|\[\[[^\]]*\]\]\s*)*"
)
_DEFINITION: Final = (
    rf"\b(?:struct|class|union)\s+{_ATTRIBUTES}(NAME)\b\s*[{{:]"
    r"|\btypedef\b(?:[^;{}]|\{[^{}]*\})*\b(NAME)\s*[,;]"
    r"|\busing\s+(NAME)\s*=|#\s*define\s+(NAME)\b"
)
"""Of a type, in each way that there is."""


class Declared:
    """A kernel with its arguments; `source` is set by those who assemble it."""

    def __init__(self, function: str, arguments: Mapping[str, Argument], source: str) -> None:
        self.function = function
        self.arguments = dict(arguments)
        self.source = without_unused(source)

    @cached_property
    def library(self) -> Library:
        """The text compiled. Raises CompileError, and FoundryError where the kernel's arguments are
        not those that were declared."""
        from ...msl import compile_library

        library = compile_library(self.source, file_name=f"{self.function}.metal")
        if self.function not in library.function_names:
            there = ", ".join(library.function_names) or "none"
            raise FoundryError(
                "kernel-function", f"there is no kernel {self.function}; there are {there}"
            )
        self._check(library.function(self.function).arguments)
        return library

    @cached_property
    def indices(self) -> dict[str, int]:
        """The buffer index of each argument, as the source has them."""
        found = self.library.function(self.function).arguments
        return {each.name: each.index for each in found}

    def _check(self, found: Sequence[Reflected]) -> None:
        names = [each.name for each in found]
        for name in (*self.arguments, *names):
            if name not in names or name not in self.arguments:
                who = "declared, and the kernel has not" if name not in names else "not declared"
                raise FoundryError(
                    "kernel-argument",
                    f"{self.function}: argument {name} is {who}; the kernel has "
                    f"{', '.join(names) or 'no arguments'}",
                )
        for each in found:
            self._check_one(each)

    def _check_one(self, found: Reflected) -> None:
        declared = self.arguments[found.name]
        is_params = isinstance(declared, Params)
        kind = declared.layout if isinstance(declared, Params) else declared.element
        expected = "constant" if is_params else "device"
        space = found.address_space
        # A small table may as well be read from constant memory.
        fits = space == expected or (space == "constant" and not is_params)
        if not fits or found.kind != "buffer" or found.size not in (0, kind.size):
            raise FoundryError(
                "kernel-argument",
                f"{self.function}: {found.name} is declared {expected} {kind.name}, {kind.size} "
                f"bytes; the kernel has {space} {found.type_name}, {found.size} bytes",
            )


def structs_of(arguments: Iterable[Argument], function: str) -> tuple[Struct, ...]:
    """The structs of arguments with those that they are made of, each once."""
    found: dict[str, Struct] = {}
    for argument in arguments:
        if isinstance(argument, Params) and isinstance(argument.layout, Struct):
            for each in (*argument.layout.inner, argument.layout):
                if found.setdefault(each.name, each) != each:
                    raise FoundryError(
                        "struct-clash", f"{function}: two different structs are called {each.name}"
                    )
    return tuple(found.values())


def refuse_defined_again(text: str, structs: Sequence[Struct]) -> None:
    """Raises FoundryError for a struct that is put in front and stands in the text too."""
    for each in structs:
        found = re.search(_DEFINITION.replace("NAME", each.name), code_of(text))
        if found is not None:
            at = found.start(found.lastindex or 0)
            raise FoundryError(
                "struct-injected",
                f"{place_of(text, at)} defines {each.name}, a struct that is declared in Python "
                "and put in front of the source; remove it there",
            )
