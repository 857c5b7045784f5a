"""Metal libraries are read by their tags, and damaged ones are refused."""

from __future__ import annotations

import random
import struct

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.air.container import (
    AirFormatError,
    Cutter,
    find_containers,
    read_container,
)
from assay.compiler.msl import CompileError
from tests.support.metallib import Buffer, bitcode, constant_field, kernel, library

TWO = {
    name: kernel(
        name, f"  store i32 {number}, ptr addrspace(1) %b0", (Buffer(name="x", element="i32"),)
    )
    for number, name in enumerate(("first", "second"))
}
DATA = library(TWO, {"second": constant_field(("wide", 0x35, 7, True), ("scale", 3, 2, False))})


def test_functions_have_what_the_file_says_of_them() -> None:
    found = read_container(DATA, "two.metallib")
    assert (found.version, found.platform, found.os_version) == ((2, 7), "macOS", (14, 0))
    assert list(found.functions) == ["first", "second"]
    first, second = found.functions.values()
    assert (first.kind, first.air_version, first.language_version) == ("kernel", (2, 6), (3, 1))
    assert first.bitcode()[:4] == struct.pack("<I", 0x0B17C0DE)
    assert first.constants == ()
    assert [(c.name, c.index, c.type_name, c.required) for c in second.constants] == [
        ("wide", 7, "bool", True),
        ("scale", 2, "float", False),
    ]


def test_a_library_is_cut_to_a_function_with_all_that_is_said_of_it() -> None:
    carried = {"/a/k.metal": "// source"}
    whole = library(
        TWO, {"second": constant_field(("wide", 0x35, 7, True))}, carried, {"add": TWO["first"]}
    )
    data = Cutter(whole, "two.metallib").only("second")
    before, after = (read_container(each, "x.metallib") for each in (whole, data))
    assert list(after.functions) == ["second", "add"]  # others may call what is visible
    for name, function in after.functions.items():
        assert function == before.functions[name]
        assert function.bitcode() == before.functions[name].bitcode()
    assert after.embedded == before.embedded != b""
    assert (after.version, after.platform, after.os_version) == ((2, 7), "macOS", (14, 0))
    assert Cutter(data, "x.metallib").only("second") == data
    assert AirLibrary(data, "x.metallib").sources() == AirLibrary(whole, "x.metallib").sources()


def test_a_library_is_not_cut_to_what_it_has_not() -> None:
    with pytest.raises(AirFormatError, match="there is no function 'third'"):
        Cutter(DATA, "two.metallib").only("third")


FIELDS = b"XXXX\0\0" * 100
MANY_FIELDS = DATA[:16] + struct.pack("<Q", len(DATA) + len(FIELDS)) + DATA[24:96]
MANY_FIELDS += FIELDS + DATA[96:]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a Metal library"),
        (b"MTLBuffer", "its header ends after 9 bytes"),
        (DATA[:-1], "it says that it has"),
        (DATA[:16] + struct.pack("<Q", len(DATA) + 1) + DATA[24:], "it says that it has"),
        (DATA[:88] + struct.pack("<I", 1 << 30) + DATA[92:], "it lists 1073741824 functions"),
        (MANY_FIELDS, "entry 0 of the function list has more than 64 fields"),
        (DATA.replace(b"OFFT", b"OFFX"), "a function has no field b'OFFT'"),
    ],
)
def test_what_cannot_be_a_library_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(AirFormatError, match=said):
        read_container(data, "x.metallib")


def test_bitcode_that_is_not_what_its_hash_says_is_refused() -> None:
    function = read_container(DATA[:-20] + b"!" + DATA[-19:], "x").functions["second"]
    with pytest.raises(AirFormatError, match="'second' is not what its hash says"):
        function.bitcode()


