"""Names in messages: the nearest to one that does not exist, and lists that stay short."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LISTED = 10
"""Names that a message lists; it counts the others."""


def listed(names: Iterable[str], *, most: int = LISTED) -> str:
    """`a, b, c`, at most so many; `none` for none."""
    every = list(names)
    shown = ", ".join(every[:most])
    rest = len(every) - most
    return f"{shown} and {rest} more" if rest > 0 else shown or "none"


def nearest(name: str, names: Iterable[str]) -> str:
    """The one of `names` that was most likely meant, or "" if none is near.

    Capitals, spaces and punctuation do not count: `M4 Max` is `m4-max`.
    """
    every = list(dict.fromkeys(names))
    plain = {_plain(each): each for each in reversed(every)}
    if _plain(name) in plain:
        return plain[_plain(name)]
    found = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.75)
    return plain[found[0]] if found else ""


def choices(name: str, names: Iterable[str]) -> str:
    """What a message says behind `there is no NAME`: what was meant perhaps, and what there is.

    Of more than it lists, those that hold the name come first.
    """
    every = list(names)
    near = nearest(name, every)
    if len(every) > LISTED:
        plain = _plain(name)
        every.sort(key=lambda each: plain not in _plain(each) or plain == _plain(each))
    question = f"did you mean '{near}'? " if near else ""
    return f"{question}there are {listed(every)}"


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
