"""A kernel of each public library, run on the emulated device, with what NumPy says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from assay.hal.metal import api

Metal = api.load("emulated")
Array = np.ndarray
_RGBA32 = 125  # MTLPixelFormatRGBA32Float
_READ_AND_WRITE = 3
_D2, _D3 = 2, 7  # MTLTextureType
_FORMATS = {"float32": 3, "uint16": 41, "uint32": 33, "bool": 53}  # MTLDataType of constants


@dataclass(slots=True, kw_only=True)
class Launch:
    """A dispatch: buffers and textures by index, constants by index, threads or threadgroups.

    A texture is an array of [height, width, 4] or [depth, height, width, 4] floats.
    """

    buffers: Mapping[int, Array] = field(default_factory=dict)
    textures: Mapping[int, Array] = field(default_factory=dict)
    constants: Mapping[int, Array] = field(default_factory=dict)
    threads: tuple[int, int, int] = (1, 1, 1)
    threadgroups: tuple[int, int, int] | None = None
    group: tuple[int, int, int] = (32, 1, 1)
    threadgroup_memory: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a launch left in buffers and textures."""

    buffers: Mapping[int, Array]
    textures: Mapping[int, Array]


Run = Callable[[Callable[[Launch], Outcome]], tuple[Array, Array]]


def launched(data: bytes, kernel: str, given: Launch) -> Outcome:
    """Run a kernel of a library. Raises RuntimeError with what Metal says against it."""
    device = Metal.MTLCreateSystemDefaultDevice()
    library = _made(device.newLibraryWithData_error_(data, None))
    values = Metal.MTLFunctionConstantValues.new()
    for index, value in given.constants.items():
        values.setConstantValue_type_atIndex_(value.tobytes(), _FORMATS[value.dtype.name], index)
    function = _made(library.newFunctionWithName_constantValues_error_(kernel, values, None))
    state = _made(device.newComputePipelineStateWithFunction_error_(function, None))
    buffers = {
        index: device.newBufferWithBytes_length_options_(each.tobytes(), each.nbytes, 0)
        for index, each in given.buffers.items()
    }
    textures = {index: _texture(device, each) for index, each in given.textures.items()}
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    for index, buffer in buffers.items():
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)
    for index, texture in textures.items():
        encoder.setTexture_atIndex_(texture, index)
    if given.threadgroup_memory:
        encoder.setThreadgroupMemoryLength_atIndex_(given.threadgroup_memory, 0)
    if given.threadgroups:
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(given.threadgroups, given.group)
    else:
        encoder.dispatchThreads_threadsPerThreadgroup_(given.threads, given.group)
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    if commands.error() is not None:
        raise RuntimeError(commands.error().localizedDescription())
    return Outcome(
        buffers={
            index: np.frombuffer(
                buffer.contents().as_buffer(given.buffers[index].nbytes),
                given.buffers[index].dtype,
            ).reshape(given.buffers[index].shape)
            for index, buffer in buffers.items()
        },
        textures={index: _texels(textures[index], each) for index, each in given.textures.items()},
    )


def _made(answer: tuple[object, object]) -> object:
    """What a call made. Raises RuntimeError."""
    made, error = answer
    if made is None:
        raise RuntimeError(error.localizedDescription())  # type: ignore[attr-defined]
    return made


def _region(texels: Array) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    depth, height, width = texels.shape[:3] if texels.ndim == 4 else (1, *texels.shape[:2])
    return (0, 0, 0), (width, height, depth)


def _texture(device: object, texels: Array) -> object:
    (_, (width, height, depth)) = _region(texels)
    described = Metal.MTLTextureDescriptor.new()
    described.setTextureType_(_D3 if texels.ndim == 4 else _D2)
    described.setPixelFormat_(_RGBA32)
    described.setWidth_(width)
    described.setHeight_(height)
    described.setDepth_(depth)
    described.setUsage_(_READ_AND_WRITE)
    made = device.newTextureWithDescriptor_(described)  # type: ignore[attr-defined]
    made.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
        _region(texels), 0, 0, texels.tobytes(), 16 * width, 16 * width * height
    )
    return made


def _texels(texture: object, like: Array) -> Array:
    (_, (width, height, _)) = _region(like)
    raw = bytearray(like.nbytes)
    texture.getBytes_bytesPerRow_bytesPerImage_fromRegion_mipmapLevel_slice_(  # type: ignore[attr-defined]
        raw, 16 * width, 16 * width * height, _region(like), 0, 0
    )
    return np.frombuffer(raw, like.dtype).reshape(like.shape)


