"""The executable format of kernels in MSL as people write them, with indices of their own.

IREE's kernels find their buffers in an argument buffer and their constants at one index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from .status import invalid_argument

FORMAT: Final = "assay-msl"


@dataclass(frozen=True, kw_only=True, slots=True)
class MslKernel:
    """A function of a text, and what its dispatches set.

    Attributes:
        source: the text.
        function: its name.
        threads: of a threadgroup.
        buffers: the index of each binding.
        constants: (index, bytes) of what is made of a dispatch's constants, which are 32-bit words:
            the words of the first index come first, each index begins with a word of its own.
        function_constants: (index, element type, bits).
        threadgroup_memory: bytes, by index.
    """

    source: str
    function: str
    threads: tuple[int, int, int]
    buffers: tuple[int, ...]
    constants: tuple[tuple[int, int], ...] = ()
    function_constants: tuple[tuple[int, int, int], ...] = ()
    threadgroup_memory: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        """As an executable of this format."""
        return msgspec.msgpack.encode(self)

    @staticmethod
    def from_bytes(data: memoryview) -> MslKernel:
        """What an executable of this format says. Raises StatusError."""
        try:
            return msgspec.msgpack.decode(data, type=MslKernel)
        except msgspec.DecodeError as error:
            raise invalid_argument(f"no kernel of MSL: {error}") from None
