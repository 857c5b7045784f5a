"""What the modules of the library share: its texts, and how kernels are listed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import FoundryError
from ..formats import Format, check_columns
from ..kernels import Declared, GridOf, Standalone, tensor
from ..structs.types import Scalar

_ASSUMED: Final = re.compile(r"// assay: assume\(.*")
_PART: Final = re.compile(r"^#if (\w+)\n.*?(?=^#e)", re.MULTILINE | re.DOTALL)
FOLDER: Final = Path(__file__).parent
Ready = tuple[Declared, GridOf]
"""A kernel, and the grid that belongs to it."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A kernel of the library as lists and commands make it: by the type of its numbers alone.

    `make(element=..., **sizes)` makes it; with `reads_weights` it takes a format too, as
    `weights_as`.
    """

    make: Callable[..., Ready]
    reads_weights: bool = False
    sizes: Mapping[str, Any] = field(default_factory=dict)
    weights_as: str = "weights"
    usual: str = "f16"
    """The format of weights where none is asked for."""

    @property
    def about(self) -> str:
        """A line about it."""
        return str(self.make.__doc__).split("\n")[0]

    @property
    def options(self) -> Mapping[str, type]:
        """Numbers and truth values that can be chosen, by name."""
        found = {}
        for name, parameter in inspect.signature(self.make).parameters.items():
            usual = self.sizes.get(name, parameter.default)
            if isinstance(usual, int | float):
                found[name] = type(usual)
        return found

    def declared(
        self, element: Scalar, weights: Format, chosen: Mapping[str, Any] | None = None
    ) -> Declared:
        """The kernel; `weights` is for those that read some, `chosen` are values of `options`."""
        return self.ready(element, weights, chosen)[0]

    def ready(
        self, element: Scalar, weights: Format, chosen: Mapping[str, Any] | None = None
    ) -> Ready:
        """The same with its grid."""
        more = {self.weights_as: weights} if self.reads_weights else {}
        return self.make(element=element, **more, **{**self.sizes, **(chosen or {})})


def scalar_of(element: Any) -> Scalar:
    """A type of numbers: `float`, `half`, `bfloat`. Raises FoundryError for anything else."""
    found = tensor(element).element
    if not isinstance(found, Scalar):
        raise FoundryError(
            "kernel-argument", f"{found.name} is a vector; the library's kernels take numbers"
        )
    return found


def text_of(file: str, element: Scalar, *, defines: str = "") -> str:
    """A file of the library, whose numbers are `T`; `defines` are lines in front of it.

    What its comments assume may use the names of numbers that are defined, and is left out where
    `#if` leaves it out.
    """
    own = (FOLDER / f"{file}.metal").read_text(encoding="utf-8")
    own = _PART.sub(lambda found: _without_assumed(found, defines), own)
    own = _ASSUMED.sub(lambda found: _with_numbers(found[0], defines), own)
    return f'using T = {element.name};\n{defines}#line 1 "{file}.metal"\n{own}'


def _without_assumed(part: re.Match[str], defines: str) -> str:
    """A part of a file behind `#if NAME`; without what it assumes, if the name is defined as 0."""
    is_left_out = _numbers_of(defines).get(part[1]) == "0"
    return _ASSUMED.sub("//", part[0]) if is_left_out else part[0]


def _numbers_of(defines: str) -> dict[str, str]:
    """Names that are defined as numbers."""
    return dict(re.findall(r"^#define (\w+) (\d+)$", defines, re.MULTILINE))


def _with_numbers(text: str, defines: str) -> str:
    """A text with numbers in the place of names that are defined as such."""
    numbers = _numbers_of(defines)
    return re.sub(r"\b[A-Z_]+\b", lambda found: numbers.get(found[0], found[0]), text)


def standalone(
    file: str, function: str, element: Scalar, arguments: Mapping[str, Any], *, defines: str = ""
) -> Standalone:
    """A kernel of a file of the library."""
    return Standalone(
        text_of(file, element, defines=defines), function, arguments, include=[FOLDER]
    )


def defines_of(values: Mapping[str, Any]) -> str:
    """Lines that define names for the preprocessor."""
    return "".join(f"#define {name} {value}\n" for name, value in values.items())


def columns_of(given: Mapping[str, Any], *weights: Format) -> int:
    """Numbers that a product sums, those of a row of x. Raises FoundryError."""
    columns = last_of(given)
    for each in weights:
        check_columns(each, columns)
    return columns


def last_of(given: Mapping[str, Any], name: str = "x") -> int:
    """The last dimension of an argument, which the library calls columns."""
    columns: int = given[name].shape[-1]
    return columns
