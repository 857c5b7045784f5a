"""Textures as resources: descriptors, views, textures in buffers, copies by host and blit."""

from collections.abc import Callable

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLDevice, MTLTextureDescriptor
from tests.support.metal_fakes import fake_device
from tests.support.textures import Bytes, buffer_of, contents, descriptor, get, put

RGBA8 = Metal.MTLPixelFormatRGBA8Unorm
R32U = Metal.MTLPixelFormatR32Uint
RNG = np.random.default_rng(17)


@pytest.fixture
def device() -> MTLDevice:
    return fake_device()


def bytes_like(*shape: int) -> Bytes:
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def blit(device: MTLDevice, encode: Callable[[Metal.MTLBlitCommandEncoder], object]) -> None:
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.blitCommandEncoder()
    encode(encoder)
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None


def test_descriptors_of_the_usual_kinds(device: MTLDevice) -> None:
    flat = MTLTextureDescriptor.texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
        RGBA8, 100, 30, True
    )
    texture = device.newTextureWithDescriptor_(flat)
    assert (texture.width(), texture.height(), texture.mipmapLevelCount()) == (100, 30, 7)
    assert texture.usage() == Metal.MTLTextureUsageShaderRead
    assert texture.pixelFormat() == RGBA8 and texture.textureType() == Metal.MTLTextureType2D
    cube = MTLTextureDescriptor.textureCubeDescriptorWithPixelFormat_size_mipmapped_(
        RGBA8, 16, False
    )
    assert device.newTextureWithDescriptor_(cube).allocatedSize() == 6 * 16 * 16 * 4
    make = MTLTextureDescriptor.textureBufferDescriptorWithPixelFormat_width_resourceOptions_usage_
    words = device.newTextureWithDescriptor_(make(R32U, 1000, 0, 3))
    assert words.textureType() == Metal.MTLTextureTypeTextureBuffer and words.width() == 1000
    assert repr(texture) == "<MTLTexture of 100x30 RGBA8Unorm>"


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"pixelFormat": 204}, "pixel format 204 is not emulated"),
        ({"width": 0}, r"width is 0; for a texture of this type it must lie in 1\.\.16384"),
        ({"height": 20000}, "height is 20000"),
        ({"depth": 2}, "depth is 2"),
        ({"arrayLength": 2}, "arrayLength is 2"),
        ({"textureType": 12}, "12 is no MTLTextureType"),
        ({"textureType": Metal.MTLTextureTypeCube, "height": 3}, "faces of a cube are squares"),
        ({"mipmapLevelCount": 4}, r"mipmapLevelCount is 4; .* has 1\.\.3"),
        ({"sampleCount": 4}, r"sampleCount is 4; a texture of this type has one of \(1,\)"),
        ({"textureType": 4, "sampleCount": 4}, "are of MTLStorageModePrivate"),
        ({"storageMode": 3}, "Memoryless is for render passes"),
        ({"swizzle": (0, 1, 2, 9)}, "each must be an MTLTextureSwizzle"),
    ],
)
def test_impossible_textures_are_refused(
    device: MTLDevice, facts: dict[str, int], message: str
) -> None:
    with pytest.raises(MetalValidationError, match=message):
        device.newTextureWithDescriptor_(descriptor(RGBA8, (4, 4), **facts))


