"""Textures in kernels: reads, writes, queries, arrays, argument buffers, atomics."""

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLDevice, MTLSamplerDescriptor
from tests.support.textures import HEAD, buffer_of, contents, descriptor, get, pipeline, put, run

RGBA32 = Metal.MTLPixelFormatRGBA32Float
R32U = Metal.MTLPixelFormatR32Uint
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


def test_reads_outside_give_zero_and_writes_outside_are_dropped(device: MTLDevice) -> None:
    code = """
    kernel void k(texture2d<float, access::read> from, texture2d<float, access::write> to,
                  device float4* out, uint2 at [[thread_position_in_grid]]) {
      out[at.y * 8 + at.x] = from.read(at + uint2(2, 1));
      to.write(float4(at.x, at.y, 7, 8), at + uint2(1, 2));
      to.write(float4(-1), uint2(0, 0), 3);
    }
    """
    data = RNG.random((4, 4, 4)).astype(np.float32)
    source, target = (
        device.newTextureWithDescriptor_(descriptor(RGBA32, (4, 4))) for _ in range(2)
    )
    put(source, data)
    out = buffer_of(device, np.full((8, 8, 4), 9, np.float32))
    run(device, pipeline(device, code, "k"), (8, 8), textures=[source, target], buffers={0: out})
    expected = np.zeros((8, 8, 4), np.float32)
    expected[:3, :2] = data[1:, 2:]
    np.testing.assert_array_equal(contents(out, np.float32).reshape(8, 8, 4), expected)
    written = np.zeros((4, 4, 4), np.float32)
    for y in range(2, 4):
        for x in range(1, 4):
            written[y, x] = (x - 1, y - 2, 7, 8)
    np.testing.assert_array_equal(get(target, np.float32)[0], written)


def test_queries_tell_the_extents_of_each_level(device: MTLDevice) -> None:
    code = """
    kernel void k(texture2d_array<half> stack, texture3d<float> volume,
                  texturecube_array<float> cube, texture1d<uint, access::read> line,
                  texture_buffer<uint, access::read> words,
                  texture2d_ms<float, access::read> samples, device uint* out [[buffer(0)]]) {
      uint found[] = {stack.get_width(), stack.get_height(1), stack.get_array_size(),
        stack.get_num_mip_levels(), volume.get_width(2), volume.get_height(), volume.get_depth(1),
        cube.get_width(), cube.get_array_size(), line.get_width(), words.get_width(),
        samples.get_num_samples(), samples.get_height(),
        uint(samples.read(uint2(1, 1), 3).x), uint(is_null_texture(line))};
      for (uint i = 0; i < 15; ++i) out[i] = found[i];
    }
    """
    rgba = Metal.MTLPixelFormatRGBA8Unorm
    private = Metal.MTLStorageModePrivate
    made = [
        descriptor(rgba, (20, 10), Metal.MTLTextureType2DArray, arrayLength=3, mipmapLevelCount=2),
        descriptor(rgba, (9, 7, 5), Metal.MTLTextureType3D, mipmapLevelCount=3),
        descriptor(rgba, (4, 4), Metal.MTLTextureTypeCubeArray, arrayLength=2),
        descriptor(R32U, (33,), Metal.MTLTextureType1D),
        descriptor(R32U, (77,), Metal.MTLTextureTypeTextureBuffer),
        descriptor(
            rgba, (6, 5), Metal.MTLTextureType2DMultisample, sampleCount=4, storageMode=private
        ),
    ]
    textures = [device.newTextureWithDescriptor_(each) for each in made]
    out = buffer_of(device, np.full(15, 99, np.uint32))
    run(device, pipeline(device, code, "k"), (1,), textures=textures, buffers={0: out})
    expected = [20, 5, 3, 2, 2, 7, 2, 4, 2, 33, 77, 4, 5, 0, 0]
    assert contents(out, np.uint32).tolist() == expected


def test_arrays_of_textures_and_functions_that_take_them(device: MTLDevice) -> None:
    code = """
    static float total(array<texture2d<float, access::read>, 3> many, uint2 at) {
      float sum = 0;
      for (uint i = 0; i < many.size(); ++i)
        if (!is_null_texture(many[i])) sum += many[i].read(at).x;
      return sum;
    }
    static void put(texture2d<float, access::write> to, ushort2 at, float value) {
      to.write(float4(value, 0, 0, 0), at);
    }
    kernel void k(array<texture2d<float, access::read>, 3> many [[texture(0)]],
                  texture2d<float, access::write> to [[texture(3)]],
                  ushort2 at [[thread_position_in_grid]]) {
      put(to, at, total(many, uint2(at)));
    }
    """
    form = Metal.MTLPixelFormatR32Float
    data = RNG.random((3, 4, 4, 1)).astype(np.float32)
    textures = [device.newTextureWithDescriptor_(descriptor(form, (4, 4))) for _ in range(4)]
    for n in range(3):
        put(textures[n], data[n])
    state = pipeline(device, code, "k")
    run(device, state, (4, 4), textures=textures)
    np.testing.assert_allclose(get(textures[3], np.float32)[0], data.sum(axis=0), rtol=1e-6)
    run(device, state, (4, 4), textures=[textures[0], None, textures[2], textures[3]])
    np.testing.assert_allclose(get(textures[3], np.float32)[0], data[0] + data[2], rtol=1e-6)


