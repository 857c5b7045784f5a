"""MTLSamplerState and its descriptor; a sampler is one word that kernels take apart."""

from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of
from ..structs import MTLResourceID, as_integer, as_number
from ..texture_constants import (
    MTLCompareFunctionNever,
    MTLSamplerAddressModeClampToEdge,
    MTLSamplerBorderColorTransparentBlack,
    MTLSamplerMinMagFilterNearest,
    MTLSamplerMipFilterNotMipmapped,
)

if TYPE_CHECKING:
    from ..device import MTLDevice

_WHERE: Final = "MTLDevice.newSamplerStateWithDescriptor_"
# The kernels' numbers (sampler.h) of the MTLSamplerAddressModes.
_ADDRESS_MODES: Final = (1, 5, 2, 3, 0, 4)
_FLT_MAX: Final = float(np.finfo(np.float32).max)
_MOST_ANISOTROPY: Final = 16


class MTLSamplerDescriptor(UserMade):
    """How a sampler is to be."""

    _min_filter = MTLSamplerMinMagFilterNearest
    _mag_filter = MTLSamplerMinMagFilterNearest
    _mip_filter = MTLSamplerMipFilterNotMipmapped
    _address = (MTLSamplerAddressModeClampToEdge,) * 3
    _normalized = True
    _lod_min = 0.0
    _lod_max = _FLT_MAX
    _lod_average = False
    _anisotropy = 1
    _compare = MTLCompareFunctionNever
    _border = MTLSamplerBorderColorTransparentBlack
    in_argument_buffers = False

    def minFilter(self) -> int:
        """The MTLSamplerMinMagFilter of smaller levels."""
        return self._min_filter

    def setMinFilter_(self, kind: int) -> None:
        """Set the MTLSamplerMinMagFilter of smaller levels."""
        self._min_filter = _one_of("setMinFilter_", kind, 2)

    def magFilter(self) -> int:
        """The MTLSamplerMinMagFilter of the full size."""
        return self._mag_filter

    def setMagFilter_(self, kind: int) -> None:
        """Set the MTLSamplerMinMagFilter of the full size."""
        self._mag_filter = _one_of("setMagFilter_", kind, 2)

    def mipFilter(self) -> int:
        """The MTLSamplerMipFilter."""
        return self._mip_filter

    def setMipFilter_(self, kind: int) -> None:
        """Set the MTLSamplerMipFilter."""
        self._mip_filter = _one_of("setMipFilter_", kind, 3)

    def sAddressMode(self) -> int:
        """The MTLSamplerAddressMode along a row."""
        return self._address[0]

    def setSAddressMode_(self, mode: int) -> None:
        """Set the MTLSamplerAddressMode along a row."""
        self._set_address("setSAddressMode_", 0, mode)

    def tAddressMode(self) -> int:
        """The MTLSamplerAddressMode from row to row."""
        return self._address[1]

    def setTAddressMode_(self, mode: int) -> None:
        """Set the MTLSamplerAddressMode from row to row."""
        self._set_address("setTAddressMode_", 1, mode)

    def rAddressMode(self) -> int:
        """The MTLSamplerAddressMode from plane to plane."""
        return self._address[2]

    def setRAddressMode_(self, mode: int) -> None:
        """Set the MTLSamplerAddressMode from plane to plane."""
        self._set_address("setRAddressMode_", 2, mode)

    def normalizedCoordinates(self) -> bool:
        """Whether coordinates run from 0 to 1, or count texels."""
        return self._normalized

    def setNormalizedCoordinates_(self, normalized: bool) -> None:
        """Choose whether coordinates run from 0 to 1, or count texels."""
        self._normalized = bool(normalized)

    def lodMinClamp(self) -> float:
        """The least level."""
        return self._lod_min

    def setLodMinClamp_(self, level: float) -> None:
        """Set the least level. Deviation: kept as a half."""
        self._lod_min = as_number(call_of(self), "the level", level)

    def lodMaxClamp(self) -> float:
        """The largest level."""
        return self._lod_max

    def setLodMaxClamp_(self, level: float) -> None:
        """Set the largest level. Deviation: kept as a half."""
        self._lod_max = as_number(call_of(self), "the level", level)

    def lodAverage(self) -> bool:
        """Whether the device may average levels, which changes nothing."""
        return self._lod_average

    def setLodAverage_(self, average: bool) -> None:
        """Accepted, without effect."""
        self._lod_average = bool(average)

    def maxAnisotropy(self) -> int:
        """The most samples of anisotropic filtering."""
        return self._anisotropy

    def setMaxAnisotropy_(self, most: int) -> None:
        """Set the most samples. Deviation: filtering is isotropic whatever the number."""
        where = call_of(self)
        most = as_integer(where, "the value", most)
        if not 1 <= most <= _MOST_ANISOTROPY:
            raise MetalValidationError(f"{where}: {most} is not in 1..{_MOST_ANISOTROPY}")
        self._anisotropy = most

    def compareFunction(self) -> int:
        """The MTLCompareFunction of sample_compare."""
        return self._compare

    def setCompareFunction_(self, function: int) -> None:
        """Set the MTLCompareFunction of sample_compare."""
        self._compare = _one_of("setCompareFunction_", function, 8)

    def borderColor(self) -> int:
        """The MTLSamplerBorderColor."""
        return self._border

    def setBorderColor_(self, color: int) -> None:
        """Set the MTLSamplerBorderColor."""
        self._border = _one_of("setBorderColor_", color, 3)

    def supportArgumentBuffers(self) -> bool:
        """Whether the sampler may be in argument buffers."""
        return self.in_argument_buffers

    def setSupportArgumentBuffers_(self, supported: bool) -> None:
        """Allow the sampler in argument buffers."""
        self.in_argument_buffers = bool(supported)

    def _set_address(self, call: str, axis: int, mode: int) -> None:
        modes = list(self._address)
        modes[axis] = _one_of(call, mode, len(_ADDRESS_MODES))
        self._address = (modes[0], modes[1], modes[2])

    def _bits(self, lod_min: float | None = None, lod_max: float | None = None) -> int:
        """The sampler as kernels read it."""
        if not self._normalized and self._mip_filter != MTLSamplerMipFilterNotMipmapped:
            raise MetalValidationError(
                f"{_WHERE}: coordinates that count texels go with "
                "MTLSamplerMipFilterNotMipmapped alone"
            )
        s, t, r = (_ADDRESS_MODES[mode] for mode in self._address)
        low = self._lod_min if lod_min is None else lod_min
        high = self._lod_max if lod_max is None else lod_max
        fields = (  # (first bit, value)
            (0, s),
            (3, t),
            (6, r),
            (9, self._mag_filter),
            (10, self._min_filter),
            (11, self._mip_filter),
            (13, int(not self._normalized)),
            (14, self._border),
            (16, self._compare),
            (21, self._anisotropy),
            (32, _half_bits(low)),
            (48, _half_bits(high)),
        )
        return sum(value << bit for bit, value in fields)


