"""`assay run`."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .conftest import Done

Assay = Callable[..., Done]
INPUTS = ("--input", "2x2xf32=1,2,3,4.5", "--input", "7")


def test_results_are_printed_like_those_of_iree_run_module(assay: Assay, module: Path) -> None:
    done = assay("run", module, *INPUTS)
    assert done.code == 0
    assert done.out.splitlines() == [
        "EXEC @main",
        "result[0]: hal.buffer_view",
        "2x2xf32=[2 4][6 9]",
        "result[1]: i32=14",
    ]


def test_a_model_is_compiled_on_the_way(assay: Assay, add: Path) -> None:
    assert "2x2xf32=[2 4][6 9]" in assay("run", add, *INPUTS).out


def test_results_go_to_files(assay: Assay, module: Path, tmp_path: Path) -> None:
    npy, raw = tmp_path / "a.npy", tmp_path / "b.bin"
    done = assay("run", module, *INPUTS, "--output", f"@{npy}", "--output", f"@{raw}")
    assert done.out == "EXEC @main\n"
    np.testing.assert_array_equal(np.load(npy), np.array([[2, 4], [6, 9]], np.float32))
    assert np.frombuffer(raw.read_bytes(), np.int64).tolist() == [14]


def test_one_file_takes_several_results(assay: Assay, module: Path, tmp_path: Path) -> None:
    file = f"@{tmp_path / 'both.npy'}"
    assert assay("run", module, *INPUTS, "--output", file, "--output", file).code == 0
    read = assay("run", module, "--input", file)
    assert "2x2xf32=[4 8][12 18]" in read.out


def test_a_dash_prints_and_nothing_drops(assay: Assay, module: Path) -> None:
    done = assay("run", module, *INPUTS, "--output", "", "--output", "-")
    assert done.out.splitlines() == ["EXEC @main", "result[1]: i32=14"]


def test_json_has_every_value(assay: Assay, module: Path) -> None:
    done = json.loads(assay("run", module, *INPUTS, "--json").out)
    assert done["function"] == "main"
    assert done["results"][0] == {
        "type": "2x2xf32",
        "element": "f32",
        "shape": [2, 2],
        "values": [2.0, 4.0, 6.0, 9.0],
        "complete": True,
    }
    assert done["results"][1] == {"type": "i32", "value": 14}


def test_missing_inputs_are_listed(assay: Assay, module: Path) -> None:
    done = assay("run", module, "--input", "2x2xf32=1")
    assert done.code == 2
    assert "main takes 2 inputs, 1 given" in done.err
    assert "1: i32" in done.err


def test_a_wrong_shape_is_told_in_irees_words(assay: Assay, module: Path) -> None:
    done = assay("run", module, "--input", "2x3xf32=1", "--input", "7")
    assert done.code == 1
    assert "INVALID_ARGUMENT" in done.err
    assert "shape dimension 1 mismatch; expected 2 but have 3" in done.err


def test_a_wrong_type_is_told(assay: Assay, module: Path) -> None:
    done = assay("run", module, "--input", "2x2xi32=1", "--input", "7")
    assert done.code == 1
    assert "element type mismatch" in done.err


def test_several_functions_need_a_choice(assay: Assay, two_functions: Path) -> None:
    done = assay("run", two_functions)
    assert done.code == 1
    assert "choose one with --function: double, scale" in done.err
    assert assay("run", two_functions, "-f", "double", "-i", "16xf32=2").out.endswith(
        "16xf32=4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4\n"
    )


def test_an_unknown_function_is_told_with_those_there_are(assay: Assay, module: Path) -> None:
    done = assay("run", module, "--function", "mian")
    assert done.code == 1
    assert "no function 'mian' in the module; it has main" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--device", "gpu"), "expected emulated, native, torq"),
        (("--parameters", "model=nowhere.irpa"), "there is no file nowhere.irpa"),
        (("--input", "2xq=1"), "expected SHAPExTYPE"),
        ((*INPUTS, *("--output", "-") * 3), "3 times --output for 2 results"),
        ((*INPUTS, "--output", "file.npy"), "expected @file.npy"),
        ((*INPUTS, "--output", "@/nowhere/file.npy"), "/nowhere/file.npy: No such file"),
    ],
)
def test_wrong_options_are_told(
    assay: Assay, module: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = assay("run", module, *arguments)
    assert done.code in (1, 2)
    assert says in done.err
    assert done.err.count("error:") == 1


def test_the_native_device_is_refused_where_there_is_none(
    assay: Assay, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    done = assay("run", module, *INPUTS, "--device", "native")
    assert done.code == 1
    assert "choose device 'emulated'" in done.err


def test_a_module_for_the_cpu_is_refused(assay: Assay, add: Path, tmp_path: Path) -> None:
    cpu = tmp_path / "cpu.vmfb"
    assert assay("compile", add, "--target", "llvm-cpu", "-o", cpu).code == 0
    done = assay("run", cpu, *INPUTS)
    assert done.code == 1
    assert "error:" in done.err
