"""Heaps and residency sets: what they hold is reached by dispatches that name none of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .proxy import Proxy, real_of

_MAKES = ("newBuffer", "newTexture")


class Heap(Proxy):
    """Stands for a heap; it knows what was made in it and is still there."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._made_here: list[Callable[[], Any]] = []

    def resources(self) -> Iterator[Any]:
        """The buffers and textures in it."""
        found = [(reference, reference()) for reference in self._made_here]
        self._made_here = [reference for reference, made in found if made is not None]
        return (made for _, made in found if made is not None)

    def __getattr__(self, name: str) -> Any:
        target = super().__getattr__(name)
        if not name.startswith(_MAKES):
            return target

        def note(*given: Any) -> Any:
            made = target(*given)
            if made is not None:
                self._made_here.append(_weakly(made))
            return made

        return note


class ResidencySet(Proxy):
    """Stands for a residency set; what was added counts once it is committed."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._added: list[Any] = []
        self._committed: list[Any] = []

    def addAllocation_(self, allocation: Any) -> None:
        """Add a heap, a buffer or a texture."""
        self.real.addAllocation_(real_of(allocation))
        self._added.append(allocation)

    def addAllocations_count_(self, allocations: Any, count: int) -> None:
        """Add several."""
        for place in range(int(count)):
            self.addAllocation_(allocations[place])

    def removeAllocation_(self, allocation: Any) -> None:
        """Take one out."""
        self.real.removeAllocation_(real_of(allocation))
        self._added = [each for each in self._added if each is not allocation]

    def removeAllocations_count_(self, allocations: Any, count: int) -> None:
        """Take several out."""
        for place in range(int(count)):
            self.removeAllocation_(allocations[place])

    def removeAllAllocations(self) -> None:
        """Take all out."""
        self.real.removeAllAllocations()
        self._added.clear()

    def commit(self) -> None:
        """Let what was added and taken out count."""
        self.real.commit()
        self._committed = list(self._added)

    def resources(self) -> Iterator[Any]:
        """The buffers and textures in it, those of heaps included."""
        return reached_through(self._committed)


def reached_through(allocations: Iterable[Any]) -> Iterator[Any]:
    """Buffers and textures as they are, and those in heaps and residency sets."""
    for each in allocations:
        if isinstance(each, Heap | ResidencySet):
            yield from each.resources()
        else:
            yield each


def _weakly(made: Any) -> Callable[[], Any]:
    """A reference that does not keep a resource in its heap, if its class allows that."""
    try:
        return weakref.ref(made)
    except TypeError:
        return lambda: made