class MTLSamplerState(MetalObject):
    """How kernels read between and around texels."""

    def __init__(self, device: "MTLDevice", descriptor: MTLSamplerDescriptor):
        self._device = device
        self._descriptor = descriptor
        self._label = descriptor.label()
        self.in_argument_buffers = descriptor.supportArgumentBuffers()
        self.word = descriptor._bits()
        data = np.array([self.word], dtype="<u8").view(np.uint8)
        self._allocation = device.memory.adopt(_WHERE, data, "sampler", counted=False)

    def device(self) -> "MTLDevice":
        """The device that the sampler belongs to."""
        return self._device

    def gpuResourceID(self) -> MTLResourceID:
        """What argument buffers hold."""
        return MTLResourceID(self.word)

    def clamped_word(self, least: float, most: float) -> int:
        """The same sampler with other bounds of the level, as kernels read it."""
        bits = self.word & 0xFFFFFFFF
        return bits | _half_bits(least) << 32 | _half_bits(most) << 48


def _half_bits(level: float) -> int:
    with np.errstate(over="ignore"):
        return int(np.float32(level).astype(np.float16).view(np.uint16))


def _one_of(call: str, value: int, count: int) -> int:
    where = f"MTLSamplerDescriptor.{call}"
    value = as_integer(where, "the value", value)
    if not 0 <= value < count:
        raise MetalValidationError(f"{where}: {value} is not in 0..{count - 1}")
    return value
