"""The picture of a threadgroup: rows of simdgroups, functions, waits, and the cycles asked for."""

import re
import xml.etree.ElementTree as xml
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.foundry import Kernel, Standalone, custom, output, tensor
from assay.prediction import TimeResult
from assay.prediction.timelines.picture import plot_timeline

SOURCE = """
#include <metal_stdlib>
using namespace metal;
void fetch(const device float* x, threadgroup float* tile, uint i) { tile[i] = x[i]; }
float add_up(const threadgroup float* tile, uint i) {
    float sum = 0;
    for (uint k = 0; k < 64; ++k) sum += tile[(i + k) % 64];
    return sum;
}
void work(const device float* x, device float* y, threadgroup float* tile, uint i, uint simdgroup) {
    if (simdgroup == 0) {
        fetch(x, tile, i);
        fetch(x, tile, i + 32);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = add_up(tile, i);
}
kernel void staged(const device float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   uint i [[thread_index_in_threadgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float tile[64];
    work(x, y, tile, i, simdgroup);
}
"""
X = np.arange(64, dtype=np.float32)


@cache
def timed() -> TimeResult:
    found = assay.time(
        SOURCE, "staged", X, np.zeros_like(X), threads=64, threadgroup=64, timeline=True
    )
    assert isinstance(found, TimeResult)
    return found


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in xml.fromstring(svg).iter() if each.tag.endswith("text")]


def boxes(svg: str, title: str) -> list[tuple[float, float, float]]:
    """(left, right, top) of those that have the title."""
    found = []
    for box in xml.fromstring(svg).iter():
        if box.tag.endswith("rect") and [each.text for each in box] == [title]:
            left, width = float(box.get("x", "")), float(box.get("width", ""))
            found.append((left, left + width, float(box.get("y", ""))))
    return found


def test_simdgroups_are_rows_and_functions_and_waits_are_in_them() -> None:
    svg = timed().plot_timeline().svg
    # Everything is in `work`: that tells nothing, what it calls does.
    assert {"simdgroup 0", "simdgroup 1", "fetch", "add_up", "barrier"} <= set(texts(svg))
    rows = {top for *_, top in boxes(svg, "add up")}
    assert len(rows) == 2
    # The other one only finds that it has nothing to fetch.
    fetching = [sum(b - a for a, b, at in boxes(svg, "fetch") if at == top) for top in sorted(rows)]
    assert fetching[0] > 5 * fetching[1]


def test_the_simdgroup_that_waits_does_so_until_the_other_has_loaded() -> None:
    svg = timed().plot_timeline().svg
    first, second = sorted({top for *_, top in boxes(svg, "add up")})
    waits = [right for _, right, top in boxes(svg, "barrier") if top == second]
    loaded = max(right for _, right, top in boxes(svg, "fetch") if top == first)
    assert max(waits) >= loaded - 1
    assert min(left for left, *_ in boxes(svg, "add up")) >= loaded - 1


def test_cycles_can_be_chosen() -> None:
    whole = [each for each in texts(timed().plot_timeline().svg) if re.fullmatch(r"[\d,]+", each)]
    assert whole[0] == "0"
    part = timed().plot_timeline(cycles=(100, 300))
    assert "200 cycles" in " ".join(texts(part.svg))
    assert {"100", "300"} <= set(texts(part.svg))


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ValueError, match="nothing runs from cycle 1e\\+09 to 2e\\+09"):
        timed().plot_timeline(cycles=(1e9, 2e9))
    with pytest.raises(ValueError, match="has 1 dispatches, no 3"):
        timed().plot_timeline(dispatch=3)
    plain = assay.time(SOURCE, "staged", X, X, threads=64, threadgroup=64)
    with pytest.raises(ValueError, match="time it with timeline=True"):
        plot_timeline(plain)


def test_a_picture_is_svg_or_a_page_and_nothing_else(tmp_path: Path) -> None:
    picture = timed().plot_timeline()
    picture.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text().endswith("</svg>")
    assert picture._repr_svg_() == picture.svg
    with pytest.raises(ValueError, match=r"run\.png: a picture is written as \.svg or \.html"):
        picture.save(tmp_path / "run.png")


def test_kernels_of_python_are_drawn_by_one_call() -> None:
    arguments = {"x": tensor(float), "y": output(float, "x")}
    kernel = Kernel(Standalone(SOURCE, "staged", arguments), grid=custom(lambda _: (1,), (64,)))
    svg = kernel.plot(chip="m4-max", x=X).svg
    assert {"staged on Apple M4 Max", "fetch", "add_up"} <= set(texts(svg))
    traced = kernel.time(chip="m4-max", timeline=True, x=X)
    assert "on Apple M4 Max" in traced.trace().title
