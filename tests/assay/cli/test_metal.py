"""`assay metal` stands in for Apple's compiler in build scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Assay = Callable[..., Any]
SOURCE = """#include <metal_stdlib>
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] *= FACTOR;
}
"""
ARGUMENTS = """[kernel.scale]
threads = [64, 1, 1]
arguments.x = { dtype = "float32", shape = [60], fill = "random" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scale.metal").write_text(SOURCE)
    (tmp_path / "args.toml").write_text(ARGUMENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_library_is_inspected_and_checked_with_lines_of_its_source(
    assay: Assay, folder: Path
) -> None:
    assert assay("metal", "-c", "scale.metal", "-DFACTOR=2", "-fno-fast-math").code == 0
    assert assay("metal", "scale.air", "-o", "default.metallib").code == 0
    (folder / "scale.metal").unlink()
    shown = assay("inspect", "default.metallib")
    assert "made by assay metal" in shown.out and "no Mac opens it" in shown.out
    report = json.loads(assay("inspect", "default.metallib", "--json").out)
    assert "scale.metal (metal3.2, no fast math)" in report["made_by"]
    done = assay("check", "default.metallib", "--args", "args.toml")
    assert done.code == 1
    assert "scale.metal:3:8: error: out-of-bounds" in done.out
    assert "3 |   x[i] *= FACTOR;" in done.out


def test_errors_are_told_as_clang_does(assay: Assay, folder: Path) -> None:
    done = assay("metal", "-c", "scale.metal")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("scale.metal:3:11: error: use of undeclared identifier 'FACTOR'")
    assert done.err.endswith("1 error generated.\n")
    assert not (folder / "scale.air").exists()
    done = assay("metal", "--frob", "scale.metal")
    assert done.code == 1 and "assay metal: error: unknown argument: '--frob'" in done.err


CARELESS = """#include <metal_stdlib>
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  metal::float4 unseen = x[i];
  int unused = 0;
  if (x[i] = 3) x[i] *= FACTOR;
}
"""


def test_warnings_are_told_as_clang_does(assay: Assay, folder: Path) -> None:
    (folder / "scale.metal").write_text(CARELESS)
    build = ("metal", "-c", "scale.metal", "-DFACTOR=2")
    done = assay(*build)
    assert done.code == 0 and (folder / "scale.air").exists()
    assert done.err.startswith("scale.metal:5:12: warning: using the result of an assignment")
    assert done.err.endswith("1 warning generated.\n")
    done = assay(*build, "-Wall", "-Wno-parentheses")
    assert done.err.startswith("scale.metal:4:7: warning: unused variable 'unused'")
    assert assay(*build, "-w").err == ""
    done = assay(*build, "-Wfrob", "-Wno-parentheses")
    assert done.code == 0 and "metal: warning: unknown warning option '-Wfrob'" in done.err


def test_an_include_that_is_missing_counts_as_an_error(assay: Assay, folder: Path) -> None:
    (folder / "scale.metal").write_text('#include "nosuch.h"\n')
    done = assay("metal", "-c", "scale.metal")
    assert done.code == 1 and "fatal error: 'nosuch.h' file not found" in done.err
    assert done.err.endswith("\n1 error generated.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize(
    "given",
    [
        ("-c", "-o", "/dev/full"),
        ("-o", "/dev/full"),
        ("-E", "-o", "/dev/full"),
        ("-c", "-MMD", "-MF", "/dev/full"),
    ],
)
def test_files_that_cannot_be_written_are_named(
    assay: Assay, folder: Path, given: tuple[str, ...]
) -> None:
    done = assay("metal", "scale.metal", "-DFACTOR=2", *given)
    assert done.code == 1
    assert "error: cannot write '/dev/full': No space left on device" in done.err


def test_what_only_newer_compilers_refuse_is_a_warning(assay: Assay, folder: Path) -> None:
    done = assay("metal", "-c", "scale.metal", "-DFACTOR=(i < 4 < 3)")
    assert done.code == 0 and "warning: chained comparison" in done.err


def test_warnings_that_are_errors_leave_no_file(assay: Assay, folder: Path) -> None:
    (folder / "scale.metal").write_text(CARELESS)
    done = assay("metal", "-c", "scale.metal", "-DFACTOR=2", "-Wall", "-Werror")
    assert done.code == 1 and not (folder / "scale.air").exists()
    assert "error: unused variable 'unused' [-Werror,-Wunused-variable]" in done.err
    assert done.err.endswith("2 errors generated.\n")


def test_it_says_that_it_is_not_for_macs(assay: Assay) -> None:
    assert "not for Macs" in assay("metal", "--help").out
    assert "not for Macs" in assay("metal", "--version").out


def test_build_systems_ask_for_the_version_of_the_language_by_preprocessing(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "metal", "-std=metal3.1", "-E", "-x", "metal", "-P", "-"],
        input="__METAL_VERSION__\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "310\n"


def test_sources_are_preprocessed_to_a_file(assay: Assay, folder: Path) -> None:
    assert assay("metal", "-E", "scale.metal", "-DFACTOR=7", "-o", "scale.ii").code == 0
    text = (folder / "scale.ii").read_text()
    assert text.startswith('# 1 "scale.metal"\n') and "x[i] *= 7;" in text


SHIM = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in metal|metallib) shift; exec "{python}" -m assay metal "$@" ;; esac
  shift
done
exit 1
"""


def test_a_build_script_runs_with_xcrun_in_its_place(folder: Path) -> None:
    xcrun = folder / "xcrun"
    xcrun.write_text(SHIM.format(python=sys.executable))
    xcrun.chmod(0o755)
    script = (
        "set -e; ./xcrun -sdk macosx metal -O2 -Wall -DFACTOR=2 -c scale.metal -o scale.air; "
        "./xcrun -sdk macosx metallib scale.air -o scale.metallib"
    )
    subprocess.run(["sh", "-c", script], check=True)
    assert (folder / "scale.metallib").read_bytes()[:8] == b"ASSAYMTL"


@pytest.mark.parametrize("options", [("-pedantic", "-Wall", "-Wextra", "-Werror"), ("-Wpedantic",)])
def test_of_a_sound_source_nothing_is_told_whatever_is_asked_for(
    assay: Assay, folder: Path, options: tuple[str, ...]
) -> None:
    told = assay("metal", *options, "-DFACTOR=2", "scale.metal", "-o", "x.metallib")
    assert (told.code, told.err) == (0, "")


BROKEN = """#include <metal_stdlib>
using namespace metal;
#define REAL double
float f(float* p) { return *p; }
kernel void a(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = missing;
  REAL y = 1, z = 2; double w = 3;
}
kernel void b(device float* x [[buffer(0)]], float q) { x[0] = "s"; }
"""


def places(told: str) -> list[str]:
    return [line.partition(" error:")[0] for line in told.split("\n") if " error: " in line]


def test_all_errors_are_told_in_the_order_of_the_source(assay: Assay, folder: Path) -> None:
    (folder / "broken.metal").write_text(BROKEN)
    done = assay("metal", "-c", "broken.metal")
    assert done.code == 1
    found = places(done.err)
    assert found == [
        f"broken.metal:{at}:" for at in ("4:14", "6:10", "7:3", "7:22", "9:46", "9:64")
    ]
    assert "  REAL y = 1, z = 2; double w = 3;\n  ^\n" in done.err
    assert done.err.endswith("6 errors generated.\n")


def test_an_include_that_is_missing_is_shown(assay: Assay, folder: Path) -> None:
    (folder / "scale.metal").write_text(f'#include "gone.h"\n{SOURCE}')
    done = assay("metal", "-c", "scale.metal", "-DFACTOR=2")
    assert done.err.startswith("scale.metal:1:10: fatal error: 'gone.h' file not found")
    assert '\n#include "gone.h"\n         ^\n' in done.err


RENDERING = """#include <metal_stdlib>
using namespace metal;
struct Corner { float4 at [[position]]; float2 uv; };
vertex Corner corner(uint id [[vertex_id]], constant float4* places [[buffer(0)]]) {
  Corner made; made.at = places[id]; made.SIDE = 0; return made;
}
fragment half4 color(Corner in [[stage_in]], texture2d<half> image [[texture(0)]],
                     interpolant<float, interpolation::perspective> depth) {
  constexpr sampler plain;
  if (in.uv.x < 0) discard_fragment();
  return image.sample(plain, in.uv) + half4(dfdx(depth.interpolate_at_center()));
}
"""


def test_errors_in_vertex_and_fragment_functions_are_told(assay: Assay, folder: Path) -> None:
    (folder / "rendering.metal").write_text(RENDERING.replace("SIDE", "uv"))
    done = assay("metal", "-c", "rendering.metal")
    assert (done.code, done.err) == (0, "")
    (folder / "rendering.metal").write_text(RENDERING)
    done = assay("metal", "-c", "rendering.metal")
    assert done.code == 1
    assert done.err.startswith("rendering.metal:5:43: error: no member named 'SIDE' in 'Corner'")


def test_functions_that_are_defined_nowhere_are_shown(assay: Assay, folder: Path) -> None:
    (folder / "scale.metal").write_text(f"float helper(float x);\n{SOURCE}")
    done = assay("metal", "scale.metal", "-DFACTOR=helper(1)")
    assert done.code == 1 and "scale.metal:4:11: error: calls 'helper'" in done.err
    assert "\n  x[i] *= FACTOR;\n" in done.err


def test_files_are_read_before_the_source_and_options_from_files(
    assay: Assay, folder: Path
) -> None:
    (folder / "before.h").write_text("#define FACTOR (2 + wrong)\n")
    (folder / "options.rsp").write_text("-include before.h -Dwrong=1\n-c 'scale.metal'")
    done = assay("metal", "@options.rsp", "-o", "scale.air")
    assert (done.code, done.err) == (0, "")
    done = assay("metal", "-include", "before.h", "scale.metal")
    assert done.code == 1 and done.err.startswith("scale.metal:3:11: error: use of undeclared")


def test_response_files_that_name_each_other_are_refused(assay: Assay, folder: Path) -> None:
    (folder / "options.rsp").write_text("@options.rsp")
    done = assay("metal", "@options.rsp")
    assert done.code == 1 and "response files name each other" in done.err


@pytest.mark.parametrize("option", ["-S", "-emit-llvm"])
def test_assembly_is_not_written(assay: Assay, folder: Path, option: str) -> None:
    done = assay("metal", option, "scale.metal")
    assert done.code == 1 and f"'{option}': libraries of assay metal hold MSL" in done.err
