"""Names of bytes in the NPU's memories."""

from collections.abc import Mapping, Sequence

from ..notes import Symbol


def name_of(symbols: Mapping[str, Sequence[Symbol]], memory: str, start: int, stop: int) -> str:
    """The name of what lies at an address, or an empty one."""
    for symbol in symbols.get(memory, ()):
        if symbol.start < stop and start < symbol.stop:
            return symbol.name
    return ""
