"""`assay check`: kernels, modules and scripts; exit codes, formats, suppressions, bad input."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Done

Assay = Callable[..., Done]

PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"
GOOD = PRELUDE + (
    "kernel void add(device const float* x, device float* y,\n"
    "                uint i [[thread_position_in_grid]]) { y[i] = x[i] + 1.0f; }\n\n"
)
BAD = (
    GOOD
    + """\
//! [kernel.shift]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64 }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void shift(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i + 1];
}
kernel void reverse(device float* x, uint i [[thread_index_in_threadgroup]],
                    uint n [[threads_per_threadgroup]], uint g [[thread_position_in_grid]]) {
    threadgroup float t[1024];
    t[i] = x[g];
    x[g] = t[n - 1 - i];
}
"""
)
SCRIPT = """
import sys
from pathlib import Path
import Metal
import numpy as np

device = Metal.MTLCreateSystemDefaultDevice()
source = Path({source!r}).read_text()
library, error = device.newLibraryWithSource_options_error_(source, None, None)
function = library.newFunctionWithName_(sys.argv[1])
state, error = device.newComputePipelineStateWithFunction_error_(function, None)
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(state)
for index in range(2):
    data = np.zeros(64, np.float32)
    buffer = device.newBufferWithBytes_length_options_(data, 256, 0)
    encoder.setBuffer_offset_atIndex_(buffer, 0, index)
encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
print("done")
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.metal"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.metal"
    path.write_text(BAD)
    return path


@pytest.fixture
def script(tmp_path: Path, bad: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SCRIPT.format(source=str(bad)))
    return path


def test_a_file_without_findings_ends_with_0(assay: Assay, good: Path) -> None:
    done = assay("check", good)
    assert done.code == 0
    assumed, summary = done.out.split("\n\n")
    assert assumed.startswith("assumed for add: threadgroups of 256 threads; 639 threads; x: ")
    assert summary.startswith("1 kernel, no findings (looked for: race, init, bounds")


def test_findings_are_shown_with_their_lines_and_end_with_1(assay: Assay, bad: Path) -> None:
    done = assay("check", bad)
    assert done.code == 1
    assert f"{bad}:12:12: error: out-of-bounds read of 4 bytes at byte 256 of x" in done.out
    assert "   12 |     y[i] = x[i + 1];\n      |            ^" in done.out
    assert "[race-read-write]" in done.out
    assert f"{bad}:17:10" in done.out and f"{bad}:18:12" in done.out
    assert "assumed: threadgroups of 256 threads; 3 threadgroups" in done.out
    assert "3 kernels, 3 findings" in done.out


def test_one_kernel_and_some_checks_can_be_chosen(assay: Assay, bad: Path) -> None:
    assert assay("check", bad, "--function", "add").code == 0
    done = assay("check", bad, "--function", "reverse", "--check", "bounds,barrier")
    assert done.code == 0
    assert "1 kernel, no findings (looked for: bounds, barrier)" in done.out


def test_several_files_are_one_report(assay: Assay, good: Path, bad: Path) -> None:
    done = assay("check", good, bad, "--json")
    data = json.loads(done.out)
    assert done.code == 1 and not data["passed"]
    assert [Path(kernel["file"]).name for kernel in data["kernels"]] == ["good.metal"] + 3 * [
        "bad.metal"
    ]


def test_arguments_come_from_a_file(assay: Assay, good: Path, tmp_path: Path) -> None:
    toml = tmp_path / "args.toml"
    toml.write_text("[kernel.add]\nthreads = 65\narguments.x = { shape = 64 }\n")
    done = assay("check", good, "--args", toml)
    assert done.code == 1
    assert "out-of-bounds read of 4 bytes at byte 256 of x" in done.out


def test_macros_and_include_folders_reach_the_compiler(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "part.h").write_text("#define STEP 1\n")
    path = tmp_path / "k.metal"
    path.write_text(
        PRELUDE + '#include "part.h"\n#ifndef ON\n#error off\n#endif\nkernel void k(device int* x, '
        "uint i [[thread_position_in_grid]]) { x[i] = STEP + MORE; }\n"
    )
    assert assay("check", path).code == 2
    done = assay("check", path, "-I", tmp_path / "include", "-D", "ON", "-D", "MORE=2")
    assert done.code == 0, done.err


def test_a_race_shows_as_different_bits_by_seeds(assay: Assay, bad: Path) -> None:
    done = assay(
        "check",
        bad,
        "--function",
        "reverse",
        "--check",
        "bounds",
        "--seed",
        "1,2",
        "--seed",
        "3",
    )
    assert done.code == 1
    assert "[order-dependent-result]" in done.out
    assert "seeds 1, 2, 3)" in done.out


def test_suppressions_by_option_file_and_comment(assay: Assay, bad: Path, tmp_path: Path) -> None:
    toml = tmp_path / "accepted.toml"
    toml.write_text('[[suppress]]\nkind = "*"\nkernel = "reverse"\nreason = "a demonstration"\n')
    done = assay("check", bad, "--args", toml, "--suppress", "out-of-bounds-read:shift")
    assert done.code == 0
    assert "3 kernels, no findings, 3 suppressed" in done.out
    bad.write_text(BAD.replace("+ 1];", "+ 1]; // assay-suppress: bounds padded by the caller"))
    done = assay("check", bad, "--suppress", "*:reverse", "--suppress", "init:add")
    assert done.code == 0
    assert "note: --suppress init:add: nothing to suppress for 'init:add'" in done.out


