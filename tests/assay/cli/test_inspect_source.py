"""inspect of MSL source: what it says of kernels, and how it fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Assay = Callable[..., Any]
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
GOOD = """#include "scale.h"
constant int N [[function_constant(3)]];
kernel void scale(device float* x [[buffer(1)]], constant float4& by [[buffer(0)]],
                  const device half* y [[buffer(2)]], threadgroup uint* shared [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[i % 64] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = SCALE(tile[63 - i % 64]) * by.x * float(N) + float(y[i]) + float(shared[0]) + OFFSET;
}
[[max_total_threads_per_threadgroup(96)]] kernel void tiny(device int* n) { n[0] = 1; }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "headers"
    folder.mkdir()
    (folder / "scale.h").write_text("#define SCALE(v) ((v) * 2.0f)\n")
    path = tmp_path / "good.metal"
    path.write_text(HEAD + GOOD)
    return path


def options(source: Path) -> list[object]:
    return ["-I", source.parent / "headers", "-D", "OFFSET=1.5f"]


def test_inspect_lists_every_kernel_with_its_arguments(assay: Assay, source: Path) -> None:
    done = assay("inspect", source, *options(source), "--json")
    assert done.code == 0
    report = json.loads(done.out)
    scale, tiny = report["kernels"]
    assert [(a["kind"], a["index"], a["name"], a["size"]) for a in scale["arguments"]] == [
        ("buffer", 1, "x", 4),
        ("buffer", 0, "by", 16),
        ("buffer", 2, "y", 2),
        ("threadgroup", 0, "shared", 4),
    ]
    assert [a["access"] for a in scale["arguments"][:3]] == ["read_write", "read", "read"]
    assert scale["threadgroup_memory"] == 256
    assert scale["assumed_constants"] == ["N = 1"]
    assert 0 < scale["registers"]["thread"] < 30
    assert tiny["max_total_threads_per_threadgroup"] == 96
    assert tiny["place"] == f"{source}:13"


def test_inspect_shows_a_kernel_as_text(assay: Assay, source: Path) -> None:
    done = assay("inspect", source, *options(source), "--function", "scale", "--constant", "N=7")
    assert done.code == 0
    assert "device const half" in done.out
    assert "threadgroup memory 256 B" in done.out
    assert "assumed" not in done.out
    assert "tiny" not in done.out


def test_inspect_gives_diagnostics_at_the_line_of_the_source(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "bad.metal"
    path.write_text(HEAD + "kernel void k(device float* x) {\n  x[0] = missing;\n}\n")
    done = assay("inspect", path)
    assert done.code == 1
    assert f"{path}:4:10: error: use of undeclared identifier 'missing'" in done.err


def test_inspect_all_says_which_instantiations_fail(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "some.metal"
    path.write_text(
        HEAD
        + """struct Pair { float a, b; };
template <typename T> kernel void first(device T* x) { x[0] = x[1] + T(1); }
template [[host_name("first_float")]] kernel void first<float>(device float*);
template [[host_name("first_pair")]] kernel void first<Pair>(device Pair*);
template [[host_name("first_half")]] kernel void first<half>(device half*);
"""
    )
    done = assay("inspect", path, "--all")
    assert done.code == 1
    assert "1 of 3 do not compile: first_pair" in done.out
    assert f"{path}:4:" in done.out
    report = json.loads(assay("inspect", path, "--all", "--json").out)
    assert [bool(kernel.get("error")) for kernel in report["kernels"]] == [False, True, False]


def test_inspect_without_all_stops_at_a_number_and_says_so(assay: Assay, tmp_path: Path) -> None:
    kernels = "".join(f"kernel void k{i}(device int* x) {{ x[0] = {i}; }}\n" for i in range(42))
    path = tmp_path / "many.metal"
    path.write_text(HEAD + kernels)
    done = assay("inspect", path)
    assert done.code == 0
    assert "2 more kernels are not shown; --all compiles them too" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--function", "nothing"], "there is no kernel 'nothing'; there are scale, tiny"),
        (["--msl", "scale"], "--msl is for modules and models"),
        (["-D", "1=2"], "-D 1=2: expected NAME or NAME=VALUE"),
        (["-I", "nowhere"], "-I nowhere: there is no such folder"),
        (["--constant", "N=many"], "--constant N=many: expected NAME=VALUE with a number"),
    ],
)
def test_inspect_refuses_options_that_cannot_be_meant(
    assay: Assay, source: Path, arguments: list[str], message: str
) -> None:
    done = assay("inspect", source, *options(source), *arguments)
    assert done.code == 2
    assert message in done.err


def test_inspect_takes_several_names_and_patterns(assay: Assay, source: Path) -> None:
    done = assay("inspect", source, *options(source), "-f", "ti*", "-f", "scale", "--json")
    assert [each["name"] for each in json.loads(done.out)["kernels"]] == ["scale", "tiny"]


CONSTANTS = """
constant bool WIDE [[function_constant(0)]];
constant bool2 SIDES [[function_constant(1)]];
constant float SCALE [[function_constant(2)]];
struct Side { int rows; };
struct Sizes { int rows; ulong stride; float3 by; bool flag; float fill; Side shape; };
kernel void put(device float* x, device half4* h, constant Sizes& sizes, constant uint3& at,
                constant bool& on, device void* raw, device atomic_uint* n,
                texture2d<float> image, threadgroup float* shared,
                uint2 i [[thread_position_in_grid]]) {
  shared[0] = 1;
  if (on && i.x < uint(sizes.rows)) x[i.x] = WIDE && SIDES.x ? SCALE : at.x + image.read(i).x;
}
"""


def test_inspect_and_check_assume_the_same_of_function_constants(
    assay: Assay, tmp_path: Path
) -> None:
    path = tmp_path / "constants.metal"
    path.write_text(HEAD + CONSTANTS)
    assumed = ["WIDE = false", "SIDES = (false, false)", "SCALE = 1.0"]
    (kernel,) = json.loads(assay("inspect", path, "--json").out)["kernels"]
    assert kernel["assumed_constants"] == assumed
    (kernel,) = json.loads(assay("check", path, "--json").out)["kernels"]
    assert set(assumed) <= set(kernel["assumptions"])


def test_a_printed_template_is_complete_and_accepted(assay: Assay, tmp_path: Path) -> None:
    path, args = tmp_path / "constants.metal", tmp_path / "args.toml"
    path.write_text(HEAD + CONSTANTS + "kernel void other(device int* n) { n[0] = 1; }")
    before = json.loads(assay("check", path, "--json").out)
    args.write_text(assay("inspect", path, "--args-template").out)
    after = json.loads(assay("check", path, "--args", args, "--json").out)
    assert after["unchecked"] == before["unchecked"] == []
    assert [each["name"] for each in after["kernels"]] == ["put", "other"]
    # No table of TOML can give a texture.
    left = [said for each in after["kernels"] for said in each["assumptions"]]
    assert [said.split(":")[0] for said in left] == ["image"]


def test_inspect_of_a_missing_source_says_so(assay: Assay, tmp_path: Path) -> None:
    done = assay("inspect", tmp_path / "none.metal")
    assert done.code == 2
    assert "there is no such file" in done.err
