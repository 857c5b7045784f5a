"""Textures and samplers of compiled libraries give what those of MSL source give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.air.textures.samplers import sampler_word
from assay.compiler.msl import CompileError
from assay.hal.metal import api
from tests.support.metallib import library

Metal = api.load("emulated")
TEXELS = np.random.default_rng(3).random((4, 6, 4)).astype(np.float32)
# Word of a sampler in AIR that is made of nothing, and what Apple's compiler adds for linear.
PLAIN, LINEAR = 0x007BFF0000080049, 0xA00
ACCESS = {"read": 1, "write": 2, "read_write": 3, "sample": 0}


def module(body: str, arguments: Sequence[str], nodes: Sequence[str], declared: str) -> str:
    """A kernel `k` of these parameters and nodes; the last one is its position, `%p`."""
    numbered = [f"!{10 + at} = !{{i32 {at}, {node}}}" for at, node in enumerate(nodes)]
    position = f'!{10 + len(nodes)} = !{{i32 {len(nodes)}, !"air.thread_position_in_grid"}}'
    listed = ", ".join(f"!{10 + at}" for at in range(len(nodes) + 1))
    return "\n".join(
        [
            'target triple = "air64_v26-apple-macosx14.0.0"',
            declared,
            f'define void @k({", ".join(arguments)}, <2 x i32> %p) "no-builtins" {{\n{body}\n'
            "  ret void\n}",
            f"!air.kernel = !{{!1}}\n!1 = !{{ptr @k, !2, !3}}\n!2 = !{{}}\n!3 = !{{{listed}}}",
            *numbered,
            position,
        ]
    )


def texture(index: int, kind: str, access: str, count: int = 1) -> str:
    return (
        f'!"air.texture", !"air.location_index", i32 {index}, i32 {count}, !"air.{access}", '
        f'!"air.arg_type_name", !"{kind}", !"air.arg_name", !"t{index}"'
    )


OUT = (
    '!"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", '
    '!"air.address_space", i32 1, !"air.arg_type_size", i32 16, '
    '!"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"'
)
SAMPLER = (
    '!"air.sampler", !"air.location_index", i32 0, i32 1, '
    '!"air.arg_type_name", !"sampler", !"air.arg_name", !"s"'
)
# The number of this thread's place in a row of six.
PLACE = """  %x = extractelement <2 x i32> %p, i64 0
  %y = extractelement <2 x i32> %p, i64 1
  %row = mul i32 %y, 6
  %i = add i32 %row, %x
  %to = getelementptr <4 x float>, ptr addrspace(1) %out, i32 %i"""


def run(
    source: str | bytes,
    textures: Sequence[object],
    *,
    words: int = 24,
    sampler: object = None,
    size: tuple[int, int] = (6, 4),
    arguments: object = None,
    uses: object = None,
) -> np.ndarray:
    """What the kernel `k` of a compiled module, or of MSL, leaves in its buffer of float4."""
    device = Metal.MTLCreateSystemDefaultDevice()
    if isinstance(source, bytes):
        made, error = device.newLibraryWithData_error_(source, None)
    else:
        made, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert made is not None, error.localizedDescription()
    state, error = device.newComputePipelineStateWithFunction_error_(
        made.newFunctionWithName_("k"), None
    )
    assert state is not None, error.localizedDescription()
    out = device.newBufferWithLength_options_(words * 16, 0)
    buffer = device.newCommandQueue().commandBuffer()
    encoder = buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(out, 0, 0)
    for index, each in enumerate(textures):
        encoder.setTexture_atIndex_(each, index)
    if sampler is not None:
        encoder.setSamplerState_atIndex_(sampler, 0)
    if arguments is not None:
        encoder.setBuffer_offset_atIndex_(arguments, 0, 1)
        encoder.useResource_usage_(uses, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_(Metal.MTLSizeMake(*size, 1), (6, 4, 1))
    encoder.endEncoding()
    buffer.commit()
    buffer.waitUntilCompleted()
    assert buffer.error() is None, buffer.error().localizedDescription()
    return np.frombuffer(out.contents().as_buffer(words * 16), np.float32).reshape(-1, 4).copy()


def made_texture(
    kind: int = 2, texels: np.ndarray | None = TEXELS, *, pixel: int = 125, slices: int = 1
) -> object:
    """A texture of 6 x 4 texels of MTLPixelFormatRGBA32Float, or of another format."""
    device = Metal.MTLCreateSystemDefaultDevice()
    described = Metal.MTLTextureDescriptor.new()
    described.setTextureType_(kind)
    described.setPixelFormat_(pixel)
    described.setWidth_(6 if kind not in (5, 6) else 4)
    described.setHeight_(4 if kind not in (0, 1) else 1)
    if kind in (1, 3, 6):
        described.setArrayLength_(slices)
    described.setUsage_(3)
    found = device.newTextureWithDescriptor_(described)
    faces = 6 if kind in (5, 6) else 1
    if texels is not None:
        width, height = found.width(), found.height()
        each = texels.nbytes // texels[..., 0].size
        for image in range(slices * faces):
            found.replaceRegion_mipmapLevel_slice_withBytes_bytesPerRow_bytesPerImage_(
                ((0, 0, 0), (width, height, 1)),
                0,
                image,
                np.roll(texels, image, 0)[:height, :width].tobytes(),
                each * width,
                0,
            )
    return found


def test_a_texel_is_read_in_each_form_of_the_function() -> None:
    forms = {
        "{ <4 x float>, i8 }": [
            ("<2 x i32>, i32, i32", "<2 x i32> %p, i32 0, i32 1", ""),
            (
                "ptr addrspace(2), <2 x i32>, <2 x i32>, i32, i32",
                "ptr addrspace(2) %s, <2 x i32> %p, <2 x i32> zeroinitializer, i32 0, i32 0",
                "  %s = call ptr addrspace(2) @air.get_read_sampler()\n",
            ),
        ],
        "<4 x float>": [("<2 x i32>, i32", "<2 x i32> %p, i32 0", "")],
    }
    for result, each in forms.items():
        for kinds, given, before in each:
            name = "@air.read_texture_2d.v4f32"
            body = f"{PLACE}\n{before}  %r = call {result} {name}(ptr addrspace(1) %t, {given})\n"
            value = "%r"
            if result[0] == "{":
                body += f"  %v = extractvalue {result} %r, 0\n"
                value = "%v"
            body += f"  store <4 x float> {value}, ptr addrspace(1) %to"
            text = module(
                body,
                ["ptr addrspace(1) %t", "ptr addrspace(1) %out"],
                [texture(0, "texture2d<float, read>", "read"), OUT],
                f"declare {result} {name}(ptr addrspace(1), {kinds})\n"
                "declare ptr addrspace(2) @air.get_read_sampler()",
            )
            found = run(library({"k": text}), [made_texture()])
            np.testing.assert_array_equal(found, TEXELS.reshape(-1, 4))


SAMPLE = "{ <4 x float>, i8 } @air.sample_texture_2d.v4f32"
SAMPLE_KINDS = (
    "ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32"
)
COORDINATES = """  %fx = uitofp i32 %x to float
  %fy = uitofp i32 %y to float
  %u = fmul float %fx, 0.1875
  %w = fmul float %fy, 0.3125
  %c0 = insertelement <2 x float> undef, float %u, i64 0
  %c = insertelement <2 x float> %c0, float %w, i64 1"""


def sampling(sampler: str, nodes: list[str], taken: list[str], declared: str) -> bytes:
    body = f"""{PLACE}
{COORDINATES}
  %r = call {SAMPLE}(ptr addrspace(1) %t, ptr addrspace(2) {sampler}, <2 x float> %c, i1 true, \
<2 x i32> <i32 1, i32 0>, i1 false, float 0.0, float 0.0, i32 0)
  %v = extractvalue {{ <4 x float>, i8 }} %r, 0
  store <4 x float> %v, ptr addrspace(1) %to"""
    text = module(
        body,
        ["ptr addrspace(1) %t", "ptr addrspace(1) %out", *taken],
        [texture(0, "texture2d<float, sample>", "sample"), OUT, *nodes],
        f"declare {SAMPLE}({SAMPLE_KINDS})\n{declared}",
    )
    return library({"k": text})


MSL = """#include <metal_stdlib>
using namespace metal;
kernel void k(texture2d<float> t [[texture(0)]], device float4* out [[buffer(0)]], {taken}
              uint2 p [[thread_position_in_grid]]) {{
  {sampler}
  out[p.y * 6 + p.x] = t.sample(s, float2(p) * float2(0.1875, 0.3125), int2(1, 0));
}}"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("state", "said"),
    [
        (PLAIN, "address::clamp_to_edge"),
        (PLAIN | LINEAR, "filter::linear"),
        ((PLAIN | LINEAR) & ~0x1FF | 0o222, "filter::linear, address::repeat"),
        (PLAIN & ~0x1FF | 0o333 | 1 << 63, "address::mirrored_repeat"),
        (PLAIN & ~0x1FF, "address::clamp_to_zero"),
        (PLAIN & ~0x1FF | 2 << 56, "address::clamp_to_border, border_color::opaque_white"),
    ],
)
def test_samplers_of_the_module_are_as_the_source_says_them(state: int, said: str) -> None:
    signed = state - (1 << 64) if state >> 63 else state
    declared = (
        "@__air_sampler_state = internal addrspace(2) constant "
        + (f"i64 {signed}" if state >> 63 else f"[2 x i64] [i64 {signed}, i64 0]")
        + ', align 8\n!air.sampler_states = !{!5}\n!5 = !{!"air.sampler_state", '
        "ptr addrspace(2) @__air_sampler_state}"
    )
    found = run(sampling("@__air_sampler_state", [], [], declared), [made_texture()])
    msl = MSL.format(taken="", sampler=f"constexpr sampler s({said});")
    np.testing.assert_array_equal(found, run(msl, [made_texture()]))


