"""compile, diff, inspect, check-module, demo, and what they have in common."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.models.zoo import MLIR
from tests.support.tool_runs import tool_runs

from .conftest import Done

Assay = Callable[..., Done]
CHECKS = Path(__file__).parents[2] / "models" / "check"


def test_compile_tells_of_a_work_around(assay: Assay, tmp_path: Path) -> None:
    done = assay("compile", MLIR / "matmul_i8_dot.mlir", "-o", tmp_path / "m.vmfb", "--json")
    assert done.code == 0
    assert "dot product" in json.loads(done.out)["notes"][0]


def test_compile_says_what_iree_cannot_do(assay: Assay) -> None:
    done = assay("compile", MLIR / "divide_unsigned.mlir", "--json")
    assert done.code == 1
    assert "unsigned division" in done.err
    assert json.loads(done.out)["error"]["kind"] == "compile"


def test_text_of_another_version_of_mlir_is_told(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "old.mlir"
    path.write_text(
        """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.clamp %a {min_val = 0.0 : f32, max_val = 1.0 : f32, of = {a = 1}}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
    )
    done = assay("compile", path)
    assert done.code == 1
    assert f"{path}:3:" in done.err
    assert "write that operation in the generic form" in done.err


@pytest.mark.parametrize("name", ["bad.mlir", "bad.onnx", "bad.tflite", "bad.mlirbc", "bad.txt"])
def test_a_damaged_model_is_told(assay: Assay, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(np.random.default_rng(0).bytes(1000))
    done = assay("compile", path)
    assert done.code == 1
    assert str(path) in done.err


def test_a_module_is_not_compiled_again(assay: Assay, module: Path) -> None:
    assert "compiled module already" in assay("compile", module).err


def test_equal_results_end_well(assay: Assay, add: Path) -> None:
    done = assay("diff", add, "--json")
    assert done.code == 0
    report = json.loads(done.out)
    assert report["equal"]
    assert [result["max_ulp"] for result in report["results"]] == [0, 0]


def test_different_results_end_with_code_1_and_the_first_difference(
    assay: Assay, module: Path
) -> None:
    given = ("--input", "2x2xf32=1", "--input", "1")
    wanted = ("--reference", "2x2xf32=2,2,2.5,2", "--reference", "2")
    done = assay("diff", module, *given, *wanted)
    assert done.code == 1
    assert "result 0: first difference at [1, 0]: got 2.0, expected 2.5" in done.out


def test_a_module_alone_cannot_be_compared(assay: Assay, module: Path) -> None:
    done = assay("diff", module)
    assert done.code == 2
    assert "--reference" in done.err


def test_a_module_for_both_devices_is_compared_with_itself(
    assay: Assay, add: Path, tmp_path: Path
) -> None:
    both = tmp_path / "both.vmfb"
    assert assay("compile", add, "--target", "both", "-o", both).code == 0
    assert assay("diff", both).code == 0


def test_inspect_lists_functions_and_kernels(assay: Assay, two_functions: Path) -> None:
    done = assay("inspect", two_functions)
    assert done.code == 0
    assert "double_dispatch_0" in done.out
    report = json.loads(assay("inspect", two_functions, "--json").out)
    assert [function["name"] for function in report["functions"]] == ["double", "scale"]
    assert report["kernels"][0]["threadgroup_size"] == [32, 1, 1]


def test_inspect_prints_the_source_of_a_kernel(assay: Assay, two_functions: Path) -> None:
    source = assay("inspect", two_functions, "--msl", "double").out
    assert source.startswith("#include <metal_stdlib>")
    assert "several kernels match" in assay("inspect", two_functions, "--msl", "dispatch").err
    assert "no kernel matches" in assay("inspect", two_functions, "--msl", "nothing").err


def test_check_module_lists_what_failed(assay: Assay) -> None:
    done = assay("check-module", CHECKS / "failing.mlir")
    assert done.code == 1
    assert "[  FAILED  ] module.fails_eq" in done.out
    assert "[       OK ] module.passes_eq" in done.out
    assert "first failure occurs at index 1" in done.out


def test_check_module_runs_a_part(assay: Assay) -> None:
    done = assay("check-module", CHECKS / "failing.mlir", "--filter", "passes", "--json")
    assert done.code == 0
    assert json.loads(done.out)["passed"]


def test_the_demo_reads_its_digits(assay: Assay, tmp_path: Path) -> None:
    done = assay("demo", "--keep", tmp_path / "kept", "--json")
    assert done.code == 0
    report = json.loads(done.out)
    assert report["equal"]
    assert report["classes"] == report["labels"] == list(range(10))
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "model.onnx",
        "model.vmfb",
        "images.npy",
    }


def test_the_demo_is_compiled_again_if_asked_for(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assay("demo").code == 0
    runs = tool_runs(monkeypatch)
    assert assay("demo").code == 0 and not runs
    assert assay("demo", "--no-cache").code == 0
    assert runs.count("iree-compile") == 2


@pytest.mark.parametrize("command", ["run", "diff", "inspect", "check-module", "compile"])
def test_unreadable_files_are_told(assay: Assay, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty.vmfb").touch()
    (tmp_path / "zip.vmfb").write_bytes(b"PK\x03\x04" + bytes(20))
    for path in ("nowhere.vmfb", "nowhere.mlir", ".", "empty.vmfb", "zip.vmfb"):
        done = assay(command, tmp_path / path)
        assert done.code in (1, 2), path
        assert "error:" in done.err, path
        assert "internal error" not in done.err, path


@pytest.mark.parametrize("command", ["run", "compile", "diff"])
def test_kernels_in_the_place_of_a_model_are_told_where_to_go(
    assay: Assay, tmp_path: Path, command: str
) -> None:
    source = tmp_path / "add.metal"
    source.write_text("kernel void add() {}\n")
    done = assay(command, source)
    assert done.code == (2 if command == "diff" else 1)  # 1 of diff: results differ
    assert f"`assay check {source}` runs them" in done.err


def test_help_has_examples_for_every_command(assay: Assay) -> None:
    for command in ("compile", "run", "diff", "inspect", "check-module", "demo"):
        text = assay(command, "--help").out
        assert "Examples" in text
        assert f"assay {command}" in text


def test_an_unexpected_error_asks_for_a_report(
    assay: Assay, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("something odd")

    monkeypatch.setattr("assay.contents.read_module", broken)
    done = assay("inspect", module, "--json")
    assert done.code == 2
    assert "internal error (RuntimeError: something odd)" in done.err
    assert "ASSAY_DEBUG=1" in done.err
    assert json.loads(done.out)["error"]["kind"] == "internal"


def test_no_command_is_needed_to_see_the_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("assay ")


def test_help_starts_without_loading_the_engine() -> None:
    code = (
        "import sys; sys.argv = ['assay', '--help']\n"
        "from assay.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'llvmlite', 'iree', 'onnx'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert time.perf_counter() - start < 3, "0.2 s on an idle machine"


def test_a_closed_pipe_ends_quietly(module: Path) -> None:
    command = f'"{sys.executable}" -m assay inspect "{module}" --json | head -c 1'
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env={**os.environ}
    )
    assert "Traceback" not in done.stderr
    assert "error" not in done.stderr
