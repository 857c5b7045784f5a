"""Kernels to prove, from MSL: the mutation corpus, and the ring of the page on pipelines."""

from __future__ import annotations

from pathlib import Path

from assay.checks import read_annotations
from assay.compiler.msl import compile_library
from assay.compiler.verify import Answer, Launch, Pointers, prove
from assay.proofs.names import names_of
from tests.checks.mutation.campaign import KERNELS

ALWAYS = ("barriers", "threadgroup races")
NO_RACES = tuple(Answer(about=about, verdict="proved") for about in (*ALWAYS, "initialised"))
"""What is taken for granted where a test is about rings alone."""
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
RING = (Path(__file__).parent / "ring.metal").read_text()
SMALL_RING = """\
#include <metal_stdlib>
using namespace metal;
#define ALL threadgroup_barrier(mem_flags::mem_threadgroup)
kernel void k(device const float* x, device float* y, constant uint& n,
              uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    threadgroup float a[2][64];
    float sum = 0;
    a[0][t] = x[t];
    ALL;
    for (uint k = 0; k < n; ++k) {
        if (k + 1 < n) a[(k + 1) % 2][t] = x[64 * (k + 1) + t];
        sum += a[k % 2][63 - t];
        ALL;
    }
    y[64 * g + t] = sum;
}
"""
"""A ring of two buffers that is right, of the kernel `k`, with threadgroups of 64 threads."""
WITH_ARRAYS = [
    path for path in KERNELS if "threadgroup " in path.read_text().split("kernel void")[1]
]
"""Kernels of the corpus with threadgroup memory."""


def proved(
    source: str,
    *about: str,
    holds: tuple[str, ...] = (),
    pointers: Pointers | None = None,
    ragged: bool = False,
    offers: bool = False,
) -> dict[str, Answer]:
    """What is found of the only kernel of a source, by property: barriers, threadgroup races and
    those that are named; assumptions that would help are looked for if `offers`.
    """
    library = compile_library(source)
    (name,) = library.function_names
    size = read_annotations(source, "source.metal").setups[name][0].threadgroup
    assert size is not None
    kernel = library.function(name)
    names = names_of(kernel)
    launch = Launch(size=size, names=names, holds=holds, pointers=pointers, ragged=ragged)
    asked = {*ALWAYS, *about}
    return {each.about: each for each in prove(kernel.program(), launch, asked, offers=offers)}


def without_barrier(source: str, *numbers: int) -> str:
    """A source less some of its barriers, by number from 0."""
    parts = source.split(BARRIER)
    joints = ["" if at in numbers else BARRIER for at in range(len(parts) - 1)]
    return "".join(text for pair in zip(parts, [*joints, ""], strict=True) for text in pair)
