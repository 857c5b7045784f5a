"""The names of AIR's functions, `air.<operation>[.<s|u>].<type>...`, and their types."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DECLARED = re.compile(
    r"^declare (?P<result>.*?)(?P<name>@(?:air\.|__tensorops_impl_)[\w.]+)"
    r"\((?P<parameters>(?:[^()\n]|\([^()\n]*\))*)\)(?: [^\n]*)?$",
    re.MULTILINE,
)
_TYPE = re.compile(
    r"(?:\[\d+ x [^\]]*\]|\{[^}]*\}|<\d+ x \w+>|ptr(?: addrspace\(\d+\))?"
    r"|i\d+|half|bfloat|float|void)"
)
_VECTOR = re.compile(r"<(?P<count>\d+) x (?P<element>\w+)>")
UNKNOWN = "?"  # a type that no function here has
_SPELLED = {"f16": "half", "bf16": "bfloat", "f32": "float"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AirFunction:
    """A function that a module of AIR only declares.

    Attributes:
        name: with `air.` in front, or that of an operation on tensors.
        result: LLVM type of what it gives.
        parameters: LLVM types of what it takes.
    """

    name: str
    result: str
    parameters: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The parts of the name behind `air.`."""
        return tuple(self.name.split(".")[1:])

    @property
    def operation(self) -> str:
        """The name without types and signs."""
        return ".".join(word for word in self.words if not _is_type(word) and word not in "su")

    @property
    def is_signed(self) -> bool:
        """Whether its integers have a sign; without a word about it they have."""
        return "u" not in self.words


def declared_functions(text: str) -> list[AirFunction]:
    """All functions of AIR that a module's text declares, in its order."""
    return [
        AirFunction(
            name=found["name"][1:],
            result=(_types(found["result"]) or [UNKNOWN])[-1],
            parameters=tuple(_types(found["parameters"])),
        )
        for found in _DECLARED.finditer(text)
    ]


def without_declarations(text: str) -> str:
    """The text less what `declared_functions` found."""
    return _DECLARED.sub("", text)


def vector_parts(kind: str) -> tuple[int, str] | None:
    """(4, "half") of `<4 x half>`; None of other types."""
    found = _VECTOR.fullmatch(kind)
    return (int(found["count"]), found["element"]) if found else None


def spelled(word: str) -> str:
    """The LLVM type that a word of a name stands for: `f16` is `half`, `v4f32` `<4 x float>`."""
    found = re.fullmatch(r"v(\d+)(.+)", word)
    if found:
        return f"<{found[1]} x {spelled(found[2])}>"
    return _SPELLED.get(word, word)


def _is_type(word: str) -> bool:
    return re.fullmatch(r"(?:v\d+)?(?:i\d+|b?f\d+)|p\d+\w*", word) is not None


def _types(text: str) -> list[str]:
    """The types in a list of parameters, or before a name, less attributes."""
    parts = re.split(r",(?![^<{\[(]*[>}\])])", text) if text.strip() else []
    found = [_TYPE.search(_plain(part)) for part in parts]
    return [each[0] if each else UNKNOWN for each in found]


def _plain(part: str) -> str:
    """A parameter or result without attributes such as `noundef` and `dereferenceable(4)`."""
    return re.sub(
        r"\b(?:noundef|zeroext|signext|inreg|nonnull|returned|readonly|writeonly|readnone|noalias|"
        r"local_unnamed_addr)\b|\b(?:captures|nofpclass|dereferenceable\w*|range|memory)\([^)]*\)"
        r'|align \d+|"[^"]*"|#\d+',
        " ",
        part,
    )
