"""What is read of LLVM's textual IR: plain records of a module, its functions and instructions."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.llvm_types import Type


class IRSyntaxError(Exception):
    """A line of IR that this reader does not know."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A typed operand: a local (`%x`), a global (`@x`), a literal or a constant expression."""

    type: Type
    text: str
    parts: tuple[Operand, ...] = ()  # of an aggregate or a constant expression
    source: Type | None = None  # the type that a constant getelementptr steps through


@dataclass(slots=True)
class Record:
    """One instruction as written."""

    op: str
    name: str  # result, "" if none
    type: Type
    operands: list[Operand]
    flags: frozenset[str] = frozenset()
    predicate: str = ""
    labels: list[str] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    source: Type | None = None  # type that getelementptr steps through, or of the loaded memory
    align: int = 0  # of an access, or of what memset fills
    aligns: tuple[int, ...] = ()  # of what memcpy writes and reads
    callee: str = ""
    location: str = ""


@dataclass(slots=True)
class Global:
    """A global variable."""

    name: str
    type: Type
    space: int
    constant: bool
    initialiser: Operand | None


@dataclass(slots=True)
class FunctionText:
    """A function definition."""

    name: str
    parameters: list[tuple[str, Type]]
    blocks: dict[str, list[Record]]


@dataclass(slots=True)
class ModuleText:
    """What was read of a module."""

    globals: dict[str, Global]
    functions: dict[str, FunctionText]
    metadata: dict[str, str]
