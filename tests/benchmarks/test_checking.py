"""The benchmark of checked kernels: its verdicts, its refusals and its memory, without a peer."""

import json
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import checking, contenders, sources
from benchmarks.checking import Checked, Peak
from benchmarks.contenders import Timing
from benchmarks.measure import Row, report
from benchmarks.turns import Measure
from benchmarks.workloads import Workload, softmax, tiled_gemm, vector_add

WORK = vector_add(1024)
OURS = Checked(first=0.01, later=0.002)


@pytest.mark.parametrize("workload", [tiled_gemm(32), softmax(64), vector_add(512)])
def test_the_measured_kernels_are_right_under_the_checks(workload: Workload) -> None:
    found = checking.on_assay_checked(workload, workers=1, repetitions=1)
    assert found.first > 0
    assert found.later > 0


def test_a_finding_in_a_measured_kernel_stops_the_benchmark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    barriers = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    monkeypatch.setattr(contenders, "MSL", sources.MSL.replace(barriers, ""))
    with pytest.raises(SystemExit, match=r"tiled GEMM 32\^3.*(race|uninitialised)-"):
        checking.on_assay_checked(tiled_gemm(32), workers=1, repetitions=1)


def test_a_wrong_result_under_the_checks_has_no_speed() -> None:
    wrong = replace(WORK, expected=np.asarray(WORK.expected) + 1)
    with pytest.raises(SystemExit, match=r"vector add.*assay, checked: wrong result"):
        checking.on_assay_checked(wrong, workers=1, repetitions=1)


@pytest.mark.parametrize(
    ("seconds", "passed", "first_passed"),
    [(5.01, True, True), (4.99, True, False), (2.01, True, False), (1.99, False, False)],
)
def test_both_dispatches_count_against_oclgrind(
    seconds: float, passed: bool, first_passed: bool
) -> None:
    theirs = Timing(who="Oclgrind 1 --data-races", seconds=seconds)
    later, first, peer = checking.against_oclgrind(WORK, OURS, theirs)
    assert later.passed is passed
    assert first.passed is first_passed
    assert [row.seconds for row in (later, first, peer)] == [OURS.later, OURS.first, seconds]


@pytest.mark.parametrize(("share", "passed"), [(0.61, True), (0.59, False)])
def test_a_dispatch_counts_against_the_pocl_that_is_the_fastest(
    share: float, passed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"assay, checked": 0.002, "PoCL 1": 1.0, "PoCL 2": 0.002 * share}
    rounds = {who: [each] * 3 for who, each in seconds.items()}
    monkeypatch.setattr(contenders, "by_turns", lambda *_, **options: rounds)
    peers = {"PoCL 1": lambda _: 0.0, "PoCL 2": lambda _: 0.0}
    row, others = _against_pocl(peers)
    assert row.passed is passed
    assert "x PoCL 2" in row.ratio
    assert [each.seconds for each in others] == [1.0, 0.002 * share]


def _against_pocl(peers: dict[str, Measure]) -> tuple[Row, list[Timing]]:
    return contenders.against_pocl(
        WORK, lambda: None, peers, who="assay, checked", bar=0.6, repetitions=1
    )


def test_without_peers_the_bars_stay_open() -> None:
    rows = [checking.against_oclgrind(WORK, OURS, None)[0], _against_pocl({})[0]]
    assert [row.passed for row in rows] == [None, None]
    assert [row.ratio for row in rows] == ["no Oclgrind here", "no PoCL here"]


def test_without_oclgrind_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(checking, "_OCLGRIND_SIZES", {"vector_add": 512})
    monkeypatch.setattr(checking, "_FULL_SIZES", {"vector_add": 1024})
    monkeypatch.setattr(checking, "pocl", lambda threads: nullcontext(lambda *_: {}))
    monkeypatch.setattr(checking, "_peak", lambda *_: None)
    rows = checking.rows(threads=1, repetitions=1)
    assert "apt-get install oclgrind" in capsys.readouterr().err
    assert not any("Oclgrind" in row.who for row in rows)


@pytest.mark.parametrize(("extra", "passed"), [(1000e6, True), (1001e6, False)])
def test_checking_may_take_four_times_the_data_and_200_megabytes(
    extra: float, passed: bool
) -> None:
    peak = Peak(plain=300e6, checked=300e6 + extra, data=200e6)
    assert checking.memory_row(peak).passed is passed


def test_the_memory_of_checking_is_measured_in_processes_of_their_own() -> None:
    checking._peak(1024, 1)  # compiles: what a compiler takes is not the memory of checking
    count = 1 << 22
    peak = checking._peak(count, 1)
    assert peak is not None
    assert peak.data == 12 * count
    assert peak.plain > peak.data
    # One record of 8 bytes for 32 floats of the result, and what else a checker is made of.
    assert peak.extra < 2 * count


def test_the_peak_of_a_parent_is_not_that_of_its_child() -> None:
    ballast = np.ones(400 << 20, np.uint8)
    code = "from benchmarks.peak_memory import peak_bytes; print(peak_bytes())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 10 << 20 < int(done.stdout) < ballast.nbytes


def test_a_peer_that_fails_is_reported_with_its_last_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert contenders.peer(["benchmarks.peer_oclgrind", "no_such_kernel", "1"]) is None
    assert "does not run here" in capsys.readouterr().err


def test_a_row_without_seconds_is_printed_and_serialised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [Row(what="memory", who="assay", rate="5 MB", passed=False)]
    assert report("Title", rows, as_json=False) == 1
    assert "5 MB" in capsys.readouterr().out
    report("Title", rows, as_json=True)
    assert json.loads(capsys.readouterr().out)["rows"][0]["seconds"] is None
