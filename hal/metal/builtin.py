"""Kernels of the driver's own: fills and copies that Metal's blit encoder cannot do.

A blit fill repeats one byte, and blits want offsets and sizes that are multiples of 4.
"""

from __future__ import annotations

import struct
from typing import Any

from ..status import StatusError
from .errors import error_text

_SOURCE = """\
#include <metal_stdlib>
using namespace metal;

struct Range { ulong target; ulong source; ulong length; uint pattern; uint period; };

kernel void assay_fill(device uchar* target [[buffer(0)]], constant Range& range [[buffer(2)]],
                       uint index [[thread_position_in_grid]],
                       uint threads [[threads_per_grid]]) {
    for (ulong i = index; i < range.length; i += threads)
        target[range.target + i] = uchar(range.pattern >> (8 * uint(i % range.period)));
}

kernel void assay_copy(device uchar* target [[buffer(0)]], device const uchar* source [[buffer(1)]],
                       constant Range& range [[buffer(2)]], uint index [[thread_position_in_grid]],
                       uint threads [[threads_per_grid]]) {
    for (ulong i = index; i < range.length; i += threads)
        target[range.target + i] = source[range.source + i];
}
"""

_RANGE = struct.Struct("<QQQII")
_THREADS = 256
_MOST_GROUPS = 64


class Builtins:
    """The kernels, compiled when first needed."""

    def __init__(self, api: Any, device: Any) -> None:
        self._api = api
        self._device = device
        self._library: Any = None
        self._states: dict[str, Any] = {}

    def fill(self, encoder: Any, target: Any, offset: int, length: int, pattern: bytes) -> None:
        """Encode a fill with a pattern of 1, 2 or 4 bytes."""
        word = int.from_bytes(pattern, "little")
        encoder.setComputePipelineState_(self._state("assay_fill"))
        encoder.setBuffer_offset_atIndex_(target, 0, 0)
        self._dispatch(encoder, _RANGE.pack(offset, 0, length, word, len(pattern)), length)

    def copy(
        self,
        encoder: Any,
        source: Any,
        source_offset: int,
        target: Any,
        target_offset: int,
        length: int,
    ) -> None:
        """Encode a copy of bytes at any offsets."""
        encoder.setComputePipelineState_(self._state("assay_copy"))
        encoder.setBuffer_offset_atIndex_(target, 0, 0)
        encoder.setBuffer_offset_atIndex_(source, 0, 1)
        data = _RANGE.pack(target_offset, source_offset, length, 0, 1)
        self._dispatch(encoder, data, length)

    def _dispatch(self, encoder: Any, data: bytes, length: int) -> None:
        encoder.setBytes_length_atIndex_(data, len(data), 2)
        groups = min(_MOST_GROUPS, -(-length // _THREADS))
        size = self._api.MTLSizeMake
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            size(groups, 1, 1), size(_THREADS, 1, 1)
        )

    def _state(self, name: str) -> Any:
        state = self._states.get(name)
        if state is None:
            if self._library is None:
                self._library, error = self._device.newLibraryWithSource_options_error_(
                    _SOURCE, None, None
                )
                if self._library is None:
                    raise StatusError("INTERNAL", f"built-in kernels: {error_text(error)}")
            function = self._library.newFunctionWithName_(name)
            state, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
            if state is None:
                raise StatusError("INTERNAL", f"built-in kernel {name}: {error_text(error)}")
            self._states[name] = state
        return state