def test_damaged_libraries_are_read_or_refused() -> None:
    random_ = random.Random(5)
    whole = read_container(DATA, "x").functions
    refused = 0
    for _ in range(3000):
        damaged = bytearray(DATA)
        for _ in range(random_.randint(1, 3)):
            damaged[random_.randrange(len(DATA) // 2)] ^= 1 << random_.randrange(8)
        try:
            functions = read_container(bytes(damaged), "x").functions
            for each in functions.values():
                if each.bitcode() not in [known.bitcode() for known in whole.values()]:
                    pytest.fail("other bitcode than was stored")
        except AirFormatError:
            refused += 1
    assert refused > 100


def test_libraries_inside_of_a_program_are_found() -> None:
    program = b"\xcf\xfa\xed\xfe" + b"MTLBuffer\0MTLBlitPass\0".ljust(200, b"x")
    held = program + DATA + b"MTLBlend" + library({"third": TWO["first"].replace("first", "third")})
    assert [bytes(part) for part in find_containers(program)] == []
    assert [len(part) for part in find_containers(held)] == [
        len(DATA),
        len(held.partition(b"MTLBlend")[2]),
    ]
    opened = AirLibrary(held, "libkernels.dylib")
    assert opened.function_names == ("first", "second", "third")
    assert opened.function("third").program().function.blocks
    with pytest.raises(AirFormatError, match=r"libnone\.dylib: there is no Metal library in it"):
        AirLibrary(program, "libnone.dylib")


def test_sources_that_are_damaged_are_left_out() -> None:
    whole = library(TWO, sources={"/project/a.metal": "kernel", "/other/b.h": "text"})
    found = AirLibrary(whole, "x.metallib").sources()
    assert found == {"/project/a.metal": "kernel", "a.metal": "kernel", "/other/b.h": "text"}
    at = whole.index(b"BZh")
    damaged = whole[: at + 40] + bytes(20) + whole[at + 60 :]
    opened = AirLibrary(damaged, "x.metallib")
    assert opened.sources() == {} and opened.function_names == ("first", "second")


def test_libraries_that_say_no_sizes_of_modules_are_read() -> None:
    opened = AirLibrary(library(TWO, says_sizes=False), "old.metallib")
    assert opened.function_names == ("first", "second")
    for name in opened.function_names:
        assert opened.function(name).arguments[0].name == "x"


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_bitcode_alone_is_a_library_of_its_entry_points(is_wrapped: bool) -> None:
    raw = bitcode(TWO["first"])
    data = raw if is_wrapped else raw[20:]
    opened = AirLibrary(data, "first.air")
    assert opened.function_names == ("first",)
    assert [argument.name for argument in opened.function("first").arguments] == ["x"]


def test_a_kernel_is_read_whatever_others_of_its_module_do() -> None:
    bodies = {"first": "7.0", "second": "9.0"}
    parts = [
        f"""define weak_odr void @{name}(ptr addrspace(1) %x) "no-builtins" {{
  {"%r = call float @air.guess.f32(float 1.0)" if name == "second" else ""}
  store float {value}, ptr addrspace(1) %x
  ret void
}}
!{10 + at} = !{{ptr @{name}, !2, !3}}"""
        for at, (name, value) in enumerate(bodies.items())
    ]
    text = "\n".join(
        [
            'target triple = "air64_v26-apple-macosx14.0.0"',
            "declare float @air.guess.f32(float)",
            *parts,
            "!air.kernel = !{!10, !11}\n!2 = !{}\n!3 = !{!4}",
            '!4 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", '
            '!"air.address_space", i32 1, !"air.arg_type_size", i32 4, '
            '!"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", '
            '!"air.arg_name", !"x"}',
        ]
    )
    opened = AirLibrary(bitcode(text), "two.air")
    assert opened.function_names == ("first", "second")
    assert opened.function("first").program().function.blocks
    with pytest.raises(CompileError, match=r"'second': it calls 'air\.guess\.f32'"):
        opened.function("second")


def test_damaged_bitcode_alone_is_refused() -> None:
    random_ = random.Random(11)
    raw = bitcode(TWO["first"])
    for _ in range(40):
        damaged = bytearray(raw)
        for _ in range(random_.randint(1, 8)):
            damaged[random_.randrange(4, len(damaged))] = random_.randrange(256)
        try:
            opened = AirLibrary(bytes(damaged[: random_.randrange(40, len(raw))]), "first.air")
            for name in opened.function_names:
                opened.function(name)
        except CompileError as error:
            assert "first.air" in str(error)
