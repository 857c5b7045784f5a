"""Stages: the parts that a compound kernel is put together from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from ..errors import FoundryError
from ..formats import PRELUDE, Format
from ..structs.names import UCHAR
from .arguments import Argument, Tensor, argument_of
from .callers import line_of_caller, shown
from .includes import Included
from .places import code_of, place_of
from .standalone import own_text

_DECLARATION: Final = re.compile(r"(\w+)\s+(\w+)\s*\[\s*(\d+)\s*\]\s*;?")
_INSIDE: Final = re.compile(
    r"\bthreadgroup\s+(?:const\s+)?([\w:]+(?:<[^;{}()]*>)?)\s+(\w+)\s*(?:\[|=|;)"
)
_BYTES: Final = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2}
_BYTES_ELSE: Final = 4

MATRIX: Final = "matrix"
SCALES: Final = "scales"


@dataclass(frozen=True, slots=True)
class ThreadgroupArray:
    """Threadgroup memory that the entry point allocates and hands over."""

    element: str
    name: str
    count: int
    alignment: int = 0
    """Bytes; 0 for that of its elements."""

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * _BYTES.get(self.element, _BYTES_ELSE)


@dataclass(frozen=True, slots=True)
class Emitted:
    """What a stage adds to the entry point; `variable` holds its result, or None."""

    lines: tuple[str, ...]
    variable: str | None = None


class Stage(Protocol):
    """A part of a compound kernel. Hand-written stages have the same."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """Buffers of its own, in order."""

    @property
    def threadgroup(self) -> Sequence[ThreadgroupArray]:
        """Threadgroup memory that it needs."""

    def text(self, included: Included) -> str:
        """Functions and structs that it calls."""

    def emit(self, variable: str | None) -> Emitted:
        """Its lines in the entry point; `variable` is the previous stage's result."""


class Main(Stage, Protocol):
    """The stage in the middle, which computes."""

    @property
    def result(self) -> Result | None:
        """Where its result is stored; None if it writes its output itself."""

    @property
    def with_epilogue(self) -> bool:
        """Whether its lines call `epilogue(value, at)` for what they write."""


@dataclass(frozen=True, slots=True)
class Result:
    """Where what a stage returns is stored: `output[at]`, by threads for which `when` holds."""

    type: str = "float"
    at: str = "gid.x * tptg.x + lid.x"
    when: str = "true"


