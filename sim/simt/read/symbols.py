"""Names of the source in symbols that C++ mangled."""

from __future__ import annotations

import re

_MANGLED = re.compile(r"_Z(NK?)?")
_PART = re.compile(r"(\d+)")


def plain_name(symbol: str) -> str:
    """The source name in a mangled symbol, as far as it is plain, without its namespaces."""
    nested = _MANGLED.match(symbol)
    if nested is None:
        return symbol
    name, place = symbol, nested.end()
    while part := _PART.match(symbol, place):
        place = part.end() + int(part[1])
        name = symbol[part.end() : place]
        if nested[1] is None:
            break
    return name
