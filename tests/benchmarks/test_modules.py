"""The benchmark of modules, on a small network."""

from pathlib import Path

import pytest

from benchmarks import modules


@pytest.mark.slow
def test_a_split_beats_the_best_device_alone_and_its_timeline_shows_the_overlap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = modules.rows(threads=1, repetitions=1, size=64, width=0.25)
    bars = [row for row in rows if row.bar]
    assert len(bars) == 2 and all(row.passed for row in bars)
    assert (tmp_path / "modules-timeline.html").stat().st_size > 10_000
    beside = bars[1].rate.partition("%")[0]
    assert int(beside) > 10