def _floats(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def blit(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """Bytes to a part of a texture, as numbers from 0 to 1."""
    given = np.arange(24, dtype=np.uint8).reshape(3, 8)
    parameters = np.uint32([1, 2, 0, 0, 4, 3, 1, 0, 8, 24, 0, 0])  # where, how many, bytes of rows
    start = np.zeros((6, 8, 4), np.float32)
    found = run(
        Launch(buffers={0: parameters, 1: given}, textures={0: start}, threads=(8, 6, 1))
    ).textures[0]
    expected = start.copy()
    expected[2:5, 1:5] = given[:, :4, None].astype(np.float32) * np.float32(1 / 255)
    return found, expected


def elu(
    run: Callable[[Launch], Outcome], kind: type[np.floating] = np.float16
) -> tuple[Array, Array]:
    """Exponential linear units."""
    x = _floats(2, 3, 5, 4).astype(kind)
    sizes = np.uint32([0, 0, 5, 3, 0, 0, 5, 3, np.float32(1.5).view(np.uint32), 2])
    found = run(
        Launch(buffers={0: x, 1: np.zeros_like(x), 2: sizes}, threads=(5, 3, 2), group=(5, 3, 1))
    ).buffers[1]
    wide = x.astype(np.float64)
    return found, np.where(wide > 0, wide, 1.5 * np.expm1(wide))


def lookup_table(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """A table of colours in a square, as a texture of three dimensions."""
    square = np.random.default_rng(7).random((8, 8, 4)).astype(np.float32)
    volume = np.zeros((4, 4, 4, 4), np.float32)
    found = run(
        Launch(
            buffers={0: np.int32([4])},
            textures={0: square, 1: volume},
            threads=(4, 4, 4),
            group=(4, 4, 1),
        )
    ).textures[1]
    return found, square.reshape(2, 4, 2, 4, 4).transpose(0, 2, 1, 3, 4).reshape(4, 4, 4, 4)


def scale(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """A vector times a number."""
    x = _floats(64)
    buffers = {0: x, 1: np.zeros_like(x), 2: np.float32([2.5])}
    return run(Launch(buffers=buffers, threads=(64, 1, 1))).buffers[1], x * np.float32(2.5)


def blocked_product(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """A matrix product of metal-flash-attention, by asynchronous copies."""
    m, n, k = 40, 56, 24  # no multiples of the blocks
    block = 32
    a, b = _floats(m, k), _floats(n, k).T.copy()
    off = (10, 11, 13, 100, 101, 102, 103, 113, 213, 50000, 50001)
    flags = dict.fromkeys(off, np.bool_(False))
    flags |= dict.fromkeys((220, 221, 222), np.uint16(0))
    sizes: dict[int, Array] = {0: np.uint32(m), 1: np.uint32(n), 2: np.uint32(k)}
    shape: dict[int, Array] = {
        200: np.uint16(16),
        201: np.uint16(16),
        202: np.uint16(24),
        210: np.uint16(2),
        211: np.uint16(2),
    }
    scales: dict[int, Array] = {20: np.float32(1), 21: np.float32(0)}
    found = run(
        Launch(
            buffers={0: a, 1: b, 2: np.zeros((m, n), np.float32)},
            constants={**sizes, **shape, **scales, **flags},
            threadgroups=(-(-n // block), -(-m // block), 1),
            group=(128, 1, 1),
            threadgroup_memory=4 * 2 * block * block,
        )
    ).buffers[2]
    return found, a.astype(np.float64) @ b


def silu(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """Gated sigmoid linear units."""
    x, gate = _floats(64), _floats(2, 64)[1]
    buffers = {0: x, 1: gate, 2: np.zeros_like(x)}
    found = run(Launch(buffers=buffers, threads=(64, 1, 1))).buffers[2]
    return found, x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64))) * gate


def product(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """A matrix product, an element a thread."""
    m, n, k = 5, 7, 9
    a, b = _floats(m, k), _floats(k, n)
    sizes = {3: np.uint32([m]), 4: np.uint32([n]), 5: np.uint32([k])}
    buffers = {0: a, 1: b, 2: np.zeros((m, n), np.float32), **sizes}
    found = run(Launch(buffers=buffers, threads=(m, n, 1), group=(5, 7, 1))).buffers[2]
    return found, a.astype(np.float64) @ b


def copy(run: Callable[[Launch], Outcome]) -> tuple[Array, Array]:
    """A vector as it is."""
    x = _floats(64)
    return run(Launch(buffers={0: x, 1: np.zeros_like(x)}, threads=(64, 1, 1))).buffers[1], x
