"""What buffers, textures, tensors and heaps share: their MTLResourceOptions."""

from ..objects import MetalObject, UserMade, call_of
from ..structs import as_integer


class WithOptions(MetalObject):
    """An object that was made with MTLResourceOptions."""

    _options: int

    def storageMode(self) -> int:
        """The MTLStorageMode."""
        return storage_mode_of(self._options)

    def cpuCacheMode(self) -> int:
        """The MTLCPUCacheMode."""
        return self._options & 0xF

    def hazardTrackingMode(self) -> int:
        """The MTLHazardTrackingMode."""
        return self._options >> 8 & 0x3

    def resourceOptions(self) -> int:
        """Storage, cache and hazard tracking modes as MTLResourceOptions."""
        return self._options


class OptionsDescriptor(WithOptions, UserMade):
    """A descriptor whose MTLResourceOptions programs set, at once or one by one."""

    _options = 0

    def setResourceOptions_(self, options: int) -> None:
        """Set storage, cache and hazard tracking modes at once."""
        self._options = as_integer(call_of(self), "the value", options)

    def setStorageMode_(self, mode: int) -> None:
        """Set the MTLStorageMode."""
        mode = as_integer(call_of(self), "the value", mode)
        self._options = self._options & ~0xF0 | mode << 4

    def setCpuCacheMode_(self, mode: int) -> None:
        """Set the MTLCPUCacheMode."""
        mode = as_integer(call_of(self), "the value", mode)
        self._options = self._options & ~0xF | mode

    def setHazardTrackingMode_(self, mode: int) -> None:
        """Set the MTLHazardTrackingMode."""
        mode = as_integer(call_of(self), "the value", mode)
        self._options = self._options & ~0x300 | mode << 8


def storage_mode_of(options: int) -> int:
    """The MTLStorageMode within MTLResourceOptions."""
    return options >> 4 & 0xF
