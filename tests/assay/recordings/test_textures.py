"""Textures and samplers are recorded and replayed, whatever their storage and kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.hal.metal import emulated
from assay.hal.recordings import Recording, RecordingError, TextureRecord
from assay.hal.recordings.texels import images, length_of, place_of
from assay.recordings import replay
from tests.assay.recordings.test_replay import flipped
from tests.support.recorded import as_floats, counted, record
from tests.support.recording_files import put_together, taken_apart, with_other_part
from tests.support.textured import SOURCE, Dispatch, sampler, texture

PRIVATE = emulated.MTLResourceStorageModePrivate
Given = tuple[Any, Any]
Bind = Callable[[Any, Any, Dispatch], None]


def program(kernel: str, bind: Bind, found: list[list[float]]) -> Callable[[Any], None]:
    """A program of one dispatch; `found` has what it computed."""

    def run(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        dispatch = Dispatch(metal, device, kernel)
        bind(metal, device, dispatch)
        dispatch.run()
        found.append(as_floats(dispatch.y))

    return run


def replays_equal(path: Path, kernel: str, bind: Bind) -> list[float]:
    """What the program computes: the same without and with being recorded, and replayed."""
    found: list[list[float]] = []
    program(kernel, bind, found)(emulated)
    (record_,) = record(path, program(kernel, bind, found))
    assert found[0] == found[1]
    assert record_.textures or record_.encoded
    result = replay(path)
    assert result.passed, str(result)
    return found[0]


def test_texels_and_samplers_are_those_of_the_program(tmp_path: Path) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch) -> None:
        dispatch.encoder.setTexture_atIndex_(texture(metal, device), 0)
        dispatch.encoder.setSamplerState_atIndex_(sampler(metal, device), 0)

    computed = replays_equal(tmp_path / "a", "sample", bind)
    assert len(set(computed)) > 3  # around and between texels of the second level


def test_bounds_of_the_level_are_those_that_the_encoder_was_given(tmp_path: Path) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch, most: float = 0.0) -> None:
        dispatch.encoder.setTextures_withRange_([texture(metal, device)], (0, 1))
        dispatch.encoder.setSamplerState_lodMinClamp_lodMaxClamp_atIndex_(
            sampler(metal, device), 0.0, most, 0
        )

    first = replays_equal(tmp_path / "a", "sample", bind)
    second = replays_equal(tmp_path / "b", "sample", lambda *given: bind(*given, most=1.0))
    assert first != second


@pytest.mark.parametrize("kind", ["format", "levels", "swizzle"])
def test_views_of_textures_are_textures_of_their_own(tmp_path: Path, kind: str) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch) -> None:
        whole = texture(metal, device)
        make = "newTextureViewWithPixelFormat_textureType_levels_slices_swizzle_"
        red, green = metal.MTLTextureSwizzleRed, metal.MTLTextureSwizzleGreen
        format = metal.MTLPixelFormatR32Uint if kind == "format" else metal.MTLPixelFormatR32Float
        view = getattr(whole, make)(
            metal.MTLPixelFormatRG16Float if kind == "format" else format,
            metal.MTLTextureType2D,
            (1, 1) if kind == "levels" else (0, 2),
            (0, 1),
            (green, red, red, red) if kind == "swizzle" else (red, green, 4, 5),
        )
        dispatch.encoder.setTexture_atIndex_(view, 0)

    replays_equal(tmp_path / "a", "read", bind)


def test_private_textures_are_read_by_copies(tmp_path: Path) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch) -> None:
        private = texture(metal, device, PRIVATE)
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.blitCommandEncoder()
        encoder.copyFromTexture_toTexture_(texture(metal, device), private)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        dispatch.encoder.setTexture_atIndex_(private, 0)

    computed = replays_equal(tmp_path / "a", "read", bind)
    assert computed[:4] == [1, 2, 3, 4]


def test_textures_and_samplers_of_argument_buffers_are_encoded_anew(tmp_path: Path) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch) -> None:
        encoder = dispatch.function.newArgumentEncoderWithBufferIndex_(0)
        both = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
        encoder.setArgumentBuffer_offset_(both, 0)
        made = texture(metal, device)
        encoder.setTexture_atIndex_(made, 0)
        encoder.setSamplerState_atIndex_(sampler(metal, device), 1)
        encoder.setBuffer_offset_atIndex_(dispatch.y, 0, 2)
        usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
        dispatch.encoder.useResource_usage_(made, metal.MTLResourceUsageRead)
        dispatch.encoder.useResource_usage_(dispatch.y, usage)
        dispatch.encoder.setBuffer_offset_atIndex_(both, 0, 0)

    assert len(set(replays_equal(tmp_path / "a", "encoded", bind))) > 3


def test_identifiers_that_programs_write_are_those_of_textures_here(tmp_path: Path) -> None:
    source = """
