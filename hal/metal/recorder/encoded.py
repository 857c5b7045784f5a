"""What argument encoders wrote: where an argument buffer leads to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .programs import ArgumentEncoder

_REMEMBERED: Final = 4096  # places; programs write argument buffers shortly before they are used


@dataclass(slots=True, eq=False)
class Encoded:
    """An argument buffer.

    Attributes:
        buffer, offset, length: where it lies.
        index: of the kernel's argument that its encoder was made for; -1 if it was made of
            descriptors.
        members: buffers with offsets, textures, samplers by `[[id(n)]]`.
        reason: why it cannot be recorded; "" if it can.
    """

    buffer: Any
    offset: int
    length: int
    index: int
    members: dict[int, tuple[Any, int]] = field(default_factory=dict)
    reason: str = ""


class EncodedPlaces:
    """The argument buffers that were written last, by where they lie."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], Encoded] = {}

    def note(
        self,
        encoder: ArgumentEncoder,
        target: Any,
        start: int,
        index: int,
        member: Any,
        offset: int,
    ) -> None:
        """An encoder wrote the address of byte `offset` of a buffer, a texture or a sampler.

        None is a null pointer.
        """
        place = self._place(encoder, target, start)
        if member is None:
            place.members.pop(index, None)
        else:
            place.members[index] = (member, offset)

    def refuse(self, encoder: ArgumentEncoder, target: Any, start: int, reason: str) -> None:
        """An encoder wrote what is not recorded."""
        self._place(encoder, target, start).reason = reason

    def at(self, buffer: Any, offset: int) -> Encoded | None:
        """The argument buffer that begins at this byte."""
        found = self._places.get((id(buffer), offset))
        return found if found is not None and found.buffer is buffer else None

    def _place(self, encoder: ArgumentEncoder, target: Any, start: int) -> Encoded:
        key = (id(target), start)
        found = self._places.pop(key, None)
        index = encoder.given[0] if encoder.given and isinstance(encoder.given[0], int) else -1
        if found is None or found.buffer is not target or found.index != index:
            found = Encoded(target, start, int(encoder.real.encodedLength()), index)
        self._places[key] = found  # the last one again
        while len(self._places) > _REMEMBERED:
            del self._places[next(iter(self._places))]
        return found