def test_samplers_are_passed_by_the_host() -> None:
    described = Metal.MTLSamplerDescriptor.new()
    described.setMinFilter_(1)
    described.setMagFilter_(1)
    described.setSAddressMode_(2)
    sampler = Metal.MTLCreateSystemDefaultDevice().newSamplerStateWithDescriptor_(described)
    data = sampling("%s", [SAMPLER], ["ptr addrspace(2) %s"], "")
    found = run(data, [made_texture()], sampler=sampler)
    msl = MSL.format(taken="sampler s [[sampler(0)]],", sampler="")
    np.testing.assert_array_equal(found, run(msl, [made_texture()], sampler=sampler))


@pytest.mark.parametrize("state", [2 << 9, 1 << 58, 9 << 16, 4, 3 << 56])
def test_samplers_that_do_what_is_not_known_are_refused(state: int) -> None:
    with pytest.raises(CompileError, match="not known here"):
        sampler_word(state)
    with pytest.raises(CompileError, match="bias"):
        sampler_word(PLAIN, 0x3C00)


# AIR's function with what it takes behind the texture, and the same in MSL; `c` is as above.
V4, F = "{ <4 x float>, i8 }", "{ float, i8 }"
T, S = "ptr addrspace(1) %t", "ptr addrspace(2) %s"
STEP = "<2 x float> <float 0.5, float 0.0>, <2 x float> <float 0.0, float 0.5>"
C3 = "<3 x float> <float 0.25, float -0.75, float 0.5>"
CALLS = [
    (
        2,
        "texture2d",
        f"{V4} @air.gather_texture_2d.v4f32",
        f"{S}, <2 x float> %c, i1 true, <2 x i32> zeroinitializer, i32 1, i32 0",
        "t.gather(s, c, int2(0), component::y)",
    ),
    (
        2,
        "texture2d",
        f"{V4} @air.sample_texture_2d_grad.v4f32",
        f"{S}, <2 x float> %c, {STEP}, float 0.0, i1 true, <2 x i32> zeroinitializer, i32 0",
        "t.sample(s, c, gradient2d(float2(0.5, 0), float2(0, 0.5)))",
    ),
    (
        3,
        "texture2d_array",
        f"{V4} @air.sample_texture_2d_array.v4f32",
        f"{S}, <2 x float> %c, i32 1, i1 true, <2 x i32> zeroinitializer, i1 true, float 0.0, "
        "float 0.0, i32 0",
        "t.sample(s, c, 1, level(0))",
    ),
    (
        3,
        "texture2d_array",
        f"{V4} @air.read_texture_2d_array.v4f32",
        "<2 x i32> %p, i32 1, i32 0, i32 1",
        "t.read(p, 1)",
    ),
    (
        5,
        "texturecube",
        f"{V4} @air.sample_texture_cube.v4f32",
        f"{S}, {C3}, i1 false, float 0.0, float 0.0, i32 0",
        "t.sample(s, float3(0.25, -0.75, 0.5))",
    ),
    (
        6,
        "texturecube_array",
        f"{V4} @air.read_texture_cube_array.v4f32",
        f"{S}, <2 x i32> %q, i32 3, i32 1, i32 0, i32 0",
        "t.read(p & 3, 3, 1)",
    ),
    (
        0,
        "texture1d",
        f"{V4} @air.sample_texture_1d.v4f32",
        f"{S}, float %u, i1 true, i32 0, i1 false, float 0.0, float 0.0, i32 0",
        "t.sample(s, c.x)",
    ),
    (
        1,
        "texture1d_array",
        f"{V4} @air.read_texture_1d_array.v4f32",
        "i32 %x, i32 1, i32 0, i32 1",
        "t.read(p.x, 1)",
    ),
    (
        2,
        "depth2d",
        f"{F} @air.sample_compare_depth_2d.f32",
        f"{S}, i32 1, <2 x float> %c, float 0.5, i1 true, <2 x i32> zeroinitializer, i1 false, "
        "float 0.0, float 0.0, i32 0",
        "t.sample_compare(s, c, 0.5)",
    ),
    (
        2,
        "depth2d",
        f"{V4} @air.gather_compare_depth_2d.f32",
        f"{S}, i32 1, <2 x float> %c, float 0.5, i1 true, <2 x i32> zeroinitializer, i32 0",
        "t.gather_compare(s, c, 0.5)",
    ),
    (2, "depth2d", f"{F} @air.read_depth_2d.f32", "i32 1, <2 x i32> %p, i32 0, i32 1", "t.read(p)"),
    (2, "texture2d", "i32 @air.get_width_texture_2d", "i32 0", "float(t.get_width())"),
    (
        3,
        "texture2d_array",
        "i32 @air.get_array_size_texture_2d_array",
        "",
        "float(t.get_array_size())",
    ),
    (2, "texture2d", "i1 @air.is_null_texture_2d", "", "float(is_null_texture(t))"),
]


