"""The benchmark of what chance does to a kernel's time: its verdict, and one process of it."""

import json
import sys

import pytest

from benchmarks import spread


def test_processes_that_differ_by_more_than_the_bar_fail() -> None:
    assert spread.spread_row([0.010, 0.011, 0.0114]).passed
    row = spread.spread_row([0.010, 0.011, 0.012])
    assert row.passed is False
    assert row.ratio == "1.20 x the fastest"


def test_a_process_prints_the_time_of_one_dispatch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["spread", "3"])
    spread.main()
    assert json.loads(capsys.readouterr().out)["seconds"] > 0