@dataclass(frozen=True, slots=True)
class PolicyStage:
    """Weights in a format: buffers 0 and 1, `matrix` and `scales`, and the type `Policy`."""

    weights: Format
    threadgroup: tuple[ThreadgroupArray, ...] = ()
    declared_at: str = field(default_factory=line_of_caller, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Of the format."""
        return f"policy {self.weights.name}"

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """The bytes of both."""
        return {MATRIX: Tensor(UCHAR), SCALES: Tensor(UCHAR)}

    def text(self, included: Included) -> str:
        """The policy, which stages know as `Policy`."""
        return f"{PRELUDE}\n{self.weights.text}\nusing Policy = {self.weights.policy};\n"

    def emit(self, variable: str | None) -> Emitted:
        """Nothing: the main stage reads by the policy."""
        return Emitted((), variable)


class TemplateStage:
    """A function of a source: `template <typename Policy> void run(matrix, ..., scales, gid, lid)`.

    It is called with `matrix`, its own arguments in order, `scales`, `gid` (the threadgroup's
    position), `lid` (the thread's in it), then a pointer to each of its threadgroup arrays.

    Args:
        source: MSL, or a Path of a file of it.
        function: the template's name.
        arguments: its own, by name, in the order of its parameters.
        threadgroup: such as `"float shared_mem[256]; uint counts[8]"`.
        skip: arguments that a policy provides; they belong to the function's use by itself.
        result: where what it returns goes; None for a function that writes its output itself.
        with_epilogue: whether it takes `template <typename Policy, typename Epilogue>` and, last,
            `Epilogue epilogue`, to be called for what it writes: `epilogue(value, at)`, or, for an
            output of more than one dimension, `epilogue(value, at, column)`.

    Raises:
        FoundryError: for threadgroup memory declared in the source's functions, and for what cannot
            be declared.
    """

    def __init__(
        self,
        source: str | Path,
        function: str,
        arguments: Mapping[str, Any],
        *,
        threadgroup: str = "",
        skip: Sequence[str] = (),
        result: Result | None = None,
        with_epilogue: bool = False,
    ) -> None:
        self.name = function
        self.declared_at = line_of_caller()
        self.arguments: Mapping[str, Argument] = {
            name: argument_of(declared, f"{function}: {name}")
            for name, declared in arguments.items()
            if name not in skip
        }
        self.threadgroup = _threadgroup_arrays(threadgroup, shown(self))
        self.result = result
        self.with_epilogue = with_epilogue
        self._source = source

    def text(self, included: Included) -> str:
        """The source, which must leave threadgroup memory to the entry point."""
        found = own_text(self._source, self.name, included)
        _refuse_threadgroup_memory(found, self.name, shown(self))
        return found

    def emit(self, variable: str | None) -> Emitted:
        """The call."""
        parts = [MATRIX, *self.arguments, SCALES, "gid", "lid"]
        parts += [each.name for each in self.threadgroup]
        types = "Policy, Epilogue" if self.with_epilogue else "Policy"
        if self.with_epilogue:
            parts.append("epilogue")
        call = f"{self.name}<{types}>({', '.join(parts)});"
        if self.result is None:
            return Emitted((call,))
        return Emitted((f"{self.result.type} value = {call}",), "value")


def _threadgroup_arrays(text: str, stage: str) -> tuple[ThreadgroupArray, ...]:
    left = _DECLARATION.sub("", text).strip()
    if left:
        raise FoundryError(
            "stage-threadgroup",
            f'{stage}: {left!r} is no threadgroup memory; it is declared as "float shared[256]"',
        )
    return tuple(
        ThreadgroupArray(element, name, int(count))
        for element, name, count in _DECLARATION.findall(text)
    )


def _refuse_threadgroup_memory(text: str, function: str, stage: str) -> None:
    """In the function and those that it may call; a kernel of the source may have its own."""
    code = code_of(text)
    if not list(_bodies(rf"\b{re.escape(function)}", code)):
        raise FoundryError("stage-function", f"{stage}: the source has no function {function}")
    kernels = list(_bodies(r"(?:\bkernel\b|\[\[\s*kernel\s*\]\])[^;{}()]*", code))
    for inside in _INSIDE.finditer(code):
        at = inside.start()
        if _is_parameter(code, at) or any(begin <= at < end for begin, end in kernels):
            continue
        raise FoundryError(
            "stage-threadgroup",
            f"{stage}: {place_of(text, at)} declares threadgroup memory {inside[2]} inside the "
            "function; declare it with the stage, and take a pointer to it",
        )


def _is_parameter(code: str, at: int) -> bool:
    statement = re.split(r"[;{}]", code[:at])[-1]
    return statement.count("(") > statement.count(")")


def _bodies(head: str, code: str) -> Iterator[tuple[int, int]]:
    """Where bodies of functions lie whose parameters follow `head`, in code without comments."""
    for found in re.finditer(rf"{head}\s*\(", code):
        after = _closing(code, found.end(), "()")
        if code[after:].lstrip().startswith("{"):
            begin = code.index("{", after) + 1
            yield begin, _closing(code, begin, "{}")


def _closing(code: str, begin: int, pair: str) -> int:
    """Behind the bracket that closes the one in front of `begin`; the end if none does."""
    depth = 1
    for place in range(begin, len(code)):
        depth += (code[place] == pair[0]) - (code[place] == pair[1])
        if depth == 0:
            return place + 1
    return len(code)