def typed(given: str) -> str:
    """The types of operands."""
    kinds, depth, taken = [], 0, ""
    for letter in given + ",":
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            kinds.append(taken.strip())
            taken = ""
        else:
            taken += letter
    found = []
    for kind in filter(None, kinds):
        words = kind.split(" ")
        end = 3 if kind[0] == "<" else 2 if kind.startswith("ptr addr") else 1
        found.append(" ".join(words[:end]))
    return ", ".join(found)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("kind", "name", "called", "given", "msl"), CALLS, ids=[each[2].split("@")[1] for each in CALLS]
)
def test_functions_give_what_those_of_source_give(
    kind: int, name: str, called: str, given: str, msl: str
) -> None:
    operands = f"{T}, {given}" if given else T
    result = called.split(" @")[0]
    body = f"{PLACE}\n{COORDINATES}\n  %q = and <2 x i32> %p, <i32 3, i32 3>\n"
    body += f"  %r = call {called}({operands})\n"
    if result == V4:
        body += "  %v = extractvalue { <4 x float>, i8 } %r, 0\n"
    else:
        one = "%r" if result[0] == "i" else "%o"
        if result == F:
            body += "  %o = extractvalue { float, i8 } %r, 0\n"
        else:
            body += f"  %o = uitofp {result} {one} to float\n"
        body += "  %v0 = insertelement <4 x float> undef, float %o, i64 0\n"
        body += (
            "  %v = shufflevector <4 x float> %v0, <4 x float> undef, <4 x i32> zeroinitializer\n"
        )
    body += "  store <4 x float> %v, ptr addrspace(1) %to"
    text = module(
        body,
        [T, "ptr addrspace(1) %out", S],
        [texture(0, f"{name}<float, sample>", "sample"), OUT, SAMPLER],
        f"declare {called}({typed(operands)})",
    )
    described = Metal.MTLSamplerDescriptor.new()
    described.setMinFilter_(1)
    described.setCompareFunction_(1)
    sampler = Metal.MTLCreateSystemDefaultDevice().newSamplerStateWithDescriptor_(described)
    pixel = 252 if name.startswith("depth") else 125
    texels = TEXELS[..., :1].copy() if pixel == 252 else TEXELS
    slices = 2 if kind in (1, 3, 6) else 1
    given_texture = made_texture(kind, texels, pixel=pixel, slices=slices)
    found = run(library({"k": text}), [given_texture], sampler=sampler)
    source = f"""#include <metal_stdlib>
using namespace metal;
kernel void k({name}<float> t [[texture(0)]], device float4* out [[buffer(0)]],
              sampler s [[sampler(0)]], uint2 p [[thread_position_in_grid]]) {{
  float2 c = float2(p) * float2(0.1875, 0.3125);
  out[p.y * 6 + p.x] = {msl};
}}"""
    np.testing.assert_array_equal(found, run(source, [given_texture], sampler=sampler))