def test_reports_go_to_a_file_and_the_text_to_the_log(
    assay: Assay, bad: Path, tmp_path: Path
) -> None:
    sarif, junit = tmp_path / "out.sarif", tmp_path / "out.xml"
    done = assay("check", bad, "--format", "sarif", "--output", sarif)
    assert done.code == 1 and "3 kernels, 3 findings" in done.out
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert assay("check", bad, "--format", "junit", "--output", junit).code == 1
    assert len(list(ElementTree.parse(junit).iter("failure"))) == 2


def test_a_script_is_checked_as_it_runs(assay: Assay, script: Path) -> None:
    done = assay("check", script, "--", "shift", "0")
    assert done.code == 1
    assert done.out.startswith("done\n")
    assert "program_source.metal:12:12: error: out-of-bounds read" in done.out
    assert "1 kernel, 1 finding" in done.out
    assert assay("check", script, "--", "add", "0").code == 0


def test_a_script_without_findings_keeps_its_exit_code(assay: Assay, script: Path) -> None:
    assert assay("check", script, "--", "add", "3").code == 3


def test_what_a_script_prints_does_not_spoil_json(assay: Assay, script: Path) -> None:
    done = assay("check", script, "--json", "--", "shift", "0")
    assert [finding["kernel"] for finding in json.loads(done.out)["findings"]] == ["shift"]
    assert "done" in done.err


def test_a_module_is_run_with_the_inputs_of_assay_run(assay: Assay, module: Path) -> None:
    done = assay("check", module, "--input", "2x2xf32=1,2,3,4", "--input", "3", "--seed", "1")
    assert done.code == 0, done.err
    assert "1 kernel, no findings" in done.out


def test_a_fault_in_a_module_is_a_finding(assay: Assay, tmp_path: Path) -> None:
    model = tmp_path / "gather.mlir"
    model.write_text(
        """
func.func @main(%table: tensor<32xf32>, %indices: tensor<4xi32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %rows = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%indices : tensor<4xi32>) outs(%empty : tensor<4xf32>) {
    ^bb0(%index: i32, %o: f32):
      %row = arith.index_cast %index : i32 to index
      %value = tensor.extract %table[%row] : tensor<32xf32>
      linalg.yield %value : f32
  } -> tensor<4xf32>
  return %rows : tensor<4xf32>
}
"""
    )
    done = assay("check", model, "--input", "32xf32=1", "--input", "4xi32=0 1 2 1000")
    assert done.code == 1
    assert "[out-of-bounds-read]" in done.out and "1 kernel, 1 finding" in done.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none.metal"], "none.metal: there is no such file"),
        (["."], ".: this is a folder; give its files: *.metal"),
        (["GOOD", "--check", "rac"], "--check rac: 'rac' is no check; there are race, init"),
        (["GOOD", "--check", ","], "--check: it is empty"),
        (["GOOD", "--function", "none"], "there is no kernel 'none'; there are add"),
        (["GOOD", "--format", "xml"], "--format xml: expected text, json, sarif, junit"),
        (["GOOD", "--format", "sarif", "--json"], "--json and --format sarif: give one"),
        (["GOOD", "--seed", "one"], "--seed one: expected numbers such as 1,2,3"),
        (["GOOD", "--suppress", ":x"], "--suppress :x: expected KIND"),
        (["GOOD", "-D", "3=4"], "-D 3=4: expected NAME or NAME=VALUE"),
        (["GOOD", "--args", "none.toml"], "none.toml: cannot be read"),
        (["GOOD", "--input", "4xf32=1"], "--input and --parameters are for modules"),
        (["GOOD", "x.vmfb"], "x.vmfb: there is no such file"),
        (["x.py", "--function", "add"], "--function is not for a Python script"),
        (["x.py"], "x.py: there is no such file"),
    ],
)
def test_bad_input_is_said_and_ends_with_2(
    assay: Assay, good: Path, arguments: list[str], complaint: str
) -> None:
    done = assay("check", *[str(good) if word == "GOOD" else word for word in arguments])
    assert done.code == 2
    assert complaint in done.err


def test_source_that_does_not_compile_is_bad_input(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "broken.metal"
    path.write_text(PRELUDE + "kernel void k(device float* x) { x[0] = y; }\n")
    done = assay("check", path)
    assert (done.code, done.err) == (2, "")
    assert done.out.startswith(f"{path}:3:41: error: use of undeclared identifier 'y'\n")
    assert "no kernels, no findings, 1 file not compiled" in done.out
    assert "Nothing was checked." in done.out


def test_files_beside_one_that_does_not_compile_are_checked(
    assay: Assay, good: Path, tmp_path: Path
) -> None:
    path = tmp_path / "broken.metal"
    path.write_text(PRELUDE + "kernel void k(device float* x) { x[0] = y; }\n")
    done = assay("check", path, good, "--json")
    report = json.loads(done.out)
    assert (done.code, report["passed"], len(report["kernels"])) == (2, False, 1)
    (error,) = report["uncompiled"]
    assert error["message"] == "use of undeclared identifier 'y'"


def test_a_terminal_shows_findings_in_colour(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from assay.cli.checks import output

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(
        output,
        "stdout",
        lambda: Console(force_terminal=True, width=80, color_system="standard"),
    )
    output._print("a.metal:7:2: error: it [is] wrong [kind]\n    7 | x\n      | ^\n  hint: no\n")
    assert capsys.readouterr().out == (
        "\x1b[1ma.metal:7:2: \x1b[0m\x1b[1;31merror:\x1b[0m it [is] wrong [kind]\n    7 | x\n"
        "\x1b[1;32m      | ^\x1b[0m\n\x1b[32m  hint: no\x1b[0m\n"
    )
