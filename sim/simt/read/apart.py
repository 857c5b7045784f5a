"""Keeps functions of mathematics apart where a kernel calls them often.

Everything else is put into the places of its calls. A function like `sin` is some hundred
instructions, with branches; sixty of them in their places take minutes to compile. Beyond a few,
a kernel calls such a function instead: it stands beside the kernel's, and is compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ..ir.operations.functions import function_of
from .call_graph import Calls

PREFIX = "__assay_apart_"
# Lines of IR before optimisation that the calls of one function may take in their places: six
# calls of `sin`, twenty of `exp`.
_MOST_LINES = 8_000
# Lines of a kernel in which the optimiser has repeated calls, by unrolling loops around them.
_MANY_LINES = 10_000

_DEFINITION = re.compile(
    r"^define [^\n@]*?(?P<type>half|float|double|i\d+) @(?P<name>_ZN5metal8__scalar\w+)"
    r"(?P<parameters>\([^\n]*?\)) [^\n]*\{$",
    re.MULTILINE,
)
_SCALARS = re.compile(r"\((?:half|float|double|i\d+) %\w+(?:, (?:half|float|double|i\d+) %\w+)*\)")
_ATTRIBUTES = "noinline nounwind willreturn memory(none)"


def often_called(calls: Calls, lines: int = 0) -> frozenset[str]:
    """Symbols of the functions that are to be kept apart.

    Args:
        calls: of the kernel before it was optimised.
        lines: of the kernel after that, when functions were put in the places of their calls.
    """
    if calls.recursion is not None:
        return frozenset()
    most = 0 if lines > max(_MANY_LINES, calls.lines) else _MOST_LINES
    return frozenset(
        name
        for name, sites in calls.sites.items()
        if sites * calls.sizes[name] > most and function_of(name) is not None
    )


def keep_apart(text: str, names: Collection[str]) -> str:
    """The unoptimised module `text`, in which the functions `names` are not to be inlined."""

    def define(match: re.Match[str]) -> str:
        if match["name"] not in names or not _SCALARS.fullmatch(match["parameters"]):
            return match[0]
        kept.add(match["name"])
        return f"define {match['type']} @{match['name']}{match['parameters']} {_ATTRIBUTES} {{"

    kept = set[str]()
    text = _DEFINITION.sub(define, text)
    for name in sorted(kept):
        text = text.replace(f"@{name}(", f"@{PREFIX}{name}(")
    return text