def test_read_write_textures_and_their_atomics(device: MTLDevice) -> None:
    code = """
    kernel void k(texture2d<uint, access::read_write> image, uint2 at [[thread_position_in_grid]]) {
      uint before = image.read(at).x;
      image.write(before * 2, at);
      image.fence();
      image.atomic_fetch_add(uint2(0, 0), uint4(image.read(at).x));
      image.atomic_fetch_max(uint2(1, 0), uint4(1000 + at.x));
      image.atomic_fetch_add(uint2(50, 0), uint4(1));
    }
    """
    image = device.newTextureWithDescriptor_(descriptor(R32U, (8, 8)))
    data = np.arange(64, dtype=np.uint32).reshape(8, 8, 1)
    data[0, 1] = 0
    put(image, data)
    run(device, pipeline(device, code, "k"), (8, 8), textures=[image])
    got = get(image, np.uint32)[0, :, :, 0]
    assert got[0, 0] == 2 * data.sum() and got[0, 1] == 1007
    assert (got[1:] == 2 * data[1:, :, 0]).all()


ARGUMENTS = """
struct Arguments {
  texture2d<float> image [[id(0)]];
  array<texture2d<float, access::read>, 2> pair [[id(1)]];
  sampler between [[id(3)]];
  device float4* out [[id(4)]];
  float scale [[id(5)]];
};
kernel void k(constant Arguments& a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  a.out[i] = a.scale * (a.image.sample(a.between, float2(0.5f)) + a.pair[1].read(uint2(i, 0)));
}
"""


def test_argument_buffers_hold_textures_and_samplers(device: MTLDevice) -> None:
    library, error = device.newLibraryWithSource_options_error_(HEAD + ARGUMENTS, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_("k")
    assert function is not None
    encoder = function.newArgumentEncoderWithBufferIndex_(0)
    table = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
    image, other = (device.newTextureWithDescriptor_(descriptor(RGBA32, (2, 2))) for _ in range(2))
    data = RNG.random((2, 2, 2, 4)).astype(np.float32)
    put(image, data[0])
    put(other, data[1])
    made = MTLSamplerDescriptor.new()
    made.setMagFilter_(Metal.MTLSamplerMinMagFilterLinear)
    encoder.setArgumentBuffer_offset_(table, 0)
    encoder.setTexture_atIndex_(image, 0)
    encoder.setTextures_withRange_([None, other], (1, 2))
    refused = device.newSamplerStateWithDescriptor_(made)
    with pytest.raises(MetalValidationError, match="made without supportArgumentBuffers"):
        encoder.setSamplerState_atIndex_(refused, 3)
    with pytest.raises(MetalValidationError, match=r"\[\[id\(3\)\]\] is not a texture"):
        encoder.setTexture_atIndex_(image, 3)
    made.setSupportArgumentBuffers_(True)
    encoder.setSamplerState_atIndex_(device.newSamplerStateWithDescriptor_(made), 3)
    out = buffer_of(device, np.zeros((2, 4), np.float32))
    encoder.setBuffer_offset_atIndex_(out, 0, 4)
    encoder.constantDataAtIndex_(5)[0:4] = np.float32(2).tobytes()
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    run(device, state, (2,), buffers={0: table}, uses=[image, other, out])
    expected = 2 * (data[0].mean(axis=(0, 1)) + data[1, 0])
    np.testing.assert_allclose(contents(out, np.float32).reshape(2, 4), expected, rtol=1e-6)


def test_resource_ids_go_into_plain_structs(device: MTLDevice) -> None:
    code = """
    struct Bindless { texture2d<float, access::read> image; };
    kernel void k(device const Bindless* all [[buffer(0)]], device float4* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      out[i] = all[i].image.read(uint2(0));
    }
    """
    textures = [device.newTextureWithDescriptor_(descriptor(RGBA32, (1, 1))) for _ in range(3)]
    for n, texture in enumerate(textures):
        put(texture, np.full((1, 1, 4), n + 1, np.float32))
    ids = np.array([int(each.gpuResourceID()._impl) for each in textures], np.uint64)
    out = buffer_of(device, np.zeros((3, 4), np.float32))
    table = buffer_of(device, ids)
    state = pipeline(device, code, "k")
    run(device, state, (3,), buffers={0: table, 1: out}, uses=textures)
    assert contents(out, np.float32).reshape(3, 4)[:, 0].tolist() == [1, 2, 3]


def test_views_exchange_channels_and_reinterpret_bits(device: MTLDevice) -> None:
    code = """
    kernel void k(texture2d<float> swapped, texture2d<uint, access::read> words,
                  device float4* out) {
      out[0] = swapped.read(uint2(1, 0));
      out[1] = swapped.sample(sampler(coord::pixel), float2(1.5, 0.5));
      out[2].x = as_type<float>(words.read(uint2(1, 0)).x);
    }
    """
    parent = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGBA8Unorm, (2, 1)))
    put(parent, np.array([[0, 0, 0, 0], [255, 51, 102, 153]], np.uint8))
    make = parent.newTextureViewWithPixelFormat_textureType_levels_slices_swizzle_
    channels = Metal.MTLTextureSwizzleChannelsMake(
        Metal.MTLTextureSwizzleBlue,
        Metal.MTLTextureSwizzleOne,
        Metal.MTLTextureSwizzleZero,
        Metal.MTLTextureSwizzleRed,
    )
    flat = (Metal.MTLTextureType2D, (0, 1), (0, 1))
    swapped = make(Metal.MTLPixelFormatRGBA8Unorm, *flat, channels)
    words = parent.newTextureViewWithPixelFormat_(R32U)
    out = buffer_of(device, np.zeros((3, 4), np.float32))
    run(device, pipeline(device, code, "k"), (1,), textures=[swapped, words], buffers={0: out})
    got = contents(out, np.float32).reshape(3, 4)
    np.testing.assert_allclose(got[:2], [[0.4, 1, 0, 1]] * 2, rtol=1e-6)
    assert got[2, 0].tobytes() == bytes([255, 51, 102, 153])
    again = swapped.newTextureViewWithPixelFormat_textureType_levels_slices_swizzle_(
        Metal.MTLPixelFormatRGBA8Unorm, *flat, (5, 2, 1, 3)
    )
    assert again.swizzle() == (2, 4, 1, 1)