def test_regions_go_in_and_out_with_the_callers_row_pitch(device: MTLDevice) -> None:
    texture = device.newTextureWithDescriptor_(
        descriptor(RGBA8, (8, 6, 3), Metal.MTLTextureType3D, mipmapLevelCount=2)
    )
    whole = bytes_like(3, 6, 8, 4)
    put(texture, whole)
    np.testing.assert_array_equal(get(texture, np.uint8), whole)
    part = bytes_like(2, 2, 5, 4)  # rows of 5 texels, 3 of which count
    texture.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
        Metal.MTLRegionMake3D(4, 1, 1, 3, 2, 2), 0, 0, part, 20, 40
    )
    whole[1:3, 1:3, 4:7] = part[:, :, :3]
    np.testing.assert_array_equal(get(texture, np.uint8), whole)
    line = bytearray(3 * 4)
    texture.getBytes_bytesPerRow_fromRegion_mipmapLevel_(
        line, 12, Metal.MTLRegionMake2D(5, 2, 3, 1), 0
    )
    assert bytes(line) == whole[0, 2, 5:8].tobytes()
    put(texture, bytes_like(1, 3, 4, 4), level=1)
    np.testing.assert_array_equal(get(texture, np.uint8), whole)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t: t.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
                Metal.MTLRegionMake2D(2, 0, 3, 1), 0, bytes(99), 12
            ),
            "reaches out of level 0",
        ),
        (
            lambda t: t.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
                Metal.MTLRegionMake2D(0, 0, 4, 4), 3, bytes(99), 16
            ),
            "level 3 of .* levels 0..0",
        ),
        (
            lambda t: t.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
                Metal.MTLRegionMake2D(0, 0, 4, 4), 0, bytes(99), 8
            ),
            "bytesPerRow is 8; 4 texels",
        ),
        (
            lambda t: t.replaceRegion_mipmapLevel_withBytes_bytesPerRow_(
                Metal.MTLRegionMake2D(0, 0, 4, 4), 0, bytes(9), 16
            ),
            "64 B, but only 9 B are given",
        ),
        (
            lambda t: t.getBytes_bytesPerRow_fromRegion_mipmapLevel_(
                bytes(64), 16, Metal.MTLRegionMake2D(0, 0, 4, 4), 0
            ),
            "bytes is read-only",
        ),
        (
            lambda t: t.getBytes_bytesPerRow_fromRegion_mipmapLevel_(bytearray(64), 16, 5, 0),
            "the region is 5; give an MTLRegion",
        ),
        (lambda t: t.newTextureViewWithPixelFormat_(R32U + 50), "texels of 8 B and 4 B"),
        (
            lambda t: t.newTextureViewWithPixelFormat_textureType_levels_slices_(
                RGBA8, Metal.MTLTextureType3D, (0, 1), (0, 1)
            ),
            "cannot be viewed as 7",
        ),
        (
            lambda t: t.newTextureViewWithPixelFormat_textureType_levels_slices_(
                RGBA8, Metal.MTLTextureType2D, (0, 2), (0, 1)
            ),
            "levels 0..2 of a texture of 1",
        ),
    ],
)
def test_misuse_says_what_was_wrong(
    device: MTLDevice, call: Callable[[Metal.MTLTexture], object], message: str
) -> None:
    texture = device.newTextureWithDescriptor_(descriptor(RGBA8, (4, 4)))
    with pytest.raises(MetalValidationError, match=message):
        call(texture)


def test_private_textures_are_reached_by_blits_alone(device: MTLDevice) -> None:
    private = device.newTextureWithDescriptor_(
        descriptor(RGBA8, (8, 8), storageMode=Metal.MTLStorageModePrivate)
    )
    with pytest.raises(MetalValidationError, match="copy through a buffer with a blit encoder"):
        put(private, bytes_like(8, 8, 4))
    data = bytes_like(8, 8, 4)
    source, target = buffer_of(device, data), buffer_of(device, np.zeros((4, 16, 4), np.uint8))
    into = (
        "copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_"
        "destinationSlice_destinationLevel_destinationOrigin_"
    )
    out = (
        "copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toBuffer_"
        "destinationOffset_destinationBytesPerRow_destinationBytesPerImage_"
    )

    def encode(encoder: Metal.MTLBlitCommandEncoder) -> None:
        getattr(encoder, into)(source, 0, 32, 0, (8, 8, 1), private, 0, 0, (0, 0, 0))
        getattr(encoder, out)(private, 0, 0, (2, 3, 0), (5, 4, 1), target, 16, 48, 192)

    blit(device, encode)
    rows = contents(target, np.uint8)[16:].tobytes()
    for row in range(4):
        assert rows[48 * row : 48 * row + 20] == data[3 + row, 2:7].tobytes()


