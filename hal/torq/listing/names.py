"""Names for addresses in a listing: those that the compiler's notes have, each made unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.compiler.torq.hw.attributes import Address
from assay.compiler.torq.hw.symbols import SymbolOp
from assay.hw.torq.notes import Notes, Symbol

_MEMORIES = {"LRAM": "lram", "XRAM": "xram"}


class Names:
    """Finds names, and remembers which were used."""

    def __init__(self, notes: Notes, placed: Sequence[Symbol] = ()) -> None:
        self._by_name: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
        self._used: dict[tuple[str, str], tuple[int, int]] = {}
        seen: set[tuple[str, str, int, int]] = set()
        for symbol in (*notes.symbols, *placed):
            space = _MEMORIES.get(symbol.memory)
            key = (symbol.memory, symbol.name, symbol.start, symbol.stop)
            if space is None or key in seen or not symbol.name:
                continue
            seen.add(key)
            known = self._by_name.setdefault((space, symbol.name), [])
            unique = f"{symbol.name}#{len(known) + 1}" if known else symbol.name
            known.append((symbol.start, symbol.stop, unique))
        self._places = {space: self._in(space) for space in _MEMORIES.values()}

    def _in(self, space: str) -> tuple[list[tuple[int, int, str]], NDArray[np.int64]]:
        """All names of a memory, and where they begin and end."""
        named = [
            place
            for (where, _), known in self._by_name.items()
            if where == space
            for place in known
        ]
        ends = np.array([(start, stop) for start, stop, _ in named], np.int64)
        return named, ends.reshape(-1, 2)

    def symbol(self, space: str, names: Sequence[str], address: int) -> str:
        """The name for a byte: of a tensor of one of these names, or the only one that there is."""
        known = [place for name in names for place in self._by_name.get((space, name), ())]
        inside = [place for place in known if place[0] <= address < place[1]]
        if not inside:
            named, ends = self._places[space]
            here = np.flatnonzero((ends[:, 0] <= address) & (address < ends[:, 1]))
            inside = [named[here[0]]] if len(here) == 1 else []
        if not inside:
            return ""
        return self._use(space, inside[0])

    def last(self, space: str, address: int) -> str:
        """The name for a byte that was used last: what was put there last, in a program's order."""
        for (where, unique), (start, stop) in reversed(self._used.items()):
            if where == space and start <= address < stop:
                return self._use(space, (start, stop, unique))
        return ""

    def region(self, space: str, name: str, start: int, stop: int) -> str:
        """The name of a region that has none yet: this one, made unique."""
        known = self._by_name.setdefault((space, name), [])
        place = next((each for each in known if each[:2] == (start, stop)), None)
        if place is None:
            place = start, stop, f"{name}#{len(known) + 1}" if known else name
            known.append(place)
        return self._use(space, place)

    def _use(self, space: str, place: tuple[int, int, str]) -> str:
        start, stop, unique = place
        self._used.pop((space, unique), None)
        self._used[space, unique] = (start, stop)
        return unique

    def start(self, space: str, unique: str) -> int:
        """Where a name begins that was found."""
        return self._used[space, unique][0]

    def ops(self) -> Iterator[SymbolOp]:
        """The names that were used, by memory and address."""
        found = sorted(self._used.items(), key=lambda item: (item[0][0], item[1], item[0][1]))
        for (space, unique), (start, stop) in found:
            yield SymbolOp.made(unique, Address(space, start), stop - start)
