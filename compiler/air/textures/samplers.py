"""Samplers that a module says itself: two words in constant memory, as our samplers' one word.

The fields of the first word, as public tools that write AIR measured on Apple's compiler by
one setting at a time (libfloor; metallib documents of Zig's Metal back end): addresses of s, t, r
(bits 0, 3, 6), filters (9, 11, 13; two bits), pixel coordinates (15), comparison (16, four bits),
anisotropy less one (20), least and most level as halves (24, 40), border (56), reduction (58), and
up to AIR 2.6 bit 63, which tells it from a sampler of the host. The second word holds a bias.
"""

from __future__ import annotations

import re

from ..container import AirFormatError

_STATE = re.compile(
    r"^(?P<name>@(?:[\w.$]+|\"[^\"]*\")) = (?:[a-z_]+ )*addrspace\(6\) constant "
    r"(?P<value>i64 -?\d+|\[\d x i64\] (?:\[[^\]]*\]|zeroinitializer))[^\n]*\n",
    re.MULTILINE,
)
_WORDS = re.compile(r"i64 (-?\d+)")
# Numbers of the comparisons in AIR (0 is none: never) as ours: never, less, equal and so on.
_COMPARISONS = (0, 1, 3, 4, 6, 2, 5, 7, 0)
_CLAMP_TO_ZERO, _CLAMP_TO_BORDER = 0, 4


def with_sampler_words(text: str, states: list[str]) -> str:
    """The module in which samplers are words, and no variables. Raises AirFormatError."""
    known = {found["name"]: found["value"] for found in _STATE.finditer(text)}
    for name in states:
        if name not in known:
            raise AirFormatError(f"its sampler {name} has no state")
        words = [int(word) for word in _WORDS.findall(known[name])]
        word = sampler_word(*words)
        text = _STATE.sub(lambda found, name=name: "" if found["name"] == name else found[0], text)  # type: ignore[misc]
        value = f"inttoptr (i64 {word} to ptr addrspace(6))"
        text = re.sub(rf"{re.escape(name)}(?![\w.$])", value, text)
    return text


def sampler_word(state: int = 0, bias: int = 0) -> int:
    """Our word for a sampler's state in AIR. Raises AirFormatError for what is not known."""

    def field(first: int, width: int) -> int:
        return (state >> first) & ((1 << width) - 1)

    filters = field(9, 2), field(11, 2), field(13, 2)
    if max(filters[:2]) > 1 or filters[2] > 2:
        raise AirFormatError("its sampler filters in a way that is not known here")
    if bias or field(58, 2):
        raise AirFormatError("its sampler has a bias or a reduction, which are not known here")
    if field(16, 4) >= len(_COMPARISONS) or field(56, 2) > 2:
        raise AirFormatError("its sampler compares or ends in a way that is not known here")
    word = 0
    for axis in range(3):
        address = field(3 * axis, 3)
        if address > 3:
            raise AirFormatError(f"its sampler has address mode {address}, which is not known here")
        if address == _CLAMP_TO_ZERO and field(56, 2):
            address = _CLAMP_TO_BORDER
        word |= address << 3 * axis
    word |= filters[0] << 9 | filters[1] << 10 | filters[2] << 11 | field(15, 1) << 13
    word |= field(56, 2) << 14 | _COMPARISONS[field(16, 4)] << 16 | (field(20, 4) + 1) << 21
    return word | field(24, 16) << 32 | field(40, 16) << 48
