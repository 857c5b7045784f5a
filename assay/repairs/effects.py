"""What a statement changes, loads and calls, as far as its text tells.

What cannot be told is taken to change something.
"""

from __future__ import annotations

import re

_BLANK = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
ASSIGNS = r"(?:<<=|>>=|[-+*/%&|^]?=(?!=))"
_CHANGE = re.compile(r"\+\+|--|<<=|>>=|(?<![=!<>])=(?!=)")
_CALL = re.compile(r"\b(\w+)\s*(?:<[^<>]*>)?\s*\(")
_NESTED = re.compile(r"<[^;()]*>>\s*\(")
_DEFINED = re.compile(r"\w\s+[*&]?(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{")
_CALLED = re.compile(r"(\w+)\s*(?:<[^<>]*>)?\s*$")
_LEAVES = re.compile(r"\s*(?:return|break|continue|goto|case|default)\b")
_ATOMIC = re.compile(r"\s*atomic_(?:store|fetch_\w+)_explicit\s*\(\s*&\s*")
_PART = re.compile(r"\s*(?:\.\s*\w+(?!\w|\s*\()|->\s*\w+(?!\w|\s*\())")
_CHANGED = re.compile(rf"[\s)]*(?:{ASSIGNS}|\+\+|--)")
_READ = re.compile(r"\s*(?:-(?!>)|[+*/%<>|^&?:,;)\]}]|[=!]=|$)")
_ONE_AND = re.compile(r"(?<!&)&(?!&)")
_NUMBERS = "bool|u?char|u?short|u?int|u?long|half|float|bfloat"
_CONVERSION = re.compile(
    rf"(?:{_NUMBERS})[234]?|u?int(?:8|16|32|64)_t|size_t|as_type|static_cast|sizeof"
)
_MATH = re.compile(
    "f?min|f?max|f?abs|clamp|saturate|sign|step|smoothstep|mix|select|any|all|copysign|absdiff|"
    "r?sqrt|pow|powr|exp(?:2|10)?|log(?:2|10)?|fma|mad24|mul24|mulhi|fmod|"
    "floor|ceil|round|rint|trunc|fract|dot|cross|length|distance|normalize|isnan|isinf|"
    "a?(?:sin|cos|tan)h?|atan2|(?:sin|cos|tan)pi|popcount|clz|ctz|reverse_bits|rotate"
)
_BY_VALUE = re.compile(r"if|while|for|switch|return|(?:simd|quad|atomic)_\w+")


def blanked(source: str) -> str:
    """A text of the same length without comments and directives."""
    return _BLANK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def accesses(text: str, name: str) -> list[tuple[int, int, int]]:
    """Where a name is indexed: the name, the bracket, behind the bracket's end."""
    return [
        (each.start(), each.end() - 1, _closed(text, each.end() - 1))
        for each in re.finditer(rf"(?<!\.)(?<!->)\b{re.escape(name)}\s*\[", text)
    ]


def _closed(text: str, at: int) -> int:
    """Behind the end of a bracket."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        if not depth:
            return end + 1
    return len(text)


def _behind(text: str, at: int) -> int:
    """Behind the members and elements that follow what ends somewhere."""
    while True:
        if text[at:].lstrip().startswith("["):
            at = _closed(text, text.index("[", at))
        elif found := _PART.match(text, at):
            at = found.end()
        else:
            return at


def is_read(text: str, start: int, end: int, source: str) -> bool:
    """Whether an access from an offset to another can only load: it is not assigned to, counted up
    or down, bound to a pointer or reference, or lent to a call that may do so.
    """
    before = text[:start].rstrip().rstrip("( \n\t")
    if before.endswith(("++", "--")) or _ONE_AND.search(text[:start]):
        return False
    at = _behind(text, end)
    if _CHANGED.match(text, at) or not _READ.match(text, at):
        return False
    if re.search(rf"\)\s*{ASSIGNS}", text[at:]):
        return False  # as in `(b ? a[i] : c[i]) = x`
    return not is_lent(text, start, end, source)


def is_one_store(text: str, source: str) -> bool:
    """Whether all that is lost if a statement is skipped is one store: it changes one thing, calls
    nothing that may change another or needs all threads, and what is behind it runs all the same.
    """
    return not _LEAVES.match(text) and len(_CHANGE.findall(text)) == 1 and not _calls(text, source)


def is_one_atomic(text: str, start: int, source: str) -> bool:
    """Whether a statement is an atomic operation on what stands at an offset and no more, of which
    nobody takes the result.
    """
    found = _ATOMIC.match(text)
    if found is None or found.end() != start:
        return False
    return not _CHANGE.search(text) and not _calls(text[start:], source)


def may_be_repeated(index: str, source: str) -> bool:
    """Whether an expression has the same value if it is computed once more before."""
    return not _CHANGE.search(index) and not _calls(index, source)


def _calls(text: str, source: str) -> bool:
    """Whether something is called that is not known to change nothing."""
    if _NESTED.search(text):
        return True  # a template of templates, whose name is not told
    return not all(_is_pure(each[1], source) for each in _CALL.finditer(text))


def _is_pure(called: str, source: str) -> bool:
    """Whether a call changes nothing: a conversion, or mathematics that the text does not define
    itself.
    """
    if not _CONVERSION.fullmatch(called) and not _MATH.fullmatch(called):
        return False
    return called not in _DEFINED.findall(source)


def is_stored_to(text: str, start: int, end: int) -> bool:
    """Whether an access is what a statement changes, from its beginning."""
    if text[:start].strip() in ("++", "--"):
        return text[_behind(text, end) :].strip() == ";"
    return not text[:start].strip() and _CHANGED.match(text, _behind(text, end)) is not None


def is_lent(text: str, start: int, end: int, source: str) -> bool:
    """Whether what stands between two offsets is an argument of a call that may take it by
    reference.
    """
    before, behind = text[:start].rstrip(), text[end:].lstrip()
    if not before.endswith(("(", ",")) or not behind.startswith((")", ",", ".", "[")):
        return False
    depth = 1
    for at in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[at], 0)
        if not depth:
            called = _CALLED.search(before[:at])
            return called is not None and not _takes_values(called[1], source)
    return False


def _takes_values(called: str, source: str) -> bool:
    """Whether a call takes no argument by reference."""
    if _is_pure(called, source):
        return True
    return _BY_VALUE.fullmatch(called) is not None and called not in _DEFINED.findall(source)
