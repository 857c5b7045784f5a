"""Names in a function: whether it leaves them as they are, and whose memory they are of.

All of it is read off the text: what cannot be told is taken to be changed, or a thread's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..edits import Node
from .effects import ASSIGNS, is_lent, is_stored_to

_FOUR_BYTES = re.compile(
    r"(?:metal::)?(?:u?int(?:32_t)?|float|atomic_(?:u?int|float)|atomic<(?:u?int|float)>|"
    r"(?:packed_)?(?:half2|bfloat2|u?short2|u?char4))"
)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_CHANGES = re.compile(rf"(?<![<>=!]){ASSIGNS}|\+\+|--")


def has_fours(name: str, header: str) -> bool:
    """Whether an argument is to elements of four bytes, by its type's name."""
    behind = r"[*&]\s*(?:(?:const|restrict|__restrict)\b\s*)*"
    pattern = rf"\b(?:device|constant)\b([^,()*&]*){behind}\b{re.escape(name)}\b"
    found = re.search(pattern, header)
    if found is None:
        return False
    words = [each for each in found[1].split() if each not in ("const", "volatile")]
    return len(words) == 1 and _FOUR_BYTES.fullmatch(words[0]) is not None


def is_kept(name: str, text: str, source: str, *, pointer: bool = False) -> bool:
    """Whether a part of a source leaves a name as it is: it neither assigns to it or a part of it,
    nor takes its address, lends it, or declares it anew; elements of a pointer are no part of it.
    """
    word = rf"(?<!\.)(?<!->)\b{re.escape(name)}\b"
    own = rf"{word}(?!\s*\[)" if pointer else word
    part = r"(?:\s*\.\s*\w+)*" if pointer else r"(?:\s*\.\s*\w+|\s*\[[^\[\]]*\])*"
    changed = (
        rf"{own}{part}\s*(?:{ASSIGNS}|\+\+|--)",
        rf"(?:\+\+|--)[\s(]*{own}",
        rf"(?<!&)&\s*{own}",
        rf"&\s*\w+\s*[=({{]\s*{own}",
        rf"{word}\s*[({{]",
        rf"\b(?!(?:return|else|case|do|goto)\b)[A-Za-z_]\w*\s+{word}",
        rf"\b(?:device|constant|threadgroup|thread|const|auto)\b[^;=()]*[*&>]\s*{word}",
        rf"\bauto\s*&*\s*\[[^\]]*{word}",
    )
    if any(re.search(each, text) for each in changed):
        return False
    lent = re.finditer(own + part, text)
    return not any(is_lent(text, *each.span(), source) for each in lent)


def is_kept_by_macros(text: str, source: str, macros: Mapping[str, str]) -> bool:
    """Whether no macro that a part of a source uses changes anything."""
    defined = [(found[1], found[2]) for found in _DEFINED.finditer(source)]
    return not any(
        _CHANGES.search(body) and re.search(rf"\b{re.escape(name.partition('(')[0])}\b", text)
        for name, body in (*defined, *macros.items())
    )


def is_shared(text: str, source: str, function: Node) -> bool:
    """Whether a statement stores to memory that other threads see: an argument's or an array or
    variable of the threadgroup, and not to a pointer to it.
    """
    found = re.match(r"(?:\+\+|--)?\s*(\*?)\s*(\w+)", text)
    if found is None or not is_stored_to(text, found.start(1), found.end()):
        return False
    declared = list(_declared_for_others(source, function, found[2]))
    if len(declared) != 1 or _may_be_own(source, function, found[2]):
        return False
    before, has_elements = declared[0]
    is_deref = bool(found[1]) or text[found.end() :].lstrip().startswith(("[", "->"))
    if before.count("*") == 1:
        return is_deref and not has_elements
    return not before.count("*")


def _declared_for_others(source: str, function: Node, name: str) -> Iterator[tuple[str, bool]]:
    """What stands before a name where a function declares it for others too, and whether it is an
    array.
    """
    body = function.children[0].start
    parts = ((function.start, body, r"[^;(){}=,]*?"), (body, function.end, r"[^;(){}=]*?"))
    for start, end, between in parts:
        shared = rf"\b(?:device|threadgroup)\b({between})\b{re.escape(name)}\b\s*(\[(?!\[))?"
        for found in re.finditer(shared, source[start:end]):
            yield found[1], found[2] is not None


def _may_be_own(source: str, function: Node, name: str) -> bool:
    """Whether a function may declare a name as a thread's own."""
    own = (
        r"(?:^|[;{(}])\s*(?:const\s+)?(?!(?:device|threadgroup|return|else|case)\b)\w+\s+"
        rf"\b{re.escape(name)}\b"
    )
    return re.search(own, source[function.children[0].start : function.end]) is not None