def test_copies_between_textures(device: MTLDevice) -> None:
    made = descriptor(RGBA8, (4, 4), Metal.MTLTextureType2DArray, arrayLength=3, mipmapLevelCount=3)
    source, target = (device.newTextureWithDescriptor_(made) for _ in range(2))
    data = {(s, n): bytes_like(4 >> n, 4 >> n, 4) for s in range(3) for n in range(3)}
    for (slice, level), texels in data.items():
        put(source, texels, level=level, slice=slice)
    part = (
        "copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toTexture_"
        "destinationSlice_destinationLevel_destinationOrigin_"
    )
    whole = (
        "copyFromTexture_sourceSlice_sourceLevel_toTexture_destinationSlice_destinationLevel_"
        "sliceCount_levelCount_"
    )
    blit(
        device,
        lambda e: getattr(e, part)(source, 1, 0, (1, 1, 0), (2, 3, 1), target, 2, 0, (0, 1, 0)),
    )
    expected = np.zeros((4, 4, 4), np.uint8)
    expected[1:4, 0:2] = data[1, 0][1:4, 1:3]
    np.testing.assert_array_equal(get(target, np.uint8, slice=2)[0], expected)
    blit(device, lambda e: getattr(e, whole)(source, 1, 1, target, 0, 1, 2, 2))
    for slice in range(2):
        for level in (1, 2):
            got = get(target, np.uint8, level=level, slice=slice)[0]
            np.testing.assert_array_equal(got, data[slice + 1, level])
    blit(device, lambda e: e.copyFromTexture_toTexture_(source, target))
    for (slice, level), texels in data.items():
        got = get(target, np.uint8, level=level, slice=slice)[0]
        np.testing.assert_array_equal(got, texels)
    other = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatR8Unorm, (4, 4)))
    with pytest.raises(MetalValidationError, match="a copy changes no format"):
        blit(device, lambda e: e.copyFromTexture_toTexture_(source, other))
    with pytest.raises(MetalValidationError, match="has one level, so no more to make"):
        blit(device, lambda e: e.generateMipmapsForTexture_(other))


def test_views_show_the_same_texels(device: MTLDevice) -> None:
    parent = device.newTextureWithDescriptor_(
        descriptor(RGBA8, (8, 8), Metal.MTLTextureType2DArray, arrayLength=7, mipmapLevelCount=3)
    )
    texels = bytes_like(4, 4, 4)
    put(parent, texels, level=1, slice=3)
    make = parent.newTextureViewWithPixelFormat_textureType_levels_slices_
    view = make(R32U, Metal.MTLTextureType2D, (1, 2), (3, 1))
    assert view.parentTexture() is parent and view.rootResource() is parent
    assert (view.parentRelativeLevel(), view.parentRelativeSlice()) == (1, 3)
    assert (view.width(), view.mipmapLevelCount(), view.arrayLength()) == (4, 2, 1)
    np.testing.assert_array_equal(get(view, np.uint8)[0].reshape(4, 4, 4), texels)
    put(view, texels[::-1])
    np.testing.assert_array_equal(get(parent, np.uint8, level=1, slice=3)[0], texels[::-1])
    cube = make(RGBA8, Metal.MTLTextureTypeCube, (0, 1), (1, 6))
    assert cube.textureType() == Metal.MTLTextureTypeCube
    with pytest.raises(MetalValidationError, match="takes 6 slices, and 5 are given"):
        make(RGBA8, Metal.MTLTextureTypeCube, (0, 1), (1, 5))
    strict = device.newTextureWithDescriptor_(descriptor(RGBA8, (4, 4), usage=1))
    with pytest.raises(MetalValidationError, match="without MTLTextureUsagePixelFormatView"):
        strict.newTextureViewWithPixelFormat_(R32U)