def test_texels_are_written_and_changed_by_atomic_operations() -> None:
    name = "@air.atomic_fetch_add_explicit_texture_2d.u.v4i32"
    body = f"""{PLACE}
  %was = call <4 x i32> {name}(ptr addrspace(1) %t, <2 x i32> zeroinitializer, \
<4 x i32> <i32 2, i32 0, i32 0, i32 0>, i32 0, i32 3)
  call void @air.write_texture_2d.u.v4i32(ptr addrspace(1) %o, <2 x i32> %p, <4 x i32> %was, \
i32 0, i32 2)
  %r = call {{ <4 x i32>, i8 }} @air.read_texture_2d.u.v4i32(ptr addrspace(1) %t, \
<2 x i32> zeroinitializer, i32 0, i32 3)
  %v = extractvalue {{ <4 x i32>, i8 }} %r, 0
  %f = uitofp <4 x i32> %v to <4 x float>
  store <4 x float> %f, ptr addrspace(1) %to"""
    declared = f"""declare <4 x i32> {name}(ptr addrspace(1), <2 x i32>, <4 x i32>, i32, i32)
declare void @air.write_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, <4 x i32>, i32, i32)
declare {{ <4 x i32>, i8 }} @air.read_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, i32, i32)"""
    text = module(
        body,
        ["ptr addrspace(1) %t", "ptr addrspace(1) %out", "ptr addrspace(1) %o"],
        [
            texture(0, "texture2d<uint, read_write>", "read_write"),
            OUT,
            texture(1, "texture2d<uint, write>", "write"),
        ],
        declared,
    )
    start = np.zeros((4, 6, 1), np.uint32)
    sums, seen = (made_texture(texels=start, pixel=53) for _ in range(2))
    found = run(library({"k": text}), [sums, seen])
    assert found[0, 0] == 48
    raw = bytearray(4 * 24)
    seen.getBytes_bytesPerRow_fromRegion_mipmapLevel_(raw, 24, ((0, 0, 0), (6, 4, 1)), 0)  # type: ignore[attr-defined]
    assert sorted(np.frombuffer(raw, np.uint32)) == list(range(0, 48, 2))


