"""Files of `assay metal` hold what was compiled, and damaged ones are refused."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.metallib import opened
from assay.compiler.metallib.building import build
from assay.compiler.metallib.command_line import CommandLineError, parsed
from assay.compiler.metallib.stored import StoredLibrary, StoredLibraryError, Unit, packed, unpacked
from assay.compiler.msl import CompileError
from assay.compiler.msl.front import clang
from assay.hal.metal import api

Metal = api.load("emulated")
SCALE = """#include <metal_stdlib>
#include "factor.h"
using namespace metal;
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = times(x[i]);
}
"""
FACTOR = "#pragma once\n#define TIMES FACTOR\ninline float times(float v) { return v * TIMES; }\n"
ADD = """#include <metal_stdlib>
kernel void add(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scale.metal").write_text(SCALE)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text(FACTOR)
    (tmp_path / "add.metal").write_text(ADD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(*arguments: str) -> list[Path]:
    return build(parsed(arguments), "1.2.3", pytest.fail)


def run(data: bytes, name: str) -> np.ndarray:
    """What a kernel leaves of 0 to 31."""
    device = Metal.MTLCreateSystemDefaultDevice()
    library, error = device.newLibraryWithData_error_(data, None)
    assert library is not None, error.localizedDescription()
    state, error = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_(name), None
    )
    assert state is not None, error.localizedDescription()
    x = np.arange(32, dtype=np.float32)
    buffer = device.newBufferWithBytes_length_options_(x.tobytes(), 128, 0)
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((32, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    return np.frombuffer(buffer.contents().as_buffer(128), np.float32).copy()


def test_sources_become_files_and_files_a_library_that_runs_without_them(folder: Path) -> None:
    assert made("-c", "scale.metal", "-Iinclude", "-DFACTOR=3") == [Path("scale.air")]
    assert made("-c", "add.metal", "-o", "build.air") == [Path("build.air")]
    assert made("scale.air", "build.air", "-o", "both.metallib") == [Path("both.metallib")]
    data = (folder / "both.metallib").read_bytes()
    for path in (folder / "scale.metal", folder / "include" / "factor.h", folder / "add.metal"):
        path.unlink()
    x = np.arange(32, dtype=np.float32)
    np.testing.assert_array_equal(run(data, "scale"), x * 3)
    np.testing.assert_array_equal(run(data, "add"), x + 1)
    library = opened(data, "both.metallib")
    assert library.function_names == ("scale", "add")
    assert library.places()["scale"] == ("scale.metal", 4)
    assert library.sources() == {
        "scale.metal": SCALE,
        "include/factor.h": FACTOR,
        "add.metal": ADD,
    }


def test_a_library_says_nothing_of_the_folder_that_it_was_made_in(folder: Path) -> None:
    (path,) = made("scale.metal", "-I", "include", "-D", "FACTOR=3")
    stored = unpacked(path.read_bytes(), "default.metallib")
    assert path == Path("default.metallib")
    assert stored.made_by == "1.2.3"
    assert str(folder) not in repr(stored) + stored.units[0].text
    assert str(clang.HEADERS) not in stored.units[0].text


def test_what_make_wants_to_know_is_written(folder: Path) -> None:
    made("-c", "scale.metal", "-Iinclude", "-DFACTOR=3", "-MMD", "-MF", "s.d", "-MT", "s.o")
    assert (folder / "s.d").read_text() == "s.o: scale.metal \\\n  include/factor.h\n"


def test_make_is_told_that_headers_may_be_gone(folder: Path) -> None:
    made("-c", "scale.metal", "-Iinclude", "-DFACTOR=3", "-MMD", "-MP", "-o", "s.air")
    assert (folder / "s.d").read_text() == (
        "s.air: scale.metal \\\n  include/factor.h\ninclude/factor.h:\n"
    )


def test_errors_have_the_line_of_the_source(folder: Path) -> None:
    with pytest.raises(
        CompileError, match=r"factor\.h:3:42: error: .*undeclared identifier 'FACTOR'"
    ):
        made("-c", "scale.metal", "-Iinclude")
    (folder / "twice.metal").write_text(
        "kernel void k(device int* a [[buffer(0)]], device int* b [[buffer(0)]]) {}\n"
    )
    with pytest.raises(CompileError, match=r"twice\.metal:1:1: error: .*buffer\(0\).*both"):
        made("-c", "twice.metal")


def test_functions_of_one_name_are_not_linked(folder: Path) -> None:
    made("-c", "add.metal")
    with pytest.raises(CompileError, match=r"'add' is defined in add\.metal, twice"):
        made("add.air", "add.air", "-o", "x.metallib")


def test_a_function_that_no_file_defines_is_told_where_it_is_called(folder: Path) -> None:
    (folder / "calls.metal").write_text(
        "float far(float v);\n"
        "kernel void k(device float* x [[buffer(0)]]) {\n  x[0] = far(x[0]); }\n"
    )
    made("-c", "calls.metal")  # another file might
    with pytest.raises(CompileError, match=r"calls\.metal:3:\d+: error: calls 'far'"):
        made("calls.air", "-o", "x.metallib")
    assert not (folder / "x.metallib").exists()


OPTIONS = """-O2 -g -gline-tables-only -Wall -Wextra -Werror -Wno-unused-variable -x metal
-target air64-apple-macos14.0 --target=air64-apple-ios17 -mmacosx-version-min=14.0 -frecord-sources
-mios-version-min=16.0 -isysroot /sdk -arch air64 -ffast-math -fno-fast-math -std=metal3.1
-std=macos-metal2.4"""


def test_options_of_build_scripts_are_taken(folder: Path) -> None:
    given = OPTIONS.split()
    found = parsed([*given, "-fpreserve-invariance", "-c", "add.metal", "-oadd.air"])
    assert (found.fast_math, found.language_version, found.output) == (False, (2, 4), "add.air")
    plain = parsed(["-frecord-sources", "-c", "add.metal"])
    assert (plain.compile_only, plain.inputs) == (True, [Path("add.metal")])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "no input files"),
        (["-frobnicate", "a.metal"], "unknown argument: '-frobnicate'"),
        (["a.metal", "-o"], "argument to '-o' is missing"),
        (["-std=c++17", "a.metal"], "invalid value 'c\\+\\+17'"),
        (["-std=metal9.9", "a.metal"], "invalid value 'metal9.9'"),
        (["-x", "c", "a.metal"], "language not recognized: 'c'"),
        (["-c", "a.metal", "b.metal", "-o", "c.air"], "multiple output files"),
    ],
)
def test_options_that_are_not_understood_are_named(given: list[str], said: str) -> None:
    with pytest.raises(CommandLineError, match=said):
        parsed(given)


