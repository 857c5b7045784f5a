"""All kernels of compiled libraries are read by workers, whose results are kept and counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.apple.import_counts import main, reason
from benchmarks.apple.importing import Import, import_all, tasks
from benchmarks.apple.workers import stored
from tests.support.metallib import Buffer, kernel, library

OUT = (Buffer(name="y", element="float"),)
GOOD = kernel("good", "  store float 1.0, ptr addrspace(1) %b0", OUT)
UNKNOWN = kernel(
    "unknown",
    "  %r = call float @air.guess.f32(float 1.0)\n  store float %r, ptr addrspace(1) %b0",
    OUT,
    declared="declare float @air.guess.f32(float)",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.metallib"
    path.write_bytes(library({"good": GOOD, "unknown": UNKNOWN}))
    return path


def counts(arguments: Sequence[object], capsys: pytest.CaptureFixture[str]) -> tuple[int, object]:
    code = main(["--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


def test_kernels_are_counted_and_those_refused_by_reason(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = counts(["--import", file, "--into", file.with_suffix(".jsonl")], capsys)
    assert code == 1
    assert isinstance(found, dict)
    row = found["k.metallib"]
    assert (row["tried"], row["read"]) == (2, 1)
    assert row["refused"] == {"it calls 'air.guess.fN', which is not known here": 1}
    assert row["cold_ms"] > row["warm_ms"] > 0


def test_kernels_that_another_run_has_read_are_skipped(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = []
    for skip in (0, 1, 2):
        into = file.with_suffix(f".{skip}")
        counts(["--import", file, "--into", into, "--skip", skip], capsys)
        read.append([row.kernel for row in stored(into, Import)])
    assert read == [read[0], read[0][1:], []]


def test_a_run_goes_on_behind_the_last_whole_line(file: Path) -> None:
    into = file.with_suffix(".jsonl")
    every = tasks([file], 1.0, 7)
    first = list(import_all(every[:1], into, workers=1, limit=60, seconds=60))
    with into.open("a") as lines:
        lines.write('{"library": "k.meta')
    second = list(import_all(every, into, workers=1, limit=60, seconds=60))
    assert [row.kernel for row in first + second] == [name for _, name in every]
    assert stored(into, Import) == first + second


def test_what_takes_too_long_is_refused_and_the_next_goes_on(file: Path) -> None:
    rows = import_all(
        tasks([file], 1.0, 7), file.with_suffix(".jsonl"), workers=1, limit=0.0, seconds=60
    )
    assert {row.problem for row in rows} == {"it takes more than 0 s"}


def test_a_reason_is_without_the_names_and_numbers_of_its_kernel() -> None:
    one = reason("a.metallib: kernel 'f16': it calls 'air.x.v4f32'\nmore")
    assert one == reason("b.metallib/g.ll:3:1: kernel 'g': it calls 'air.x.v2f16'")
