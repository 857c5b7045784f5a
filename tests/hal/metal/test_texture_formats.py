"""Pixel formats: what kernels read and write, bit by bit, against a model of our own in NumPy."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLDevice
from assay.hal.metal.emulated.textures.formats import FORMATS
from tests.support.textures import buffer_of, contents, descriptor, get, pipeline, put, run

COPY = """
kernel void load(texture2d<T, access::read> from, device T4* to,
                 uint2 at [[thread_position_in_grid]]) {
  to[at.y * 16 + at.x] = from.read(at);
}
kernel void save(texture2d<T, access::write> to, device const T4* from,
                 uint2 at [[thread_position_in_grid]]) {
  to.write(from[at.y * 16 + at.x], at);
}
"""
# Channels from the least significant bit on, by the names of the formats.
PACKED = {
    "B5G6R5Unorm": "B5 G6 R5",
    "A1BGR5Unorm": "A1 B5 G5 R5",
    "ABGR4Unorm": "A4 B4 G4 R4",
    "BGR5A1Unorm": "B5 G5 R5 A1",
    "RGB10A2Unorm": "R10 G10 B10 A2",
    "RGB10A2Uint": "R10 G10 B10 A2",
    "BGR10A2Unorm": "B10 G10 R10 A2",
    "RG11B10Float": "R11 G11 B10",
    "Depth16Unorm": "R16",
    "Depth32Float": "R32",
    "Stencil8": "R8",
}


def source(kind: str) -> str:
    return f"typedef {kind} T; typedef {kind}4 T4;" + COPY


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


def fields(name: str) -> list[tuple[str, int]]:
    if name in PACKED:
        return [(field[0], int(field[1:])) for field in PACKED[name].split()]
    found = re.match(r"([RGBA]+)(\d+)", name)
    assert found is not None
    return [(channel, int(found[2])) for channel in found[1]]


def real_of(bits: NDArray[np.uint64], width: int) -> NDArray[np.float64]:
    if width == 32:
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    up = 0 if width == 16 else 15 - width
    return (bits << np.uint64(up)).astype(np.uint16).view(np.float16).astype(np.float64)


def decoded(name: str, words: NDArray[np.uint64], high: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Red to alpha of texels given as 64 low and 64 high bits."""
    found = np.zeros((4, words.size))
    found[3] = 1
    first = 0
    for channel, width in fields(name):
        source, shift = (words, first) if first < 64 else (high, first - 64)
        bits = source >> np.uint64(shift) & np.uint64((1 << width) - 1)
        signed = bits.astype(np.int64) - (bits >> np.uint64(width - 1)).astype(np.int64) * (
            1 << width
        )
        if "Float" in name:
            value = real_of(bits, width)
        elif "Snorm" in name:
            value = np.maximum(signed / ((1 << (width - 1)) - 1), -1)
        elif "Sint" in name:
            value = signed.astype(np.float64)
        elif "Uint" in name or name == "Stencil8":
            value = bits.astype(np.float64)
        else:
            value = bits / ((1 << width) - 1)
        if "sRGB" in name and channel != "A":
            value = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
        found["RGBA".index(channel)] = value
        first += width
    return found.T


def random_texels(
    size: int, name: str
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    raw = np.random.default_rng(len(name) * 31 + size).integers(0, 256, (64, 16), dtype=np.uint8)
    raw[:, size:] = 0
    both = raw.view("<u8")
    return raw[:, :size].copy(), both[:, 0].astype(np.uint64), both[:, 1].astype(np.uint64)


def kind_of(name: str) -> str:
    return "int" if "Sint" in name else "uint" if "Uint" in name or name == "Stencil8" else "float"


NAMES = sorted(f.name for f in FORMATS.values() if f.name != "RGB9E5Float")


@pytest.mark.parametrize("name", NAMES)
def test_every_format_reads_as_its_bits_say_and_writes_them_back(
    device: MTLDevice, name: str
) -> None:
    format = getattr(Metal, f"MTLPixelFormat{name}")
    size = sum(width for _, width in fields(name)) // 8
    raw, low, high = random_texels(size, name)
    texture = device.newTextureWithDescriptor_(descriptor(format, (16, 4)))
    put(texture, raw)
    kind = kind_of(name)
    dtype = {"float": np.float32, "uint": np.uint32, "int": np.int32}[kind]
    seen = buffer_of(device, np.zeros((64, 4), dtype))
    code = source(kind)
    run(device, pipeline(device, code, "load"), (16, 4), textures=[texture], buffers={0: seen})
    values = contents(seen, dtype).reshape(64, 4)
    expected = decoded(name, low, high)
    np.testing.assert_allclose(values, expected, rtol=2e-6, atol=1e-7)

    again = device.newTextureWithDescriptor_(descriptor(format, (16, 4)))
    run(device, pipeline(device, code, "save"), (16, 4), textures=[again], buffers={0: seen})
    written = get(again, np.uint8).reshape(64, size)
    with np.errstate(invalid="ignore"):
        same = np.isnan(expected).any(axis=1) | (written == raw).all(axis=1)
    if "Snorm" in name:  # the least number has two spellings
        same |= (values == -1).any(axis=1)
    assert same.all()


def test_shared_exponents_decode_and_round_as_the_extension_defines(device: MTLDevice) -> None:
    rng = np.random.default_rng(5)
    wanted = (2.0 ** rng.uniform(-20, 17, (64, 4))).astype(np.float32)
    wanted[0] = 0
    wanted[1] = (-1, np.nan, 1e9, 0)
    texture = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGB9E5Float, (16, 4)))
    given = buffer_of(device, wanted)
    run(
        device,
        pipeline(device, source("float"), "save"),
        (16, 4),
        textures=[texture],
        buffers={0: given},
    )
    seen = buffer_of(device, np.zeros((64, 4), np.float32))
    run(
        device,
        pipeline(device, source("float"), "load"),
        (16, 4),
        textures=[texture],
        buffers={0: seen},
    )
    got = contents(seen, np.float32).reshape(64, 4)
    bounded = np.clip(np.nan_to_num(wanted[:, :3], nan=0), 0, 65408)
    quantum = bounded.max(axis=1, keepdims=True) / 256
    assert (got[:, 3] == 1).all()
    assert (np.abs(got[:, :3] - bounded) <= np.maximum(quantum / 2, 2.0**-25) * 1.001).all()


