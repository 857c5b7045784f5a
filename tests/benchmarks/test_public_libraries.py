"""Libraries of public repositories: what the page says of them is what was found."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.apple import public, public_runs
from tests.support.metallib import Buffer, kernel, library

COPY = kernel(
    "passthrough",
    """  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(1) %b0, i64 %i
  %v = load float, ptr addrspace(1) %from
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %v, ptr addrspace(1) %to""",
    (Buffer(name="x", element="float", access="read"), Buffer(name="y", element="float")),
)


def test_the_page_has_the_stored_rows() -> None:
    page = public.PAGE.read_text()
    rows = json.loads(public.STORED.read_text())
    assert public.with_rows(page, rows) == page
    assert [set(row) for row in rows] == [{each.name for each in fields(public.Row)}] * len(rows)


def test_every_library_was_read_whole_and_its_kernel_is_right() -> None:
    rows = json.loads(public.STORED.read_text())
    assert [row["address"] for row in rows] == [each.address for each in public.LIBRARIES]
    assert all(row["read"] == row["kernels"] and row["passed"] for row in rows)
    versions = {tuple(map(int, row["air"].split("."))) for row in rows}
    assert len(versions) >= 11 and min(versions) == (1, 6) and max(versions) == (2, 8)


@pytest.mark.parametrize("run", [public_runs.copy, public_runs.scale])
def test_a_kernel_is_right_or_wrong(run: public_runs.Run) -> None:
    data = library({"passthrough": COPY})
    row = public.tried(
        public.Public(
            repository="a/b", commit="0", path="c", digest="", kernel="passthrough", run=run
        ),
        data,
    )
    assert (row.kernels, row.read, row.air, row.platform) == (1, 1, "2.6", "macOS")
    assert row.passed is (run is public_runs.copy)


def test_another_file_than_the_pinned_one_is_not_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in public.LIBRARIES:
        (tmp_path / each.digest).write_bytes(b"something else")
    before = public.STORED.read_bytes()
    assert public.main(["--public", "--from", str(tmp_path)]) == 1
    assert capsys.readouterr().out.count("cannot be had, or is another file now") == len(
        public.LIBRARIES
    )
    assert public.STORED.read_bytes() == before
