"""The function into which all others were inlined, and what may leave its variables."""

from __future__ import annotations

import re

from ...ir.llvm_types import size_of
from ..llvm_text import read_globals, types_of
from ..object_pointers import Pointers, Thing, Touch
from ..ranges import Ranges
from .annotations import MAY_END
from .marker import Marker
from .variables import declare_keep, declare_one, of_any_size, released, with_keeps


class Entry:
    """The function of a module's `text` into which all others were inlined, with its pointers."""

    def __init__(self, text: str, entry: str) -> None:
        self._before, body, self._after = _entry(released(text), entry)
        self._lines = body.split("\n")
        self._types = types_of(text)
        self._pointers = Pointers(self._lines, _tables(text), self._types)

    def hidden_again(self) -> str | None:
        """The module for another round, which may find what pointers in variables point to.

        None if there are no such pointers, or no variables that they could be in.
        """
        if not (self._pointers.loads_pointers and self._pointers.has_variables):
            return None
        return self._text(self._lines, _reached(self._pointers, self._not_inside()))

    def is_inside(self) -> bool:
        """Whether all accesses stay inside of their objects, by what their indices can be."""
        return not self._leaving()

    def held(self) -> str:
        """The module whose variables stay in memory if an access may leave them, and no others.

        Of these LLVM is not to know the size: an index into a single number would be 0.
        """
        names = _reached(self._pointers, self._leaving())
        return declare_one(self._text(list(of_any_size(self._lines, names)), names))

    def _leaving(self) -> list[Touch]:
        """Accesses not known to stay inside of their objects by what their indices can be."""
        touches = self._not_inside()
        if not touches:
            return []
        ranges = Ranges(self._lines)
        return [each for each in touches if not self._pointers.stays_inside(each, ranges)]

    def _not_inside(self) -> list[Touch]:
        """Accesses not known to be inside by numbers alone."""
        return [each for each in self._pointers.touches if not self._pointers.is_inside(each)]

    def marked(self) -> str | None:
        """The module with an annotation at each access not known to stay inside its object.

        None if all accesses are known to.
        """
        marker = Marker(self._pointers)
        lines = marker.marked(self._lines)
        if not marker.named and not marker.unclear:
            return None
        named = [f"@{name} = external constant i8" for name in sorted(marker.named)]
        declared = f"declare void @{MAY_END}() nounwind memory(none)"
        return "\n".join([self._text(lines, marker.unclear), *named, declared, ""])

    def _text(self, lines: list[str], kept: set[str]) -> str:
        return declare_keep(self._before + "\n".join(with_keeps(lines, kept)) + self._after)


def _reached(pointers: Pointers, touches: list[Touch]) -> set[str]:
    """Names of the variables that such accesses may be to, or that may be reached unseen."""
    found: set[Thing | None] = set()
    for touch in touches:
        found |= pointers.things_of(touch.pointer)
    for operand in pointers.escaped:
        found |= pointers.things_of(operand)
    return {thing.name for thing in found if thing is not None and thing.name[0] == "%"}


def _entry(text: str, entry: str) -> tuple[str, str, str]:
    """The text of the entry function, with what is before and behind it."""
    match = re.search(
        rf"^define [^\n]*@{re.escape(entry)}\(.*?^}}\n", text, re.MULTILINE | re.DOTALL
    )
    assert match is not None
    return text[: match.start()], match[0], text[match.end() :]


def _tables(text: str) -> dict[str, Thing]:
    """The module's tables of constants."""
    return {
        each.name: Thing(each.name, size_of(each.type))
        for each in read_globals(text)
        if each.constant and each.initialiser is not None
    }
