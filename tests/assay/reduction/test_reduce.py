"""Reduction: the smallest part of a source with the same finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checks import Report, SourceOptions, check_source, read_file
from assay.reduction import Reduced, reduce_source
from assay.reduction.pieces import Pieces
from assay.reduction.reduce import NothingToReduce
from tests.checks.mutation.campaign import KERNELS
from tests.compiler.verify.sources import without_barrier

TILED = next(path.read_text() for path in KERNELS if path.stem == "tiled_matmul")
RACES = ("race",)
RACY = """\
#include <metal_stdlib>
using namespace metal;
//! [kernel.k]
//! threads = 256
//! threadgroup = 256
kernel void k(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[256];
    float unused = 3;
    s[t] = x[t];
    y[t] = s[255 - t];
}
"""
INCLUDED = """\
#include "tiles.h"
#include <metal_stdlib>
using namespace metal;
kernel void other(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 0; }
kernel void k(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[TILE];
    float unused = 3;
    if (t < LIMIT) {
        s[t] = twice(x[t]);
        y[t] = s[LIMIT - 1 - t];
    }
}
"""
STATED = """\
constant uint W [[function_constant(0)]];
//! [kernel.k]
//! threadgroup = 64
//! constants.W = 3
kernel void k(device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[32];
    if (t < W && W <= 32) s[t] = t;
    y[t] = W > 0 && W <= 32 ? s[0] : 0.0f;
}
"""
HEADER = "#pragma once\n#define TILE 128\ninline float twice(float x) { return 2 * x; }\n"


def reduced(source: str, **named: object) -> Reduced:
    return reduce_source(source, "k.metal", SourceOptions(), checks=RACES, **named)  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_is_left_has_the_finding_between_the_same_statements() -> None:
    small = reduced(without_barrier(TILED, 0))
    assert small.lines_after < small.lines_before / 2
    report = Report(RACES)
    check_source(small.source, "small.metal", report, SourceOptions())
    (finding, *_) = report.findings
    assert finding.kind == small.finding.kind == "race-read-write"
    lines = small.source.split("\n")
    assert {lines[party.site.line - 1].strip()[:5] for party in finding.parties} & {
        "right",
        "left[",
        "sum +",
    }


@pytest.mark.slow
def test_the_same_source_is_reduced_to_the_same_part() -> None:
    one, two = (reduced(RACY) for _ in range(2))
    assert one == two


def test_includes_macros_and_arguments_come_into_one_file(tmp_path: Path) -> None:
    (tmp_path / "tiles.h").write_text(HEADER)
    arguments = tmp_path / "k.toml"
    arguments.write_text(
        "[kernel.k]\nthreads = 512\nthreadgroup = 128\n[kernel.other]\nthreads = 4\n"
    )
    options = SourceOptions(functions=("k",), macros={"LIMIT": "100"}, inputs=read_file(arguments))
    small = reduce_source(
        INCLUDED, str(tmp_path / "k.metal"), options, checks=RACES, arguments=arguments
    )
    assert "other" not in small.source and "unused" not in small.source
    assert '#include "' not in small.source and "twice" not in small.source
    report = Report(RACES)
    check_source(small.source, "anywhere.metal", report, SourceOptions())
    assert [each.kind for each in report.findings] == [small.finding.kind]


@pytest.fixture(scope="module")
def instantiated() -> tuple[Reduced, list[str]]:
    """What is left of a template between conditions of the preprocessor, and what was told."""
    text = RACY.replace("kernel void k(", "template <class T> kernel void k(")
    text = text.replace("[kernel.k]", "[kernel.k_half]").replace("const float*", "const T*")
    text = text.replace("template <", "#ifndef K\n#define K\n#ifdef NOT\n#else\ntemplate <")
    text += (
        'template [[host_name("k_half")]]\nkernel void k<half>(device const half*, device float*,\n'
        "                       uint);\n#endif\n#endif\n"
    )
    said: list[str] = []
    return reduced(text, say=said.append), said


def test_what_is_left_is_for_macs_too(instantiated: tuple[Reduced, list[str]]) -> None:
    """Metal's library is included, and instantiations have the parameters of their templates."""
    small = instantiated[0].source.split("\n")
    assert small[0] == "#include <metal_stdlib>"
    assert 'template [[host_name("k_half")]]' in small[-3:]
    assert "[[kernel]] decltype(k<half>) k<half>;" in small[-3:]


def test_conditions_of_the_preprocessor_go_with_their_ends(
    instantiated: tuple[Reduced, list[str]],
) -> None:
    small = instantiated[0].source
    assert "#if" not in small and "#endif" not in small


@pytest.mark.slow
def test_a_finding_that_rests_on_what_is_stated_stays_an_error() -> None:
    small = reduced(STATED)
    assert small.finding.severity == "error" and "//! constants.W" in small.source


def test_a_kernel_that_cannot_be_run_says_why() -> None:
    with pytest.raises(NothingToReduce, match=r"kernel .k. was not checked: .*unknown key"):
        reduced(RACY.replace("threads = 256", "threds = 256", 1))


def test_progress_is_told(instantiated: tuple[Reduced, list[str]]) -> None:
    _, said = instantiated
    assert said and "lines are left after" in said[-1]


def test_without_a_finding_there_is_nothing_to_reduce() -> None:
    with pytest.raises(NothingToReduce, match=r"k.metal: there is no finding to reduce it to"):
        reduced(RACY.replace("s[255 - t]", "s[t]"))
    with pytest.raises(NothingToReduce, match=r"no finding of kind 'nan'.*; there are race-read"):
        reduced(RACY, kind="nan")


def test_what_is_left_of_a_text_knows_where_it_stood() -> None:
    pieces = Pieces("0123456789").without([(2, 4), (6, 7)])
    assert pieces.text == "0145789"
    assert [pieces.origin(at) for at in range(7)] == [0, 1, 4, 5, 7, 8, 9]
    assert pieces.without([(3, 6)]).text == "01789"
    assert not pieces.has(2, 4) and pieces.has(3, 5)
