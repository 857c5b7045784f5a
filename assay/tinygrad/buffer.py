"""Device memory as tinygrad holds it, and where it comes from."""

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinygrad.device import BufferSpec, LRUAllocator
from tinygrad.helpers import cpu_profile

from assay.hal.metal import emulated as metal

if TYPE_CHECKING:
    from .device import AssayDevice


# Not frozen: each view of each buffer is one, and frozen instances cost three times as much.
@dataclass(slots=True)
class AssayBuffer:
    """`size` bytes of a Metal buffer, from byte `offset` on."""

    buffer: metal.MTLBuffer
    size: int
    offset: int = 0


class AssayAllocator(LRUAllocator["AssayDevice"]):
    """Shared Metal buffers: host and device see one copy."""

    dev: "AssayDevice"

    def _alloc(self, size: int, options: BufferSpec) -> AssayBuffer:
        """A buffer; of the host's pages at `external_ptr`, where that is given."""
        device = self.dev.metal
        mode = metal.MTLResourceStorageModeShared
        if options.external_ptr is not None:
            pages = (ctypes.c_uint8 * size).from_address(options.external_ptr)
            return AssayBuffer(
                device.newBufferWithBytesNoCopy_length_options_deallocator_(
                    pages, size, mode, None
                ),
                size,
            )
        if size > device.maxBufferLength():
            raise MemoryError(f"{size} bytes are more than maxBufferLength")
        return AssayBuffer(device.newBufferWithLength_options_(size, mode), size)

    def _offset(self, buf: AssayBuffer, size: int, offset: int) -> AssayBuffer:
        return AssayBuffer(buf.buffer, size, buf.offset + offset)

    def _as_buffer(self, src: AssayBuffer) -> memoryview:
        """The bytes themselves, not a copy."""
        return src.buffer.contents().as_buffer(src.offset + src.size)[src.offset :]

    def _copyin(self, dest: AssayBuffer, src: memoryview) -> None:
        self._copy(self._as_buffer(dest), src)

    def _copyout(self, dest: memoryview, src: AssayBuffer) -> None:
        self._copy(dest, self._as_buffer(src))

    def _copy(self, dest: memoryview, src: memoryview) -> None:
        """Copy once the kernels are done that may use either; tinygrad's profiler sees it."""
        self.dev.synchronize()
        with cpu_profile("copy", f"{self.dev.device}:COPY"):
            dest[:] = src
