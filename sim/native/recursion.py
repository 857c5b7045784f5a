"""Functions that call themselves, up to a depth: one copy of them for each level.

Metal allows recursion in kernels since version 2.4, as deep as the stack reaches that a pipeline
was given. What calls deeper than there are levels reads from the null pointer here, which ends the
kernel at that place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

DEPTHS = (8, 3)
"""Levels that are tried in turn: what calls itself twice doubles with each."""

_DEFINE = re.compile(
    r"^define (?P<head>[^\n]*?)@(?P<name>[-\w.$]+|\"[^\"]+\")(?P<rest>\([^\n]*\{)\n"
    r"(?P<body>.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)
_RESULT = re.compile(
    r"(void|half|bfloat|float|i\d+|ptr(?: addrspace\(\d+\))?|<[^>]*>|\{.*\}|%\S+) *$"
)
# What only the first of some functions may have: its place, and that a linker keeps one of many.
_ITS_OWN = re.compile(r" (?:comdat(?:\([^)]*\))?|!dbg !\d+)(?= (?:[^\n]* )?\{$)")
_LINKAGE = re.compile(
    r"\b(?:internal|private|weak_odr|linkonce_odr|linkonce|weak|dso_local|hidden|comdat)\b ?"
)


def levelled(text: str, calls: Mapping[str, Set[str]], depth: int) -> str:
    """A module in which functions that call themselves call copies, at most `depth` of each.

    `calls` are what each function calls, by name.
    """
    around = {name for name in calls if name in _reached(name, calls)}
    copies: list[str] = []
    for found in _DEFINE.finditer(text):
        if found["name"] in around:
            copies += [_copy(found, level, around) for level in range(1, depth)]
            copies.append(_end(found, depth))
    return "\n".join([_DEFINE.sub(lambda each: _first(each, around), text), *copies])


def _reached(start: str, calls: Mapping[str, Set[str]]) -> set[str]:
    """All that a function calls, and what that calls."""
    found: set[str] = set()
    waiting = list(calls.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += calls.get(name, ())
    return found


def _level(name: str, level: int) -> str:
    return f'{name[:-1]}.level{level}"' if name.endswith('"') else f"{name}.level{level}"


def _first(found: re.Match[str], around: Set[str]) -> str:
    return _calling(found[0], around, 1) if found["name"] in around else found[0]


def _calling(text: str, around: Set[str], level: int) -> str:
    """A function's text, whose calls of functions that call themselves go to a level's copies."""
    head, _, body = text.partition("\n")
    for name in around:
        body = body.replace(f"@{name}(", f"@{_level(name, level)}(")
    return f"{head}\n{body}"


def _copy(found: re.Match[str], level: int, around: Set[str]) -> str:
    """The copy of a level; it has no place of its own, since a place has one function."""
    head = f"define internal {_LINKAGE.sub('', found['head'])}@{_level(found['name'], level)}"
    return _calling(
        f"{head}{_ITS_OWN.sub('', found['rest'])}\n{found['body']}}}\n", around, level + 1
    )


def _end(found: re.Match[str], depth: int) -> str:
    """What stands for the levels that there are not."""
    head = f"define internal {_LINKAGE.sub('', found['head'])}@{_level(found['name'], depth)}"
    result = _RESULT.search(_LINKAGE.sub("", found["head"]))
    kind = result[1] if result else "void"
    given = "ret void" if kind == "void" else f"ret {kind} zeroinitializer"
    stop = "  %deeper = load volatile i32, ptr addrspace(1) null, align 4\n"
    return f"{head}{_ITS_OWN.sub('', found['rest'])}\n{stop}  {given}\n}}\n"
