"""Cases about textures: what formats hold, how samplers read between and around texels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from .case import Case

_SEED: Final = 21
_EDGE: Final = 32
_ADDRESSING: Final = (
    "ClampToEdge",
    "MirrorClampToEdge",
    "Repeat",
    "MirrorRepeat",
    "ClampToZero",
    "ClampToBorderColor",
)
# Pixel formats with the bytes of a texel, by what kernels read.
_REAL: Final = {
    "R8Unorm": 1,
    "R8Snorm": 1,
    "RG8Unorm": 2,
    "RGBA8Unorm": 4,
    "RGBA8Unorm_sRGB": 4,
    "RGBA8Snorm": 4,
    "BGRA8Unorm": 4,
    "R16Unorm": 2,
    "R16Snorm": 2,
    "R16Float": 2,
    "RGBA16Unorm": 8,
    "RGBA16Float": 8,
    "RGB10A2Unorm": 4,
    "RG11B10Float": 4,
    "RGB9E5Float": 4,
    "R32Float": 4,
    "RGBA32Float": 16,
}
_WHOLE: Final = {
    "uint": {"R8Uint": 1, "RGBA16Uint": 8, "RGB10A2Uint": 4, "RGBA32Uint": 16},
    "int": {"R8Sint": 1, "RGBA16Sint": 8, "RGBA32Sint": 16},
}
_PLACE: Final = f"ushort2(i % {_EDGE}, i / {_EDGE})"


def texture_cases() -> Iterator[Case]:
    """All of them."""
    for format, size in _REAL.items():
        yield _read(format, size, "float")
        yield _write(format, size, "float")
    for kind, formats in _WHOLE.items():
        for format, size in formats.items():
            yield _read(format, size, kind)
            yield _write(format, size, kind)
    for mode in _ADDRESSING:
        for filtered in (False, True):
            name = f"sample-{mode}-{'linear' if filtered else 'nearest'}"
            yield _sampled(name, "sample(s, float2(a, b))", mode, filtered=filtered)
    between = "sample(s, float2(a, b), level(abs(a) * 2.0f))"
    yield _sampled("sample-between-levels", between, "Repeat", filtered=True, levels=4)
    yield _sampled("gather", "gather(s, float2(a, b))", "ClampToEdge", filtered=False)


def _read(format: str, size: int, kind: str) -> Case:
    return Case(
        name=f"texture/read-{format}",
        given="float",
        result="float4",
        body=f"r = as_type<float4>(image.read({_PLACE}));",
        parameters=f"texture2d<{kind}> image [[texture(0)]],",
        bind=partial(_bind, format=format, texel=size),
    )


def _write(format: str, size: int, kind: str) -> Case:
    """Every float is written; what the texture holds then is recorded with it."""
    texel = f"{kind}4(as_type<{kind}>(a), as_type<{kind}>(b), 0, 1)"
    return Case(
        name=f"texture/write-{format}",
        given="float",
        result="float",
        body=f"image.write({texel}, {_PLACE}); r = a;",
        parameters=f"texture2d<{kind}, access::write> image [[texture(0)]],",
        bind=partial(_bind, format=format, texel=size),
    )


def _sampled(name: str, call: str, mode: str, *, filtered: bool, levels: int = 1) -> Case:
    """What a sampler gives at places around and in an image."""
    return Case(
        name=f"texture/{name}",
        given="float",
        result="float4",
        body=f"r = image.{call};",
        domain=3.0,
        parameters="texture2d<float> image [[texture(0)]], sampler s [[sampler(0)]],",
        bind=partial(
            _bind, format="RGBA8Unorm", texel=4, mode=mode, filtered=filtered, levels=levels
        ),
    )


def _bind(
    metal: Any,
    device: Any,
    encoder: Any,
    _function: Any,
    *,
    format: str,
    texel: int,
    mode: str = "",
    filtered: bool = False,
    levels: int = 1,
) -> None:
    encoder.setTexture_atIndex_(random_texture(metal, device, format, texel, levels), 0)
    if mode:
        encoder.setSamplerState_atIndex_(sampler_of(metal, device, mode, filtered=filtered), 0)


def random_texture(metal: Any, device: Any, format: str, texel: int, levels: int = 1) -> Any:
    """A square texture with any bytes in it, always the same."""
    make = "texture2DDescriptorWithPixelFormat_width_height_mipmapped_"
    described = getattr(metal.MTLTextureDescriptor, make)(
        getattr(metal, f"MTLPixelFormat{format}"), _EDGE, _EDGE, levels > 1
    )
    described.setMipmapLevelCount_(levels)
    described.setStorageMode_(metal.MTLStorageModeShared)
    described.setUsage_(metal.MTLTextureUsageShaderRead | metal.MTLTextureUsageShaderWrite)
    made = device.newTextureWithDescriptor_(described)
    draw = np.random.default_rng([_SEED, texel])
    for level in range(levels):
        edge = _EDGE >> level
        data = draw.integers(0, 256, edge * edge * texel, np.uint8).tobytes()
        region = metal.MTLRegionMake2D(0, 0, edge, edge)
        made.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(region, level, data, edge * texel)
    return made


def sampler_of(metal: Any, device: Any, mode: str, *, filtered: bool) -> Any:
    """A sampler with one mode of addressing, which argument buffers may hold."""
    described = metal.MTLSamplerDescriptor.new()
    nearest, linear = metal.MTLSamplerMinMagFilterNearest, metal.MTLSamplerMinMagFilterLinear
    described.setMinFilter_(linear if filtered else nearest)
    described.setMagFilter_(linear if filtered else nearest)
    described.setMipFilter_(metal.MTLSamplerMipFilterLinear)
    address = getattr(metal, f"MTLSamplerAddressMode{mode}")
    described.setSAddressMode_(address)
    described.setTAddressMode_(address)
    described.setBorderColor_(metal.MTLSamplerBorderColorOpaqueWhite)
    described.setSupportArgumentBuffers_(True)
    return device.newSamplerStateWithDescriptor_(described)