def test_arrays_of_textures_take_an_index_each() -> None:
    body = f"""{PLACE}
  %i1 = and i32 %x, 1
  %at = getelementptr [2 x ptr addrspace(1)], ptr %ts, i32 0, i32 %i1
  %t = load ptr addrspace(1), ptr %at
  %r = call {{ <4 x float>, i8 }} @air.read_texture_2d.v4f32({T}, <2 x i32> %p, i32 0, i32 1)
  %v = extractvalue {{ <4 x float>, i8 }} %r, 0
  store <4 x float> %v, ptr addrspace(1) %to"""
    text = module(
        body,
        ["ptr %ts", "ptr addrspace(1) %out"],
        [texture(0, "array<texture2d<float, read>, 2>", "read", 2), OUT],
        "declare { <4 x float>, i8 } "
        "@air.read_texture_2d.v4f32(ptr addrspace(1), <2 x i32>, i32, i32)",
    )
    found = run(library({"k": text}), [made_texture(), made_texture(texels=-TEXELS)])
    signs = np.where(np.arange(6) % 2, -1, 1)[None, :, None]
    np.testing.assert_array_equal(found, (TEXELS * signs).reshape(-1, 4))


def test_argument_buffers_hold_textures_and_samplers() -> None:
    node = (
        '!"air.indirect_buffer", !"air.buffer_size", i32 16, !"air.location_index", i32 1, i32 1, '
        '!"air.read", !"air.address_space", i32 2, !"air.struct_type_info", !40, '
        '!"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 8, '
        '!"air.arg_type_name", !"Arguments", !"air.arg_name", !"arguments"'
    )
    members = f"""
!40 = !{{i32 0, i32 8, i32 0, !"texture2d<float, sample>", !"t", !"air.indirect_argument", !41, \
i32 8, i32 8, i32 0, !"sampler", !"s", !"air.indirect_argument", !42}}
!41 = !{{i32 0, {texture(0, "texture2d<float, sample>", "sample")}}}
!42 = !{{i32 1, {SAMPLER.replace("i32 0, i32 1", "i32 1, i32 1")}}}"""
    body = f"""{PLACE}
{COORDINATES}
  %second = getelementptr i8, ptr addrspace(2) %arguments, i64 8
  %t = load ptr addrspace(1), ptr addrspace(2) %arguments
  %s = load ptr addrspace(2), ptr addrspace(2) %second
  %r = call {SAMPLE}({T}, {S}, <2 x float> %c, i1 true, <2 x i32> <i32 1, i32 0>, i1 false, \
float 0.0, float 0.0, i32 0)
  %v = extractvalue {V4} %r, 0
  store <4 x float> %v, ptr addrspace(1) %to"""
    text = module(
        body,
        ["ptr addrspace(1) %out", "ptr addrspace(2) %arguments"],
        [OUT, node],
        f"declare {SAMPLE}({SAMPLE_KINDS})",
    )
    described = Metal.MTLSamplerDescriptor.new()
    described.setMagFilter_(1)
    described.setSupportArgumentBuffers_(True)
    device = Metal.MTLCreateSystemDefaultDevice()
    sampler = device.newSamplerStateWithDescriptor_(described)
    made, error = device.newLibraryWithData_error_(library({"k": text + members}), None)
    assert made is not None, error.localizedDescription()
    encoder = made.newFunctionWithName_("k").newArgumentEncoderWithBufferIndex_(1)
    arguments = device.newBufferWithLength_options_(encoder.encodedLength(), 0)
    encoder.setArgumentBuffer_offset_(arguments, 0)
    given = made_texture()
    encoder.setTexture_atIndex_(given, 0)
    encoder.setSamplerState_atIndex_(sampler, 1)
    found = run(library({"k": text + members}), [], arguments=arguments, uses=given)
    msl = MSL.format(taken="sampler s [[sampler(0)]],", sampler="")
    np.testing.assert_array_equal(found, run(msl, [given], sampler=sampler))


def test_functions_on_textures_of_other_operands_are_refused_by_name() -> None:
    for name, kinds in [
        ("air.read_texture_2d.v4f32", "ptr addrspace(1), <3 x i32>"),
        ("air.sample_texture_2d.v4f32", "ptr addrspace(1), ptr addrspace(2), <2 x float>"),
        ("air.calculate_clamped_lod_texture_2d.v4f32", "ptr addrspace(1)"),
        ("air.write_texture_2d.rte.v4f32", "ptr addrspace(1), <2 x i32>, <4 x float>, i32, i32"),
    ]:
        result = "<4 x float>"
        nothing = {"p": "null", "i": "0", "<": "zeroinitializer"}
        given = ", ".join(f"{kind} {nothing[kind[0]]}" for kind in kinds.split(", "))
        text = module(
            f"  %r = call {result} @{name}({given})\n  store {result} %r, ptr addrspace(1) %out",
            ["ptr addrspace(1) %out"],
            [OUT],
            f"declare {result} @{name}({kinds})",
        )
        with pytest.raises(CompileError, match=f"it calls '{name}', which is not known here"):
            AirLibrary(library({"k": text}), "k.metallib").function("k")
