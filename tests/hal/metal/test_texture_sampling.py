"""Sampling: addressing, filters, levels, offsets, gathers and comparisons, against NumPy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLDevice, MTLSamplerDescriptor, MTLSamplerState
from tests.support import texture_model as model
from tests.support.textures import buffer_of, contents, descriptor, get, pipeline, put, run

MODES = {
    "clamp_to_edge": Metal.MTLSamplerAddressModeClampToEdge,
    "repeat": Metal.MTLSamplerAddressModeRepeat,
    "mirrored_repeat": Metal.MTLSamplerAddressModeMirrorRepeat,
    "clamp_to_zero": Metal.MTLSamplerAddressModeClampToZero,
    "clamp_to_border": Metal.MTLSamplerAddressModeClampToBorderColor,
}
AT = """
kernel void at(texture2d<float> image, sampler s, device const float2* places [[buffer(0)]],
               device float4* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = image.sample(s, places[i]);
}
"""
RNG = np.random.default_rng(11)
IMAGE = RNG.random((6, 5, 4)).astype(np.float32)
PLACES = np.concatenate(
    [RNG.uniform(-2.5, 3.5, (59, 2)), [[0, 0], [1, 1], [0.5, 0.5], [-1e9, 1e9], [0.999, 0.001]]]
).astype(np.float32)


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


def sampler(device: MTLDevice, **facts: object) -> MTLSamplerState:
    made = MTLSamplerDescriptor.new()
    for name, value in facts.items():
        getattr(made, f"set{name[0].upper()}{name[1:]}_")(value)
    return device.newSamplerStateWithDescriptor_(made)


def texture_of(device: MTLDevice, data: NDArray[np.float32], **facts: int) -> Metal.MTLTexture:
    height, width = data.shape[:2]
    made = device.newTextureWithDescriptor_(
        descriptor(Metal.MTLPixelFormatRGBA32Float, (width, height), **facts)
    )
    put(made, data)
    return made


def values_at(
    device: MTLDevice,
    code: str,
    places: NDArray[np.float32],
    textures: list[Metal.MTLTexture],
    samplers: list[MTLSamplerState] = [],  # noqa: B006
    name: str = "at",
    width: int = 4,
) -> NDArray[np.float32]:
    out = buffer_of(device, np.zeros((len(places), width), np.float32))
    given = buffer_of(device, places)
    run(
        device,
        pipeline(device, code, name),
        (len(places),),
        textures=textures,
        samplers=samplers,
        buffers={0: given, 1: out},
    )
    return contents(out, np.float32).reshape(-1, width)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_sampler_state_addresses_and_filters_as_specified(
    device: MTLDevice, mode: str, linear: bool
) -> None:
    s = sampler(
        device,
        minFilter=int(linear),
        magFilter=int(linear),
        sAddressMode=MODES[mode],
        tAddressMode=MODES[mode],
        borderColor=Metal.MTLSamplerBorderColorOpaqueWhite,
    )
    got = values_at(device, AT, PLACES, [texture_of(device, IMAGE)], [s])
    border = (1, 1, 1, 1) if mode == "clamp_to_border" else (0, 0, 0, 0)
    expected = model.sampled(
        IMAGE.astype(np.float64), PLACES, True, modes=(mode, mode), linear=linear, border=border
    )
    usual = np.abs(PLACES).max(axis=1) < 1e6  # so far out a float has no fraction left
    np.testing.assert_allclose(got[usual], expected[usual], atol=3e-6)
    assert np.isfinite(got).all()


def test_a_constexpr_sampler_equals_the_same_state(device: MTLDevice) -> None:
    code = """
    kernel void at(texture2d<float> image, device const float2* places, device float4* out,
                   uint i [[thread_position_in_grid]]) {
      constexpr sampler s(coord::pixel, address::clamp_to_zero, t_address::clamp_to_edge,
                          filter::linear);
      out[i] = image.sample(s, places[i], int2(1, -1));
    }
    """
    places = (PLACES[:59] * 3).astype(np.float32)
    got = values_at(device, code, places, [texture_of(device, IMAGE)])
    expected = model.sampled(
        IMAGE.astype(np.float64),
        places,
        False,
        modes=("clamp_to_zero", "clamp_to_edge"),
        linear=True,
        offset=(1, -1),
    )
    np.testing.assert_allclose(got, expected, atol=3e-6)


def test_zero_outside_is_opaque_for_formats_without_alpha(device: MTLDevice) -> None:
    s = sampler(device, sAddressMode=MODES["clamp_to_zero"], tAddressMode=MODES["clamp_to_zero"])
    image = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRG32Float, (2, 2)))
    put(image, np.ones((2, 2, 2), np.float32))
    places = np.array([[-1, 0.5], [0.5, 0.5]], np.float32)
    assert values_at(device, AT, places, [image], [s]).tolist() == [[0, 0, 0, 1], [1, 1, 0, 1]]


def mipmapped(device: MTLDevice) -> tuple[Metal.MTLTexture, list[NDArray[np.float64]]]:
    levels = [RNG.random((8, 8, 4))]
    while levels[-1].shape[0] > 1:
        levels.append(model.box_halved(levels[-1]) + 0.25)
    texture = texture_of(device, levels[0].astype(np.float32), mipmapLevelCount=4)
    for number, level in enumerate(levels):
        put(texture, level.astype(np.float32), level=number)
    return texture, levels


@pytest.mark.parametrize(
    "mip",
    [
        pytest.param("nearest", marks=pytest.mark.slow),
        "linear",
        pytest.param("none", marks=pytest.mark.slow),
    ],
)
def test_levels_biases_and_gradients_choose_mipmaps(device: MTLDevice, mip: str) -> None:
    code = f"""
    constexpr sampler s(filter::linear, mip_filter::{mip}, lod_clamp(0.25f, 2.75f));
    kernel void at(texture2d<float> image, device const float4* in, device float4* out,
                   uint i [[thread_position_in_grid]]) {{
      float2 p = in[i].xy; float lod = in[i].z, d = exp2(lod) / 8.0f;
      out[4 * i] = image.sample(s, p, level(lod));
      out[4 * i + 1] = image.sample(s, p, bias(lod));
      out[4 * i + 2] = image.sample(s, p, gradient2d(float2(d, 0), float2(0, d / 2)));
      out[4 * i + 3] = image.sample(s, p, min_lod_clamp(lod));
    }}
    """
    texture, levels = mipmapped(device)
    given = np.zeros((16, 4), np.float32)
    given[:, :2] = RNG.uniform(0, 1, (16, 2))
    given[:, 2] = np.linspace(-1, 4, 16) + 0.03
    got = values_at(device, code, given, [texture], width=16).reshape(16, 4, 4)
    for row, (x, y, lod, _) in enumerate(given.astype(np.float64)):
        for column in range(4):
            wanted = np.clip(max(lod, 0) if column == 3 else lod, 0.25, 2.75)
            if mip == "none":
                parts = [(0, 1.0)]
            elif mip == "nearest":
                parts = [(int(np.floor(wanted + 0.5)), 1.0)]
            else:
                low = int(np.floor(wanted))
                parts = [(low, 1 - (wanted - low)), (min(low + 1, 3), wanted - low)]
            expected = sum(
                share
                * model.sampled(
                    levels[n],
                    np.array([[x, y]], np.float32),
                    True,
                    modes=("clamp_to_edge",) * 2,
                    linear=True,
                )[0]
                for n, share in parts
            )
            np.testing.assert_allclose(got[row, column], expected, atol=2e-5)


def test_generated_mipmaps_are_means_of_four(device: MTLDevice) -> None:
    data = RNG.integers(0, 256, (2, 8, 8, 4), dtype=np.uint8)
    texture = device.newTextureWithDescriptor_(
        descriptor(
            Metal.MTLPixelFormatRGBA8Unorm,
            (8, 8),
            Metal.MTLTextureType2DArray,
            arrayLength=2,
            mipmapLevelCount=4,
        )
    )
    for number in range(2):
        put(texture, data[number], slice=number)
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.blitCommandEncoder()
    encoder.generateMipmapsForTexture_(texture)
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.error() is None
    for number in range(2):
        above = data[number].astype(np.float64)
        for level in range(1, 4):
            made = get(texture, np.uint8, level=level, slice=number)[0]
            assert np.abs(made - model.box_halved(above)).max() <= 0.5 + 1e-3
            above = made.astype(np.float64)


def test_arrays_volumes_and_lines_sample_their_own_dimensions(device: MTLDevice) -> None:
    code = """
    constexpr sampler s(filter::linear, address::repeat);
    kernel void at(texture2d_array<float> stack, texture3d<float> volume, texture1d<float> line,
                   device const float4* in, device float4* out,
                   uint i [[thread_position_in_grid]]) {
      out[3 * i] = stack.sample(s, in[i].xy, uint(in[i].w));
      out[3 * i + 1] = volume.sample(s, in[i].xyz);
      out[3 * i + 2] = line.sample(s, in[i].x);
    }
    """
    data = RNG.random((3, 4, 5, 4)).astype(np.float32)
    stack = device.newTextureWithDescriptor_(
        descriptor(
            Metal.MTLPixelFormatRGBA32Float, (5, 4), Metal.MTLTextureType2DArray, arrayLength=3
        )
    )
    for number in range(3):
        put(stack, data[number], slice=number)
    volume = device.newTextureWithDescriptor_(
        descriptor(Metal.MTLPixelFormatRGBA32Float, (5, 4, 3), Metal.MTLTextureType3D)
    )
    put(volume, data)
    line = device.newTextureWithDescriptor_(
        descriptor(Metal.MTLPixelFormatRGBA32Float, (5,), Metal.MTLTextureType1D)
    )
    put(line, data[0, 0])
    given = RNG.uniform(-1, 2, (20, 4)).astype(np.float32)
    given[:, 3] = np.arange(20) % 5  # a slice too large is the last one
    got = values_at(device, code, given, [stack, volume, line], width=12).reshape(20, 3, 4)
    wide = data.astype(np.float64)
    modes = ("repeat",) * 3
    for row, place in enumerate(given):
        slice = min(int(place[3]), 2)
        cases = ((wide[slice], place[:2]), (wide, place[:3]), (wide[0, 0], place[:1]))
        for column, (image, at) in enumerate(cases):
            expected = model.sampled(image, at[None], True, modes=modes, linear=True)[0]
            np.testing.assert_allclose(got[row, column], expected, atol=5e-6)


def test_a_cube_is_sampled_by_direction_and_across_its_edges(device: MTLDevice) -> None:
    code = """
    constexpr sampler near(filter::nearest);
    constexpr sampler between(filter::linear);
    kernel void at(texturecube<float> cube, device const float4* in, device float4* out,
                   uint i [[thread_position_in_grid]]) {
      out[2 * i] = cube.sample(near, in[i].xyz);
      out[2 * i + 1] = cube.sample(between, in[i].xyz);
    }
    """
    data = RNG.random((6, 4, 4, 4)).astype(np.float32)
    cube = device.newTextureWithDescriptor_(
        descriptor(Metal.MTLPixelFormatRGBA32Float, (4, 4), Metal.MTLTextureTypeCube)
    )
    for face in range(6):
        put(cube, data[face], slice=face)
    given, expected = [], []
    for face in range(6):
        for y in range(4):
            for x in range(4):
                given.append((*model.cube_direction(face, x / 2 - 0.75, y / 2 - 0.75), 0))
                expected.append(data[face, y, x])
    got = values_at(device, code, np.array(given, np.float32) * 3, [cube], width=8)
    np.testing.assert_allclose(got[:, :4], expected, atol=1e-6)
    np.testing.assert_allclose(got[:, 4:], expected, atol=1e-5)
    # On the edge between +x and +z both faces count by half.
    edge = np.array([[1, 0.25, 1, 0], [1, -0.25, 1, 0]], np.float32)
    got = values_at(device, code, edge, [cube], width=8)
    means = [(data[0, y, 0] + data[4, y, 3]) / 2 for y in (1, 2)]
    np.testing.assert_allclose(got[:, 4:], means, atol=1e-5)


def test_gather_gives_the_four_texels_of_linear_filtering(device: MTLDevice) -> None:
    code = """
    constexpr sampler s(filter::linear, address::clamp_to_edge);
    kernel void at(texture2d<float> image, device const float2* in, device float4* out,
                   uint i [[thread_position_in_grid]]) {
      out[2 * i] = image.gather(s, in[i]);
      out[2 * i + 1] = image.gather(s, in[i], int2(1, 0), component::w);
    }
    """
    # The middle of a texel's lower right corner, and the upper left corner of the image.
    places = np.array([[0.41, 0.51], [0.0, 0.0]], np.float32)
    got = values_at(device, code, places, [texture_of(device, IMAGE)], width=8).reshape(2, 2, 4)
    # Lower left, lower right, upper right, upper left, as (row, column).
    corners = ([(3, 1), (3, 2), (2, 2), (2, 1)], [(0, 0)] * 4)
    moved = ([(3, 2), (3, 3), (2, 3), (2, 2)], [(0, 0), (0, 1), (0, 1), (0, 0)])
    for n in range(2):
        np.testing.assert_array_equal(got[n, 0], [IMAGE[y, x, 0] for y, x in corners[n]])
        np.testing.assert_array_equal(got[n, 1], [IMAGE[y, x, 3] for y, x in moved[n]])


COMPARISONS = {
    "never": lambda r, d: np.zeros_like(d),
    "less": lambda r, d: r < d,
    "less_equal": lambda r, d: r <= d,
    "greater": lambda r, d: r > d,
    "greater_equal": lambda r, d: r >= d,
    "equal": lambda r, d: r == d,
    "not_equal": lambda r, d: r != d,
    "always": lambda r, d: np.ones_like(d),
}


STATES = {
    name: getattr(Metal, f"MTLCompareFunction{name.title().replace('_', '')}")
    for name in COMPARISONS
}
DEPTHS = """
kernel void at(depth2d<float> image, SAMPLER, device const float2* in, device float4* out,
               uint i [[thread_position_in_grid]]) {
  out[2 * i] = float4(image.sample_compare(s, in[i], 0.5f), image.sample(s, in[i]),
                      image.read(uint2(i % 4, i / 4)), 0);
  out[2 * i + 1] = image.gather_compare(s, in[i], 0.5f);
}
"""


@pytest.mark.parametrize("function", COMPARISONS)
def test_depths_are_compared_before_they_are_filtered(device: MTLDevice, function: str) -> None:
    s = sampler(
        device,
        minFilter=Metal.MTLSamplerMinMagFilterLinear,
        magFilter=Metal.MTLSamplerMinMagFilterLinear,
        sAddressMode=MODES["repeat"],
        tAddressMode=MODES["repeat"],
        compareFunction=STATES[function],
    )
    check_depths(device, DEPTHS.replace("SAMPLER", "sampler s"), [s], function)


@pytest.mark.parametrize(
    "function", ["less", pytest.param("greater_equal", marks=pytest.mark.slow)]
)
def test_depths_are_compared_as_the_source_says(device: MTLDevice, function: str) -> None:
    declared = f"constexpr sampler s(filter::linear, address::repeat, compare_func::{function});\n"
    check_depths(device, declared + DEPTHS.replace("SAMPLER, ", ""), [], function)


def check_depths(
    device: MTLDevice, code: str, samplers: list[MTLSamplerState], function: str
) -> None:
    data = RNG.integers(0, 3, (4, 4, 1)).astype(np.float32) / 2
    image = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatDepth32Float, (4, 4)))
    put(image, data)
    places = RNG.uniform(0, 1, (16, 2)).astype(np.float32)
    got = values_at(device, code, places, [image], samplers, width=8)
    passed = COMPARISONS[function](0.5, data).astype(np.float64)
    how = {"modes": ("repeat", "repeat"), "linear": True}
    np.testing.assert_allclose(
        got[:, 0], model.sampled(passed, places, True, **how)[:, 0], atol=2e-6
    )
    np.testing.assert_allclose(
        got[:, 1], model.sampled(data.astype(np.float64), places, True, **how)[:, 0], atol=2e-6
    )
    np.testing.assert_array_equal(got[:, 2], data.reshape(-1))
    assert set(np.unique(got[:, 4:])) <= {0.0, 1.0}
