"""Cases about argument buffers: pointers, arrays of them, textures and samplers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from .case import Case
from .textures import random_texture, sampler_of

_INDEX: Final = 3  # behind x, y and z
_THREADS: Final = 1024


def argument_buffer_cases() -> Iterator[Case]:
    """All of them."""
    yield _case(
        "pointer",
        "device const float* p [[id(0)]];",
        "r = arguments.p[i] * a;",
        _pointer,
    )
    yield _case(
        "array-of-pointers",
        "array<device const float*, 4> p [[id(0)]];",
        "r = arguments.p[i % 4][i] + b;",
        _pointers,
    )
    yield _case(
        "texture-and-sampler",
        "texture2d<float> t [[id(0)]]; sampler s [[id(1)]];",
        "r = arguments.t.sample(arguments.s, float2(a, b)).x;",
        _texture,
        domain=2.0,
    )
    yield _case("addresses", "device const float* p; device const float* q;", _SUMS, _addresses)


_SUMS: Final = "r = arguments.p[i] + arguments.q[i + 1];"


def _case(name: str, members: str, body: str, bind: Any, domain: float = 0.0) -> Case:
    return Case(
        name=f"argument-buffer/{name}",
        given="float",
        result="float",
        body=body,
        domain=domain,
        declared=f"struct Arguments {{ {members} }};\n",
        parameters=f"constant Arguments& arguments [[buffer({_INDEX})]],",
        bind=bind,
    )


def _numbers(device: Any, seed: int) -> Any:
    data = np.random.default_rng(seed).standard_normal(_THREADS + 1).astype(np.float32)
    return device.newBufferWithBytes_length_options_(data.tobytes(), data.nbytes, 0)


def _encoder(device: Any, encoder: Any, function: Any) -> Any:
    """An argument encoder whose buffer is bound."""
    made = function.newArgumentEncoderWithBufferIndex_(_INDEX)
    target = device.newBufferWithLength_options_(made.encodedLength(), 0)
    made.setArgumentBuffer_offset_(target, 0)
    encoder.setBuffer_offset_atIndex_(target, 0, _INDEX)
    return made


def _pointer(metal: Any, device: Any, encoder: Any, function: Any) -> None:
    numbers = _numbers(device, 1)
    _encoder(device, encoder, function).setBuffer_offset_atIndex_(numbers, 0, 0)
    encoder.useResource_usage_(numbers, metal.MTLResourceUsageRead)


def _pointers(metal: Any, device: Any, encoder: Any, function: Any) -> None:
    numbers = [_numbers(device, seed) for seed in range(4)]
    made = _encoder(device, encoder, function)
    for place, each in enumerate(numbers):
        made.setBuffer_offset_atIndex_(each, 0, place)
        encoder.useResource_usage_(each, metal.MTLResourceUsageRead)


def _texture(metal: Any, device: Any, encoder: Any, function: Any) -> None:
    made = _encoder(device, encoder, function)
    texture = random_texture(metal, device, "RGBA8Unorm", 4)
    made.setTexture_atIndex_(texture, 0)
    made.setSamplerState_atIndex_(sampler_of(metal, device, "Repeat", filtered=True), 1)
    encoder.useResource_usage_(texture, metal.MTLResourceUsageRead)


def _addresses(metal: Any, device: Any, encoder: Any, _function: Any) -> None:
    numbers = [_numbers(device, seed) for seed in (7, 8)]
    words = np.array([each.gpuAddress() for each in numbers], np.uint64)
    encoder.setBytes_length_atIndex_(words.tobytes(), words.nbytes, _INDEX)
    for each in numbers:
        encoder.useResource_usage_(each, metal.MTLResourceUsageRead)