def test_out_of_range_numbers_are_clamped_when_written(device: MTLDevice) -> None:
    numbers = np.zeros((64, 4), np.float32)
    numbers[0] = (-1, 2, np.nan, 0.5)
    texture = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGBA8Unorm, (16, 4)))
    state = pipeline(device, source("float"), "save")
    run(device, state, (16, 4), textures=[texture], buffers={0: buffer_of(device, numbers)})
    assert get(texture, np.uint8)[0, 0, 0].tolist() == [0, 255, 0, 128]
    whole = np.zeros((64, 4), np.int32)
    whole[0] = (-1000, 1000, 127, -128)
    texture = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGBA8Sint, (16, 4)))
    state = pipeline(device, source("int"), "save")
    run(device, state, (16, 4), textures=[texture], buffers={0: buffer_of(device, whole)})
    assert get(texture, np.int8)[0, 0, 0].tolist() == [-128, 127, 127, -128]


@pytest.mark.parametrize(("bits", "mantissa"), [(11, 6), (10, 5)])
def test_small_floats_are_rounded_to_the_nearest(
    device: MTLDevice, bits: int, mantissa: int
) -> None:
    rng = np.random.default_rng(bits)
    wanted = np.zeros((64, 4), np.float32)
    wanted[:, 0] = wanted[:, 2] = 2.0 ** rng.uniform(-21, 17, 64)
    texture = device.newTextureWithDescriptor_(
        descriptor(Metal.MTLPixelFormatRG11B10Float, (16, 4))
    )
    state = pipeline(device, source("float"), "save")
    run(device, state, (16, 4), textures=[texture], buffers={0: buffer_of(device, wanted)})
    words = get(texture, np.uint32).reshape(64)
    got = (words & 0x7FF) if bits == 11 else words >> 22
    every = real_of(np.arange(31 << mantissa, dtype=np.uint64), bits)
    nearest = np.abs(every[None, :] - wanted[:, :1].astype(np.float64)).argmin(axis=1)
    largest = every[-1] + (every[-1] - every[-2]) / 2
    nearest = np.where(wanted[:, 0] >= largest, 31 << mantissa, nearest)
    assert got.tolist() == nearest.tolist()


def test_half_and_short_textures_convert_on_the_way(device: MTLDevice) -> None:
    raw = np.arange(64 * 4, dtype=np.uint8).reshape(64, 4)
    texture = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGBA8Unorm, (16, 4)))
    put(texture, raw)
    seen = buffer_of(device, np.zeros((64, 4), np.float16))
    run(
        device,
        pipeline(device, source("half"), "load"),
        (16, 4),
        textures=[texture],
        buffers={0: seen},
    )
    expected = (raw.astype(np.float32) / np.float32(255)).astype(np.float16)
    assert (contents(seen, np.float16).reshape(64, 4) == expected).all()
    texture = device.newTextureWithDescriptor_(descriptor(Metal.MTLPixelFormatRGBA8Uint, (16, 4)))
    put(texture, raw)
    seen = buffer_of(device, np.zeros((64, 4), np.uint16))
    run(
        device,
        pipeline(device, source("ushort"), "load"),
        (16, 4),
        textures=[texture],
        buffers={0: seen},
    )
    assert (contents(seen, np.uint16).reshape(64, 4) == raw).all()
