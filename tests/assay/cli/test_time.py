"""`assay time`, and `assay run --trace`."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.crash_trace import kept_timeline

from .conftest import Done

Assay = Callable[..., Done]
SOURCE = """#include <metal_stdlib>
using namespace metal;
static float twice(float x) { return x * FACTOR; }
kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { x[i] = twice(x[i]); }
kernel void other(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
"""
INPUTS = ("--input", "2x2xf32=1,2,3,4.5", "--input", "7")


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.metal"
    path.write_text(SOURCE)
    return path


def time(kernels: Path, *options: object) -> tuple[object, ...]:
    return ("time", kernels, "-D", "FACTOR=2.0f", "-f", "scale", *options)


def test_a_kernel_is_timed_on_the_grid_that_is_given(assay: Assay, kernels: Path) -> None:
    done = assay(*time(kernels, "--chip", "m4-max", "--grid", "64,4", "--threadgroup", "128"))
    assert done.code == 0, done.err
    assert "scale on Apple M4 Max" in done.out
    assert "64x4 threadgroups of 128 threads" in done.out
    assert "cycles" in done.out and "where the time goes" in done.out


def test_json_is_one_document_on_stdout(assay: Assay, kernels: Path) -> None:
    found = json.loads(assay(*time(kernels, "--grid", "8", "--json")).out)
    assert found["dispatches"][0]["kernel"] == "scale"
    assert found["seconds"] > 0


def test_chips_are_compared(assay: Assay, kernels: Path) -> None:
    options = ("--grid", "4096", "--threadgroup", "256", "--compare", "m1-max, m1", "--json")
    found = json.loads(assay(*time(kernels, *options)).out)
    assert [each["chip"]["key"] for each in found["results"]] == ["m1", "m1-max"]
    small, large = (each["seconds"] for each in found["results"])
    assert small > large
    text = assay(*time(kernels, *options[:-1])).out
    assert "m1-max" in text and "roofline" in text


def test_lines_are_listed_with_their_cost(assay: Assay, kernels: Path) -> None:
    out = assay(*time(kernels, "--grid", "64", "--lines")).out
    assert str(kernels) in out
    assert "kernel void scale" in out and "#include" in out


def test_arguments_come_from_a_file(assay: Assay, kernels: Path, tmp_path: Path) -> None:
    args = tmp_path / "args.toml"
    args.write_text("[kernel.scale]\nthreads = 1000\nthreadgroup = 100\n")
    assert "10 threadgroups of 100 threads" in assay(*time(kernels, "--args", args)).out


def test_a_file_of_arguments_for_another_kernel_is_refused(
    assay: Assay, kernels: Path, tmp_path: Path
) -> None:
    args = tmp_path / "args.toml"
    args.write_text("[kernel.scal]\nthreads = 1000\n")
    done = assay(*time(kernels, "--args", args))
    assert done.code == 2
    assert "args.toml:1: there is no kernel 'scal' in" in done.err.replace("\n", " ")


def test_timeline_and_picture_go_to_files(assay: Assay, kernels: Path, tmp_path: Path) -> None:
    trace, plot = tmp_path / "run.html", tmp_path / "run.svg"
    assert assay(*time(kernels, "--grid", "64", "--trace", trace, "--plot", plot)).code == 0
    assert "<html" in trace.read_text()[:300].lower()
    assert plot.read_text().startswith("<svg")


def test_a_module_is_timed_dispatch_by_dispatch(assay: Assay, module: Path) -> None:
    done = assay("time", module, "--chip", "m2-pro", *INPUTS, "--json")
    found = json.loads(done.out)
    assert found["chip"]["key"] == "m2-pro"
    assert len(found["dispatches"]) == 1
    assert found["gpu_seconds"] > found["seconds"] > 0
    assert found["stuck_command_buffers"] == []
    quick = json.loads(assay("time", module, "--chip", "m2-pro", *INPUTS, "--quick", "--json").out)
    assert quick["seconds"] == found["seconds"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--chip", "m17"), "chip 'm17' is not known; did you mean 'm1-7'? there are a14"),
        (("--compare", "m1,m17"), "chip 'm17' is not known"),
        (("-f", "missing"), "there is no kernel 'missing'; there are scale, other"),
        (("--grid", "0"), "--grid 0: expected one to three positive numbers"),
        (("--grid", "1,2,3,4"), "expected one to three positive numbers"),
        (("--grid", "4", "--threads", "4"), "threads or threadgroups, not both"),
        (("--threadgroup", "4096"), "4096"),
        (("--input", "4xf32=1"), "--input is for modules"),
        (("--trace", "run.txt"), "the name says no trace format"),
        (
            ("--trace", "/missing/run.html"),
            "--trace /missing/run.html: there is no folder /missing",
        ),
        (("--plot", "run.png"), "ends in .svg or .html"),
        (("--plot", "/missing/run.svg"), "there is no folder /missing"),
        (("--compare", ","), "--compare ,: expected chips"),
        (("--args", "missing.toml"), "missing.toml: cannot be read"),
    ],
)
def test_what_cannot_be_timed_is_said_in_one_line(
    assay: Assay, kernels: Path, options: tuple[str, ...], message: str
) -> None:
    done = assay(*time(kernels, *options))
    assert done.code == 2, (done.out, done.err)
    assert message in done.err.replace("\n", " ")


def test_all_kernels_of_a_file_are_one_table(assay: Assay, kernels: Path) -> None:
    done = assay("time", kernels, "-D", "FACTOR=1", "--compare", "m4-max")
    assert done.code == 0, done.err
    rows = [line.split()[:2] for line in done.out.splitlines() if line[:5] in ("scale", "other")]
    assert rows == [["scale", "m1"], ["other", "m1"]]
    assert "assumed for scale, other: threadgroups of 256 threads" in done.out


@pytest.mark.parametrize("chosen", [("-f", "other", "-f", "scale"), ("-f", "[so]*")])
def test_kernels_are_chosen_by_names_and_patterns_in_the_order_of_the_source(
    assay: Assay, kernels: Path, chosen: tuple[str, ...]
) -> None:
    with kernels.open("a") as source:
        source.write("kernel void left_out(device float* x) { x[0] = 1; }\n")
    done = assay("time", kernels, "-D", "FACTOR=1", *chosen)
    assert done.code == 0, done.err
    rows = [line.split()[:2] for line in done.out.splitlines() if " m1 " in line]
    assert rows == [["scale", "m1"], ["other", "m1"]]


def test_a_pattern_that_means_one_kernel_shows_it_in_detail(assay: Assay, kernels: Path) -> None:
    done = assay("time", kernels, "-D", "FACTOR=1", "-f", "sc*")
    assert done.code == 0 and "scale on Apple M1" in done.out


def test_a_module_is_timed_by_one_function(assay: Assay, module: Path) -> None:
    done = assay("time", module, "-f", "main", "-f", "main2", *INPUTS)
    assert done.code == 2 and "several --function are for .metal files" in done.err


def test_the_timelines_of_all_kernels_are_one_trace(
    assay: Assay, kernels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "both.pftrace"
    done = assay("time", kernels, "-D", "FACTOR=1", "--trace", out)
    assert done.code == 0, done.err
    summary = assay("trace", "summary", out, "--limit", "3")
    assert "predicted: scale | " in summary.out and "predicted: other of" in summary.out


def test_a_kernel_that_cannot_be_timed_does_not_keep_the_others_from_it(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_FUEL", str(2**16))
    path = tmp_path / "two.metal"
    path.write_text(
        "kernel void good(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"
        "kernel void bad(device float* x, uint i [[thread_position_in_grid]]) {\n"
        "    while (x) x[i]++;\n"
        "}\n"
    )
    done = assay("time", path)
    assert done.code == 1
    assert "good" in done.out and "GB/s" in done.out
    assert "bad" in done.err and "1 kernel not timed" in done.err


def test_source_that_does_not_compile_shows_the_compilers_words(
    assay: Assay, kernels: Path
) -> None:
    done = assay("time", kernels, "-f", "scale")
    assert done.code == 2 and "FACTOR" in done.err


def test_kernel_options_are_not_for_modules(assay: Assay, module: Path) -> None:
    done = assay("time", module, "--grid", "4", *INPUTS)
    assert done.code == 2 and "--grid is for .metal files" in done.err


def test_a_kernel_without_arithmetic_and_traffic_has_no_bound(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "nothing.metal").write_text("kernel void nothing() {}")
    done = assay("time", tmp_path / "nothing.metal", "--grid", "100000", "--threadgroup", "32")
    assert (done.code, done.err) == (0, "")
    assert "roofline      no bound: no floating-point operations" in done.out


def test_a_file_without_kernels_is_told(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "none.metal").write_text("constant int x = 1;")
    done = assay("time", tmp_path / "none.metal")
    assert done.code == 2 and "there is no kernel in it" in done.err.replace("\n", " ")


def test_a_folder_is_no_kernel(assay: Assay, tmp_path: Path) -> None:
    done = assay("time", tmp_path)
    assert done.code == 2 and "is a folder; expected a file" in done.err.replace("\n", " ")


def test_a_file_that_is_not_there_is_named(assay: Assay) -> None:
    done = assay("time", "missing.metal")
    assert done.code == 2 and "missing.metal: there is no such file" in done.err


def test_a_run_leaves_a_timeline_beside_its_results(
    assay: Assay, module: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "run.pftrace"
    done = assay("run", module, *INPUTS, "--trace", trace, "--chip", "m4")
    assert done.code == 0 and "result[1]: i32=14" in done.out
    assert trace.stat().st_size > 500


def test_a_run_refuses_what_is_no_chip_or_trace(assay: Assay, module: Path) -> None:
    assert "not known" in assay("run", module, *INPUTS, "--trace", "a.html", "--chip", "x").err
    assert "no trace format" in assay("run", module, *INPUTS, "--trace", "a.txt").err


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_end_leaves_the_timeline_up_to_there(name: str, tmp_path: Path) -> None:
    number = signal.Signals[name]
    saved: list[Path] = []
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as end, kept_timeline(tmp_path, saved.append):
            signal.raise_signal(number)
        assert end.value.code == 128 + number and saved == [tmp_path]
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signals")
def test_a_run_that_is_to_outlive_its_terminal_does(tmp_path: Path) -> None:
    saved: list[Path] = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does
    try:
        with kept_timeline(tmp_path, saved.append):
            signal.raise_signal(signal.SIGHUP)
        assert not saved
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("command", ["run", "time"])
def test_a_run_that_fails_leaves_the_timeline_up_to_there(
    assay: Assay, tmp_path: Path, command: str
) -> None:
    model = tmp_path / "fails.mlir"
    model.write_text(
        """
func.func @main(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %sum = arith.addf %x, %x : tensor<4xf32>
  %barrier = util.optimization_barrier %sum : tensor<4xf32>
  %c = arith.constant 3 : i32
  %ok = arith.cmpi eq, %n, %c : i32
  cf.assert %ok, "n is not three"
  %more = arith.mulf %barrier, %x : tensor<4xf32>
  return %more : tensor<4xf32>
}
"""
    )
    trace = tmp_path / "run.html"
    inputs = ("--input", "4xf32=1", "--input", "4", "--trace", trace)
    done = assay(command, model, *inputs)
    assert done.code != 0 and "n is not three" in done.err
    assert trace.is_file() and "up to its end" in done.err.replace("\n", " ")
