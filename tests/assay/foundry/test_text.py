"""The text that people take along: without warnings, without what it does not need."""

import itertools
import re
from pathlib import Path

import pytest

from assay.compiler.foundry.formats import FORMATS, format_of
from assay.compiler.foundry.library import KERNELS
from assay.compiler.foundry.library.base import FOLDER
from assay.compiler.foundry.structs.names import BFLOAT, FLOAT, HALF
from assay.compiler.foundry.structs.types import Scalar
from assay.foundry import (
    SILU,
    FoundryError,
    Standalone,
    bias,
    dequantise_source,
    output,
    residual,
    scaled,
)
from assay.foundry.library import attention, fused_gemv, gemm, matmul
from assay.foundry.products import Pipeline, Simdgroups, Threads, Tile, striped
from tests.support.clang_warnings import warnings_of

QUICK = ("rms_norm", "gemv", "marlin_async")


def formats_for(name: str) -> tuple[str, ...]:
    """Formats of different kinds that a kernel reads or writes."""
    if "packed" in name:
        return "fp4_128", "u4_128"
    return "f16", "q4_0", "nvfp4" if KERNELS[name].weights_as == "cache" else "q4_k"


def test_a_warning_would_be_seen() -> None:
    text = (
        "#include <metal_stdlib>\nusing namespace metal;\nstatic inline int idle() { return 1; }\n"
    )
    kernel = "kernel void k(device int* x) { int unused = 1; x[0] = 1; }\n"
    found = warnings_of(text + kernel)
    assert [re.findall(r":(\d+):\d+: warning: (.*) \[", each)[0] for each in found] == [
        ("4", "unused variable 'unused'"),
        ("3", "unused function 'idle'"),
    ]


@pytest.mark.parametrize(
    "name",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in KERNELS],
)
def test_a_kernel_of_the_library_compiles_without_a_warning(name: str) -> None:
    kernel = KERNELS[name].declared(HALF, format_of(formats_for(name)[1]))
    assert not warnings_of(kernel.source)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("element", [FLOAT, BFLOAT], ids=lambda each: each.name)
def test_a_kernel_of_any_type_compiles_without_a_warning(name: str, element: Scalar) -> None:
    try:
        source = KERNELS[name].declared(element, format_of(KERNELS[name].usual)).source
    except FoundryError as error:  # three buffers of floats
        assert error.rule == "threadgroup-budget"
        return
    assert not warnings_of(source)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_weights_in_any_format_are_read_without_a_warning(name: str) -> None:
    assert not warnings_of(dequantise_source(FORMATS[name]))
    assert not warnings_of(KERNELS["qkv"].declared(HALF, FORMATS[name]).source)
    assert not warnings_of(KERNELS["marlin_hybrid"].declared(HALF, FORMATS[name]).source)


@pytest.mark.slow
@pytest.mark.parametrize("by", [Threads(8, 16), Simdgroups(2, 1)], ids=["threads", "simdgroups"])
def test_products_of_other_forms_compile_without_a_warning(by: Threads | Simdgroups) -> None:
    pipeline = Pipeline(tile=Tile(32, 32, 16), by=by, band=2)
    epilogue = [scaled(), bias(float), SILU, residual(float)]
    weights = format_of("fp4_128")
    sources = [
        matmul(float, turned=(True, False), pipeline=pipeline, epilogue=epilogue).source,
        gemm(weights, 8, epilogue=epilogue, pipeline=pipeline).source,
        *(each.source for each in striped(weights, 8, slices=2, groups=3).kernels),
        attention(64, format_of("q8_0"), splits=3, is_paged=True).source,
        fused_gemv([weights], [8], norm=1e-5, epilogue=[residual(float)], vectors=3).source,
    ]
    for source in sources:
        assert not warnings_of(source)
        assert not layout_faults(source)


def layout_faults(text: str) -> list[str]:
    """Lines that are too long, end in blanks, stand behind two empty ones, or hang elsewhere than
    behind the bracket that they go on from."""
    found = []
    lines = text.splitlines()
    for line, after in itertools.pairwise([*lines, ""]):
        if len(line) > 100 or line != line.rstrip() or "\t" in line:
            found.append(line)
        opened = []
        for at, character in enumerate(re.sub(r"//.*", "", line)):
            if character in "([":
                opened.append(at)
            elif character in ")]" and opened:
                opened.pop()
        hangs = len(after) - len(after.lstrip())
        if opened and line.endswith(",") and hangs != opened[-1] + 1:
            found.append(f"{line}\n{after}")
    return found + re.findall(r"\n\n\n.*", text)


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_is_laid_out_as_people_write_it(name: str) -> None:
    for weights in formats_for(name):
        found = KERNELS[name].declared(HALF, format_of(weights)).source
        assert not layout_faults(found)


def test_lines_that_hang_elsewhere_are_seen() -> None:
    assert layout_faults("go(a,\n  b);") and layout_faults("a\n\n\nb") and layout_faults("a ")
    assert not layout_faults("go(a,\n   b);\n\nend();")


@pytest.mark.parametrize("name", ["rms_norm", "attention"])
def test_no_line_names_a_place_on_this_machine(name: str) -> None:
    source = KERNELS[name].declared(FLOAT, format_of("q8_0")).source
    named = set(re.findall(r'^#line \d+ "(.*)"', source, re.M))
    assert named
    assert all(Path(each).name == each for each in named)


def test_lines_are_those_of_the_files_that_they_come_from() -> None:
    file, line = KERNELS["rms_norm"].declared(FLOAT, format_of("f16")).library.places()["rms_norm"]
    own = (FOLDER / file).read_text().splitlines()
    assert own[line - 1].startswith("kernel void rms_norm(")


def test_a_line_directive_of_a_source_counts_behind_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("// one\n// two\n")
    source = (
        '#line 7 "own.metal"\n#include "two.h"\n'
        "kernel void k(device float* y [[buffer(0)]]) { y[0] = 1; }\n"
    )
    declared = Standalone(source, "k", {"y": output(float, (1,))}, include=[tmp_path])
    assert declared.library.places()["k"] == ("own.metal", 8)
