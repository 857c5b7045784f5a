"""How numbers of things are said."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """`1 event`, `2,000 events`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
