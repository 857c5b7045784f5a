"""What buffers, textures and heaps share: the MTLResourceOptions that they were made with."""

from ..objects import MetalObject


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
        """The MTLResourceOptions that it was made with."""
        return self._options


def storage_mode_of(options: int) -> int:
    """The MTLStorageMode within MTLResourceOptions."""
    return options >> 4 & 0xF