def test_a_texture_in_a_buffer_shares_its_bytes(device: MTLDevice) -> None:
    data = bytes_like(1024)
    buffer = buffer_of(device, data)
    texture = buffer.newTextureWithDescriptor_offset_bytesPerRow_(
        descriptor(RGBA8, (10, 5)), 64, 48
    )
    assert (texture.bufferOffset(), texture.bufferBytesPerRow()) == (64, 48)
    assert texture.buffer() is buffer and texture.rootResource() is buffer
    rows = data[64 : 64 + 5 * 48].reshape(5, 48)[:, :40].reshape(5, 10, 4)
    np.testing.assert_array_equal(get(texture, np.uint8)[0], rows)
    put(texture, rows[::-1].copy())
    np.testing.assert_array_equal(contents(buffer, np.uint8)[64:104], rows[-1].reshape(-1))
    align = device.minimumLinearTextureAlignmentForPixelFormat_(RGBA8)
    make = buffer.newTextureWithDescriptor_offset_bytesPerRow_
    with pytest.raises(MetalValidationError, match=f"both must be multiples of {align}"):
        make(descriptor(RGBA8, (10, 5)), 4, 48)
    with pytest.raises(MetalValidationError, match="a row takes 40 B"):
        make(descriptor(RGBA8, (10, 5)), 0, 32)
    with pytest.raises(MetalValidationError, match="has only 1024 bytes"):
        make(descriptor(RGBA8, (10, 5)), 960, 48)
    with pytest.raises(MetalValidationError, match="only 2D textures of one level"):
        make(descriptor(RGBA8, (4, 4, 2), Metal.MTLTextureType3D), 0, 16)


def test_samplers_say_what_cannot_be(device: MTLDevice) -> None:
    made = Metal.MTLSamplerDescriptor.new()
    with pytest.raises(MetalValidationError, match=r"setMinFilter_: 7 is not in 0\.\.1"):
        made.setMinFilter_(7)
    with pytest.raises(MetalValidationError, match=r"17 is not in 1\.\.16"):
        made.setMaxAnisotropy_(17)
    made.setNormalizedCoordinates_(False)
    made.setMipFilter_(Metal.MTLSamplerMipFilterLinear)
    with pytest.raises(MetalValidationError, match="coordinates that count texels"):
        device.newSamplerStateWithDescriptor_(made)


def test_heaps_hold_textures_that_give_their_place_back(device: MTLDevice) -> None:
    made = Metal.MTLHeapDescriptor.new()
    made.setSize_(3 * 4096)
    made.setStorageMode_(Metal.MTLStorageModeShared)
    heap = device.newHeapWithDescriptor_(made)
    wanted = descriptor(RGBA8, (32, 32))
    size, align = device.heapTextureSizeAndAlignWithDescriptor_(wanted)
    assert size == 4096 and size % align == 0
    first, second, third = (heap.newTextureWithDescriptor_(wanted) for _ in range(3))
    assert first is not None and second is not None and third is not None
    assert [each.heapOffset() for each in (first, second, third)] == [0, 4096, 8192]
    assert first.heap() is heap and heap.usedSize() == 3 * 4096
    texels = bytes_like(32, 32, 4)
    put(second, texels)
    assert not get(first, np.uint8).any()
    np.testing.assert_array_equal(get(second, np.uint8)[0], texels)
    assert heap.newTextureWithDescriptor_(wanted) is None
    view = third.newTextureViewWithPixelFormat_(R32U)
    del third
    assert heap.newTextureWithDescriptor_(wanted) is None, "the view keeps the place"
    del view
    assert heap.newTextureWithDescriptor_(wanted) is not None
    private = descriptor(RGBA8, (32, 32), storageMode=Metal.MTLStorageModePrivate)
    with pytest.raises(MetalValidationError, match="storage mode 2 in a heap of storage mode 0"):
        heap.newTextureWithDescriptor_(private)
    made.setType_(Metal.MTLHeapTypePlacement)
    placed = device.newHeapWithDescriptor_(made)
    one = placed.newTextureWithDescriptor_offset_(wanted, 4096)
    other = placed.newTextureWithDescriptor_offset_(descriptor(R32U, (32, 32)), 4096)
    put(one, texels)
    np.testing.assert_array_equal(get(other, np.uint8).reshape(32, 32, 4), texels)