def test_what_apples_compiler_made_is_not_linked(folder: Path) -> None:
    (folder / "apple.air").write_bytes(b"\xde\xc0\x17\x0b" + bytes(60))
    with pytest.raises(
        CompileError, match=r"apple\.air' is neither MSL source nor a file of assay"
    ):
        made("apple.air")


def small() -> bytes:
    unit = Unit(
        file_name="add.metal",
        text=f'# 1 "add.metal"\n{ADD}',
        fast_math=True,
        language_version=(3, 2),
        sources={"add.metal": ADD},
    )
    return packed(StoredLibrary(made_by="1.2.3", units=(unit,)))


def test_damaged_files_are_refused() -> None:
    random_ = random.Random(5)
    whole = small()
    for _ in range(3000):
        damaged = bytearray(whole)
        if random_.random() < 0.3:
            del damaged[random_.randrange(9, len(damaged)) :]
        for _ in range(random_.randint(1, 4)):
            at = random_.randrange(8, len(damaged))
            damaged[at] = (damaged[at] + random_.randrange(1, 256)) % 256
        with pytest.raises(StoredLibraryError, match=r"^lib\.metallib: (damaged|it was written)"):
            unpacked(bytes(damaged), "lib.metallib")


def sealed(record: object) -> bytes:
    """A file whose hash is right, whatever it holds."""
    payload = zlib.compress(record if isinstance(record, bytes) else json.dumps(record).encode())
    return struct.pack("<8sI32s", b"ASSAYMTL", 1, hashlib.sha256(payload).digest()) + payload


@pytest.mark.parametrize(
    "record",
    [
        [],
        {},
        {"made_by": "x", "units": 3},
        {"made_by": "x", "units": [{}]},
        {"made_by": "x", "units": [3]},
        b"{",
        b"[" * 100_000,
        {
            "made_by": 1,
            "units": [
                {
                    "file_name": "a",
                    "text": "",
                    "fast_math": 1,
                    "language_version": [3],
                    "sources": {},
                }
            ],
        },
    ],
    ids=str,
)
def test_what_a_file_holds_is_not_believed(record: object) -> None:
    with pytest.raises(StoredLibraryError, match="what it holds is not understood"):
        unpacked(sealed(record), "lib.metallib")


def test_a_file_cannot_read_others() -> None:
    text = '#include "/etc/passwd"\nkernel void k() {}\n'
    record = {
        "file_name": "a.metal",
        "text": text,
        "fast_math": True,
        "language_version": [3, 2],
        "sources": {},
    }
    with pytest.raises(CompileError, match=r"/etc/passwd"):
        opened(sealed({"made_by": "x", "units": [record]}), "lib.metallib")
    marked = {**record, "text": '# 1 "/etc/passwd" 1\nkernel void k() {}\n'}
    with pytest.raises(CompileError, match="lies outside the include paths"):
        opened(sealed({"made_by": "x", "units": [marked]}), "lib.metallib")