SAMPLE = """
kernel void k(texture2d<float> image [[texture(2)]], sampler s [[sampler(1)]],
              texture2d<uint, access::write> to [[texture(5)]]) {
  to.write(uint4(image.sample(s, float2(0)).x), uint2(0));
}
"""


def test_what_does_not_fit_the_kernel_is_said_at_the_dispatch(device: MTLDevice) -> None:
    encoder = device.newCommandQueue().commandBuffer().computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(device, SAMPLE, "k"))

    def refused(match: str) -> None:
        with pytest.raises(MetalValidationError, match=match):
            encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    refused(r"argument 'image' \[\[texture\(2\)\]\]: no texture is set; call setTexture_atIndex_")
    volume = descriptor(RGBA32, (2, 2, 2), Metal.MTLTextureType3D)
    encoder.setTexture_atIndex_(device.newTextureWithDescriptor_(volume), 2)
    refused("is of MTLTextureType2D, but <MTLTexture of 2x2x2 RGBA32Float> is of MTLTextureType3D")
    encoder.setTexture_atIndex_(device.newTextureWithDescriptor_(descriptor(R32U, (2, 2))), 2)
    refused(r"is texture2d<float>, but texels of .* are integers")
    encoder.setTexture_atIndex_(device.newTextureWithDescriptor_(descriptor(RGBA32, (2, 2))), 2)
    refused(r"argument 's' \[\[sampler\(1\)\]\]: no sampler is set")
    plain = device.newSamplerStateWithDescriptor_(MTLSamplerDescriptor.new())
    encoder.setSamplerState_atIndex_(plain, 1)
    readable = descriptor(R32U, (2, 2), usage=Metal.MTLTextureUsageShaderRead)
    encoder.setTexture_atIndex_(device.newTextureWithDescriptor_(readable), 5)
    refused("was made without MTLTextureUsageShaderWrite; give it to MTLTextureDescriptor.setUsage")
    with pytest.raises(MetalValidationError, match=r"index is 128; it must lie in 0\.\.127"):
        encoder.setTexture_atIndex_(None, 128)
    with pytest.raises(MetalValidationError, match=r"index is 16; it must lie in 0\.\.15"):
        encoder.setSamplerState_atIndex_(plain, 16)
    encoder.endEncoding()


def test_reflection_tells_of_textures_and_samplers(device: MTLDevice) -> None:
    code = SAMPLE + "kernel void d(depth2d<float> t, array<texture1d<short>, 4> u) {}"
    library, error = device.newLibraryWithSource_options_error_(HEAD + code, None, None)
    assert library is not None, error
    found: dict[str, Metal.MTLBinding] = {}
    for name in ("k", "d"):
        function = library.newFunctionWithName_(name)
        assert function is not None
        make = device.newComputePipelineStateWithFunction_options_reflection_error_
        _, reflection, _ = make(function, Metal.MTLPipelineOptionBindingInfo, None, None)
        assert reflection is not None
        found |= {binding.name(): binding for binding in reflection.bindings()}
    image, s, to, t, u = (found[name] for name in ("image", "s", "to", "t", "u"))
    assert (image.type(), image.index()) == (Metal.MTLBindingTypeTexture, 2)
    assert (image.textureType(), image.textureDataType()) == (
        Metal.MTLTextureType2D,
        Metal.MTLDataTypeFloat,
    )
    assert to.access() == Metal.MTLBindingAccessWriteOnly
    assert s.type() == Metal.MTLBindingTypeSampler and s.index() == 1
    assert t.isDepthTexture() and not image.isDepthTexture()
    assert (u.arrayLength(), u.textureDataType(), u.index()) == (4, Metal.MTLDataTypeShort, 1)
