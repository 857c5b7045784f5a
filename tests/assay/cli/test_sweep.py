"""`assay sweep`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

SPACE = """
[axes]
chip = ["m1", "m4-max"]
n = [64, 128]
k = 128
variant = "gemv_columns"
rows_per_lane = [2, 3]
"""


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(SPACE)
    return path


def test_it_shows_the_best_kernels_and_says_where_rows_and_page_are(
    assay: Callable[..., Done], space: Path
) -> None:
    done = assay("sweep", space.name, "-j", 1)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == [
        "weights",
        "chip",
        "m",
        "x",
        "n",
        "x",
        "k",
        "best",
        "kernel",
        "time",
    ]
    assert lines[1].split()[:4] == ["fp4_128", "m1", "1x64x128", "gemv_columns"]
    assert "8 points, 0 of them known before, 4 without a time" in done.out
    assert "small.sweep/sweep.parquet: all rows" in done.out
    page = Path("small.sweep/index.html").read_text()
    assert page.startswith("<!doctype html>")

    again = assay("sweep", space.name, "--json", "--page", "other.html")
    document = json.loads(again.out)
    assert (document["points"], document["measured"], document["failed"]) == (8, 0, 4)
    assert document["best"][0]["kernel"] == "gemv_columns rows_per_lane=2"
    assert document["page"] == "other.html" and Path("other.html").is_file()


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (SPACE.replace("chip", "chips"), (), "small.toml: there is no axis 'chips'"),
        (SPACE, ("--scheduler", "nowhere://x"), "no Dask scheduler answers at nowhere://x"),
        (SPACE, ("-o", "small.toml"), "small.toml: is a file; expected a folder"),
        (SPACE, ("--page", "none/a.html"), "--page none/a.html: there is no folder none"),
        (SPACE.replace("[2, 3]", "3"), ("-j", "1"), "no point has a time; the first: 64 rows, 3"),
    ],
)
def test_what_cannot_be_is_said_in_one_message(
    assay: Callable[..., Done], space: Path, text: str, options: tuple[str, ...], said: str
) -> None:
    space.write_text(text)
    done = assay("sweep", space.name, *options)
    assert done.code != 0
    assert said in done.err


def test_tune_writes_a_selector_and_tells_what_it_loses_on_other_sizes(
    assay: Callable[..., Done], space: Path
) -> None:
    space.write_text(SPACE.replace("[64, 128]", "96"))
    assert assay("sweep", space.name, "-j", 1, "-o", "rows").code == 0
    space.write_text(SPACE)
    done = assay("tune", space.name, "-j", 1, "--against", "rows", "--given-only")
    assert done.code == 0, done.err
    assert "for 4 sizes on chips; the space has 8 points" in done.out
    assert "small.selector.toml: the selector" in done.out
    assert "against the best of 2 sizes on chips it loses 0.0%" in done.out
    assert Path("small.selector.toml").read_text().count("[[tuned]]") == 2

    again = json.loads(assay("tune", space.name, "-j", 1, "-o", "b.toml", "--json").out)
    assert again["kernels"][0]["kernel"] == "gemv_columns rows_per_lane=2"
    assert again["loss"] is None and Path("b.toml").is_file()
    assert "the sweep is not done" in assay("tune", space.name, "--against", "none").err
