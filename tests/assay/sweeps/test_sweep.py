"""Sweeps in processes and on Dask: the same rows, whoever makes them and whatever ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import assay
from assay.compiler.foundry.formats import format_of
from assay.foundry.library import gemv
from assay.foundry.types import half
from assay.sweeps.measure import Bench, weight_bytes
from assay.sweeps.rows import Row
from assay.sweeps.store import read_rows
from assay.sweeps.worker import measured

from .spaces import small

OWN = """
from assay.foundry.library import gemv_columns
import os, signal

def slow(weights, rows, element, *, unroll=4):
    return gemv_columns(weights, rows, element, unroll=unroll)

def deadly(weights, rows, element, *, wanted=0):
    if rows == wanted:
        os.kill(os.getpid(), signal.SIGKILL)
    return gemv_columns(weights, rows, element)

def faulty(weights, rows, element):
    return 1 // (rows - rows)

def wrong(weights, rows, element):
    kernel = gemv_columns(weights, rows, element)
    kernel.declared.source = kernel.declared.source.replace("float sum = 0;", "float sum = nought;")
    return kernel
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return str(path)


@pytest.mark.slow
def test_rows_are_the_same_on_one_process_and_on_two(tmp_path: Path) -> None:
    tables = []
    for count in (1, 2):
        found = assay.sweep(small(), tmp_path / str(count), workers=count)
        tables.append(found.table.read_bytes())
    assert tables[0] == tables[1]


def test_failures_are_rows_with_their_reason_and_times_are_those_of_time(tmp_path: Path) -> None:
    import numpy as np

    found = assay.sweep(small(caches="cold"), tmp_path / "rows", workers=1)
    assert len(found.rows) == 12 and len(found.failures) == 4
    assert {row["rule"] for row in found.failures} == {"gemv-rows"}
    assert all(row["reason"].endswith("[gemv-rows]") for row in found.failures)
    row = next(r for r in found.rows if r["variant"] == "gemv" and r["n"] == 256)
    fp4 = format_of("fp4_128")
    packed = fp4.pack(np.zeros((256, 128), np.float32))
    values = {"matrix": packed.matrix, "scales": packed.scales, "x": np.zeros((1, 128), np.float16)}
    predicted = gemv(fp4, 256, half).time(chip="m1", warm=False, **values).dispatches[0].time
    assert row["seconds"] == pytest.approx(predicted.seconds)
    assert row["resident_threadgroups"] == predicted.occupancy.threadgroups
    assert sum(row["causes"].values()) == pytest.approx(1)


def test_errors_of_kernels_of_ones_own_are_rows_too(tmp_path: Path, own: str) -> None:
    makers = {name: f"{own}:{name}" for name in ("deadly", "faulty", "wrong")}
    declared = {
        "axes": {"chip": "m1", "n": [64, 128, 256], "k": 128, "variant": list(makers)},
        "variants": {"deadly": {"wanted": 128}},
        "makers": makers,
    }
    found = assay.sweep(declared, tmp_path / "rows", workers=1)
    by = {(row["variant"], row["n"]): row for row in found.rows}
    assert [by["deadly", n]["status"] for n in (64, 128, 256)] == ["ok", "failed", "ok"]
    assert "ended by signal 9" in by["deadly", 128]["reason"]
    assert "ZeroDivisionError" in by["faulty", 64]["reason"]
    assert "use of undeclared identifier 'nought'" in by["wrong", 64]["reason"]


@pytest.mark.parametrize(
    "ending",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_sweep_that_was_stopped_goes_on_without_loss_or_repeats(
    tmp_path: Path, ending: signal.Signals
) -> None:
    space = tmp_path / "space.toml"
    space.write_text(
        '[axes]\nvariant = "gemv_columns"\nchip = "m1"\nn = [64, 128, 192, 256]\n'
        "k = [128, 256, 384]\nunroll = 2\n"
    )
    folder = tmp_path / "rows"
    command = [sys.executable, "-m", "assay", "sweep", str(space), "-o", str(folder), "-j", "1"]
    running = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        # Shells have what they start in the background ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    parts = folder / "parts"
    while not parts.is_dir() or len(list(parts.glob("*.parquet"))) < 2:
        time.sleep(0.01)
        assert running.poll() is None, running.communicate()
    os.kill(running.pid, ending)
    _, said = running.communicate(timeout=30)
    assert "Traceback" not in said
    if ending != signal.SIGKILL:
        assert running.returncode == 128 + ending
        assert "of 12 rows are kept in" in said
    kept = len(list(parts.glob("*.parquet")))
    assert 2 <= kept < 12
    found = assay.sweep(space, folder, workers=1)
    assert found.measured == 12 - kept
    assert [row["key"] for row in found.rows] == [point.key for point in found.space.points]


def test_a_batch_on_a_worker_of_dask_gives_the_same_rows(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        found = assay.sweep(small(), tmp_path / "dask", scheduler=cluster.scheduler_address)
    bench = Bench()
    for point, row in zip(small().points, found.rows, strict=True):
        expected = bench.row(point)
        assert {name: row[name] for name in expected} == expected


def test_schedulers_that_do_not_answer_are_named(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(assay.SweepError, match="no Dask scheduler answers at nowhere"):
        assay.sweep(small(), tmp_path, scheduler="nowhere://x")
    with pytest.raises(assay.SweepError, match="give one of both"):
        assay.sweep(small(), tmp_path, scheduler="tcp://127.0.0.1:1", workers=2)


def test_without_arrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(assay.SweepError, match=r'pip install "assay-emulator\[sweep\]"'):
        assay.sweep(small(), tmp_path)


@pytest.mark.parametrize("name", ["fp4_128", "q4_0", "q4_0_split", "mlx_nvfp4_scaled", "f16"])
def test_bytes_of_weights_are_those_of_packed_ones(name: str) -> None:
    import numpy as np

    weights = format_of(name)
    packed = weights.pack(np.ones((7, 256), np.float32))
    assert weight_bytes(weights, 7, 256) == (packed.matrix.size, packed.scales.size)


def test_a_kernel_is_compiled_once_for_all_sizes_and_chips(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.compiler.foundry.kernels import Declared

    compiled: list[str] = []
    original = Declared.library.func

    def library(declared: Declared) -> object:
        compiled.append(declared.source)
        return original(declared)

    monkeypatch.setattr(Declared.library, "func", library)
    bench = Bench()
    rows: list[Row] = [bench.row(point) for point in small().points]
    assert [row["status"] for row in rows].count("ok") == 8
    assert len(compiled) == 2


def test_a_smaller_sample_runs_less_and_tells_nearly_the_same() -> None:
    from assay.sweeps.declaration import space

    axes = {"variant": "gemv_columns", "chip": "m1", "n": 8192, "k": 512}
    point = space({"axes": axes}).points[0]
    bench = Bench()
    whole, cheap = bench.row(point), bench.row(point, waves=1)
    assert cheap["seconds"] == pytest.approx(whole["seconds"], rel=0.1)
    assert cheap["sampled"] < whole["sampled"]
    assert measured([point.as_json()], 1)[1] == [cheap]


def test_a_finished_sweep_is_read_again_and_measures_nothing(tmp_path: Path) -> None:
    space = small(variants={"gemv": {}})
    first = assay.sweep(space, tmp_path, workers=1)
    assert read_rows(tmp_path) == list(first.rows) == read_rows(first.table)
    second = assay.sweep(space, tmp_path, workers=1)
    assert (first.measured, second.measured) == (4, 0)
    assert list(second.rows) == list(first.rows)
