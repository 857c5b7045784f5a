"""What was published of results on Apple GPUs holds here, or is said not to."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import CompileOptions, compile_library
from assay.hw.apple.facts.results import PublishedResult, published_results, results_of
from assay.hw.facts import SpecError, parse
from assay.sim.simt import Memory, dispatch

BITS = {
    "int": np.uint32,
    "uint": np.uint32,
    "float": np.uint32,
    "half": np.uint16,
    "bfloat": np.uint16,
    "uchar": np.uint8,
}
KERNEL = """#include <metal_stdlib>
using namespace metal;
kernel void k(device const {x}* xs [[buffer(0)]], device {y}* ys [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {{
    {x} x = xs[i];
    {y} y;
    {code}
    ys[i] = y;
}}
"""


def emulated(result: PublishedResult) -> tuple[int, ...]:
    """What it gives here, in bits."""
    source = KERNEL.format(x=result.x, y=result.y, code=result.code)
    options = CompileOptions(fast_math=result.fast_math)
    program = compile_library(source, options=options).function("k").program()
    given = np.array(result.given, BITS[result.x])
    found = np.zeros(len(given), BITS[result.y])
    memory = Memory()
    buffers = [memory.register(each.view(np.uint8), name="buffer") for each in (given, found)]
    size = (len(given), 1, 1)
    dispatch(program.specialise(size), memory, buffers, threads=size)
    return tuple(int(each) for each in found)


@pytest.mark.parametrize("result", published_results(), ids=lambda each: each.name)
def test_a_published_result_holds_or_is_said_to_differ(result: PublishedResult) -> None:
    assert result.emulated != result.published, "what does not differ should not say so"
    assert emulated(result) == (result.emulated or result.published)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('source = "nobody"', "which \\[sources\\] lacks"),
        ("published = [1]", "lists of several lengths"),
        ('published = "1"', "must be a list of whole numbers"),
        ('confidence = "sure"', "is one of high, medium, low"),
        ("emulated = [1, 2]", "because"),
    ],
)
def test_a_result_that_is_not_well_described_is_refused(line: str, message: str) -> None:
    lines = {
        "x": '"int"',
        "y": '"int"',
        "code": '"y = x;"',
        "given": "[1, 2]",
        "published": "[1, 2]",
        "fast_math": "false",
        "source": '"someone"',
        "confidence": '"high"',
    }
    key, value = line.split(" = ")
    entries = "\n".join(f"{k} = {v}" for k, v in {**lines, key: value}.items())
    file = parse("r.toml", f'[sources]\nsomeone = "said so"\n[results.one]\n{entries}\n')
    with pytest.raises(SpecError, match=message):
        results_of(file)
