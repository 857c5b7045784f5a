"""Which resources lie in the same memory: views, and what programs lay over each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .memory import is_texture


class Places:
    """Where resources lie, as far as Metal says."""

    def __init__(self, api: Any) -> None:
        self._seen_by_host = (api.MTLStorageModeShared, api.MTLStorageModeManaged)
        self._spaces: list[Any] = [None]  # the host's memory, heaps, resources by themselves

    def overlap(self, resources: Sequence[Any]) -> bool:
        """Whether two of several buffers and textures have a byte in common."""
        found = sorted(map(self._place, resources))
        return any(one[0] == other[0] and other[1] < one[2] for one, other in pairwise(found))

    def _place(self, resource: Any) -> tuple[int, int, int]:
        """The number of a space, and bytes in it from one to another."""
        owner = _owner_of(resource)
        heap = owner.heap() if hasattr(owner, "heap") else None
        if heap is not None:
            start = int(owner.heapOffset())
            return self._space(heap), start, start + int(owner.allocatedSize())
        if is_texture(owner) or owner.storageMode() not in self._seen_by_host:
            return self._space(owner), 0, 1
        # Programs may make several buffers of one memory of theirs.
        length = int(owner.length())
        start = np.frombuffer(owner.contents().as_buffer(length), np.uint8).ctypes.data
        return 0, start, start + length

    def _space(self, thing: Any) -> int:
        for number, known in enumerate(self._spaces):
            if known is thing:
                return number
        self._spaces.append(thing)
        return len(self._spaces) - 1


def _owner_of(resource: Any) -> Any:
    """The resource whose memory a texture, or a buffer, is a part of: often itself."""
    while hasattr(resource, "parentTexture"):
        above = resource.parentTexture() or resource.buffer()
        if above is None:
            break
        resource = above
    return resource