#include <metal_stdlib>
using namespace metal;
struct Both { texture2d<float> t; device float* y; };
kernel void follow(constant Both& both [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    both.y[i] = both.t.read(uint2(i % 4, i / 4)).x;
}
"""

    def follow(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        dispatch = Dispatch(metal, device, "read")
        library, error = device.newLibraryWithSource_options_error_(source, None, None)
        assert library is not None, error
        function = library.newFunctionWithName_("follow")
        state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
        made = texture(metal, device)
        words = np.array([made.gpuResourceID()._impl, dispatch.y.gpuAddress()], np.uint64)
        both = device.newBufferWithBytes_length_options_(words, 16, 0)
        dispatch.encoder.setComputePipelineState_(state)
        dispatch.encoder.setBuffer_offset_atIndex_(both, 0, 0)
        usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
        dispatch.encoder.useResources_count_usage_([made, dispatch.y], 2, usage)
        dispatch.run()
        assert as_floats(dispatch.y) == [1, 2, 3, 4, 5, 6, 7, 8]

    record(tmp_path / "a", follow)
    result = replay(tmp_path / "a")
    assert result.passed, str(result)


def written(metal: Any) -> None:
    """Writes the second slice of the second level of a texture of halves."""
    device = metal.MTLCreateSystemDefaultDevice()
    described = metal.MTLTextureDescriptor.new()
    described.setTextureType_(metal.MTLTextureType2DArray)
    described.setPixelFormat_(metal.MTLPixelFormatRGBA16Float)
    described.setWidth_(8)
    described.setHeight_(4)
    described.setArrayLength_(2)
    described.setMipmapLevelCount_(2)
    described.setUsage_(metal.MTLTextureUsageShaderWrite)
    dispatch = Dispatch(metal, device, "write")
    dispatch.encoder.setTexture_atIndex_(device.newTextureWithDescriptor_(described), 0)
    dispatch.run()


def test_a_flipped_bit_of_a_texture_is_named_by_texel_and_line(tmp_path: Path) -> None:
    (found,) = record(tmp_path / "a", written)
    memory = next(each for each in found.memories if each.texture is not None)
    assert memory.texture is not None
    assert memory.after is not None
    with Recording(tmp_path / "a") as recording:
        after = bytes(recording.contents(memory.after))
    last = list(images(memory.texture))[-1]
    assert (last.level, last.slice, last.size) == (1, 1, (4, 2, 1))
    texel = last.start + 5 * 8  # (1, 1)
    assert replay(tmp_path / "a").passed
    result = replay(with_other_part(tmp_path / "a", flipped(8 * texel + 10), after), checks=None)
    (difference,) = result.different[0].differences
    assert (difference.buffer, difference.type, difference.byte) == ("t", "f16", texel)
    assert difference.texel == "texel (1, 1), level 1, slice 1"
    line = 1 + SOURCE[: SOURCE.index("t.write(")].count("\n")
    assert difference.places == (f"program_source.metal:{line}",)
    assert "texel (1, 1), level 1, slice 1" in str(result)


def test_a_sampler_of_a_device_that_is_not_recorded_is_counted(tmp_path: Path) -> None:
    def beside(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        dispatch = Dispatch(metal, device, "sample")
        dispatch.encoder.setTexture_atIndex_(texture(metal, device), 0)
        dispatch.encoder.setSamplerState_atIndex_(sampler(metal, dispatch.y.device()), 0)
        dispatch.run()
        assert len(set(as_floats(dispatch.y))) > 3

    assert counted(tmp_path / "a", beside) == ([], {"samplerState": 1})


def test_a_texture_beside_its_buffer_is_counted_with_its_reason(tmp_path: Path) -> None:
    def beside(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        dispatch = Dispatch(metal, device, "read")
        make = "texture2DDescriptorWithPixelFormat_width_height_mipmapped_"
        described = getattr(metal.MTLTextureDescriptor, make)(
            metal.MTLPixelFormatR32Float, 8, 1, False
        )
        lying = dispatch.y.newTextureWithDescriptor_offset_bytesPerRow_(described, 0, 64)
        dispatch.encoder.setTexture_atIndex_(lying, 0)
        dispatch.run()

    found, others = counted(tmp_path / "a", beside)
    assert found == []
    (reason,) = others
    assert "the same memory" in reason


@pytest.mark.parametrize("size", [(5, 1, 1), (5, 3, 1), (4, 4, 3)])
def test_every_byte_of_a_texture_has_a_place(size: tuple[int, int, int]) -> None:
    kind = TextureRecord(
        type=0, format=0, texel=2, size=size, slices=2, levels=2, usage=0, swizzle=(2, 3, 4, 5)
    )
    places = [place_of(kind, byte) for byte in range(length_of(kind))]
    assert len(set(places)) == len(places) / 2
    assert sum(image.length for image in images(kind)) == len(places)


def test_damaged_textures_and_samplers_are_refused_or_not_replayed(tmp_path: Path) -> None:
    def bind(metal: Any, device: Any, dispatch: Dispatch) -> None:
        dispatch.encoder.setTexture_atIndex_(texture(metal, device), 0)
        dispatch.encoder.setSamplerState_atIndex_(sampler(metal, device), 0)

    record(tmp_path / "a", program("sample", bind, []))
    draw = random.Random(4)
    refused = []
    for _ in range(60):
        path = tmp_path / "b"
        plain = taken_apart(tmp_path / "a")
        damage(plain.dispatches[0], draw)
        put_together(plain, path)
        try:
            result = replay(path, checks=None, chip="")
        except RecordingError as error:
            refused.append(str(error))
        else:
            refused += [each.problem for each in result.not_replayed]
    assert len(set(refused)) > 10


def damage(line: dict[str, Any], draw: random.Random) -> None:
    """Give a dispatch another number in the place of one of a texture's or a sampler's."""
    made = draw.choice(
        [line["memories"][1]["texture"], line["samplers"][0]["settings"], line["textures"][0]]
    )
    name = draw.choice(list(made))
    made[name] = draw.choice([0, 1, 3, 77, 1 << 40, -1, 2.5, "x", [1, 2, 3], [7, 7, 7, 7]])
