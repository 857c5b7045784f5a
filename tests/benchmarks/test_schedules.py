"""The benchmark of the NPU's schedules: its figures and its verdicts."""

import json

import pytest

from benchmarks import schedules
from benchmarks.schedules import Compared, Scheduled
from tests.compiler.graph.models import IMPORTABLE
from tests.models.tflite.small import int8_cnn


def _one(cycles: int, roofline: int = 1, least: int = 0) -> Scheduled:
    summary = {"cycles": cycles, "roofline": roofline, "least": max(roofline, least)}
    return Scheduled(summary=summary, compile_seconds=1.0, compile_memory=1)


def _compared(vendor: int, usual: Scheduled) -> Compared:
    by = {"vendor": _one(vendor), "overlap": usual}
    return Compared(network="mobilenet_v2", published=(6.983, 7.248), by=by)


def test_bars_that_are_met_are_no_failures() -> None:
    each = _compared(5_600_000, _one(2_800_000, roofline=2_000_000))
    assert each.faster == 2.0
    assert each.off() == 0.0, "7 ms is between the published times"
    assert each.missed() == []


def test_each_missed_bar_is_named() -> None:
    each = _compared(4_000_000, _one(3_200_000, roofline=1_600_000))
    assert each.missed() == [
        "1.25 times faster, not 1.6",
        "-28% from what is published",
        "2.00 times the roofline, not 1.5",
    ]


def test_a_bar_that_no_order_of_operators_reaches_is_missed_with_the_reason() -> None:
    each = _compared(5_600_000, _one(3_200_000, roofline=2_000_000, least=3_100_000))
    assert each.missed() == [
        "1.60 times the roofline, not 1.5; operators in order take at least 1.55"
    ]


@pytest.mark.skipif(not IMPORTABLE, reason="converter or IREE are missing")
def test_a_network_is_compiled_by_both_schedules(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(schedules.NETWORKS, "small", int8_cnn)
    assert schedules.main(["small", "--compile-only", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (
        found["faster"]
        == found["by"]["vendor"]["milliseconds"] / (found["by"]["overlap"]["milliseconds"])
    )
    assert found["by"]["overlap"]["compile_seconds"] > 0
