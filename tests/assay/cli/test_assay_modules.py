"""`assay build`, and what `run` and `inspect` do with its modules."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.assay_module import build
from assay.hal.cpu.library import FORMAT
from tests.models.importable import cnn
from tests.models.zoo import MLIR
from tests.support.tool_runs import tool_runs

from .conftest import Done

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
Assay = Callable[..., Done]
SHAPES = "image=1x3x16x16; image=2x3x24x24"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("modules") / "cnn.assay"
    cnn(made.with_suffix(".onnx"))
    build(made.with_suffix(".onnx"), made, shapes=SHAPES, devices=["cpu"])
    return made


def test_build_writes_the_module_beside_the_model(assay: Assay, tmp_path: Path) -> None:
    cnn(tmp_path / "m.onnx")
    done = assay("build", tmp_path / "m.onnx", "--shapes", SHAPES, "--devices", "cpu")
    size = (tmp_path / "m.assay").stat().st_size
    assert done.out == f"{tmp_path / 'm.assay'}: {size} bytes for cpu\n", done.err


@pytest.mark.parametrize("kind", ["onnx", "mlir"])
def test_build_compiles_again_if_asked_for(
    assay: Assay, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "onnx":  # kernels for its operators
        model, options = built.with_suffix(".onnx"), ("--shapes", SHAPES)
    else:  # one kernel, which is the whole model
        model, options = MLIR / "constants.mlir", ()
    command = ("build", model, "-o", tmp_path / "m.assay", "--devices", "cpu", *options)
    assert assay(*command).code == 0
    runs = tool_runs(monkeypatch)
    assert assay(*command).code == 0
    reading = runs.count("iree-compile")
    assert assay(*command, "--no-cache").code == 0
    assert runs.count("iree-compile") == 2 * reading + 1


def test_run_takes_the_model_that_the_inputs_shapes_ask_for(
    assay: Assay, built: Path, tmp_path: Path
) -> None:
    y = tmp_path / "y.npy"
    done = assay("run", built, "--device", "cpu", "-i", "2x3x24x24xf32=1", "-o", f"@{y}")
    assert done.out == "EXEC @image=2x3x24x24 on cpu\n", done.err
    assert np.load(y).shape == (2, 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-i", "1x3x9x9xf32=0", "--device", "cpu"], "there are: image=1x3x16x16; image=2x3x24x24"),
        (["-i", "1x3x16x16xf32=0"], "not built for the GPU; choose its device: cpu"),
        (["--device", "cpu"], "takes 1 inputs (image), 0 given"),
        (["--device", "cpu", "--function", "f"], "--function is not for Assay modules"),
        (["--device", "tpu", "-i", "1"], "not built for tpu; its devices are cpu"),
    ],
)
def test_what_cannot_run_says_why(
    assay: Assay, built: Path, arguments: list[str], message: str
) -> None:
    done = assay("run", built, *arguments)
    assert done.code in (1, 2)
    assert message in " ".join(done.err.split())


def test_inspect_prints_sets_maps_and_instructions(assay: Assay, built: Path) -> None:
    brief, whole = (assay("inspect", built, *more).out for more in ((), ("--all",)))
    assert "model 1: image=2x3x24x24 (exact)" in brief
    assert "6 Call, 1 Forward" in brief
    assert "  # Conv+Relu relu_1" in whole and "globalaveragepool5 as 1x16" in whole


def test_inspect_as_json_has_all_records(assay: Assay, built: Path) -> None:
    document = json.loads(assay("inspect", built, "--json").out)
    assert document["devices"] == ["cpu"]
    kinds = [item["kind"] for item in document["models"][0]["regions"][0]]
    assert kinds.count("Call") == 6


def test_a_damaged_module_is_an_error(assay: Assay, built: Path, tmp_path: Path) -> None:
    data = bytearray(built.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.assay").write_bytes(data)
    done = assay("inspect", tmp_path / "damaged.assay")
    assert done.code == 1 and "checksum" in done.err


def test_build_refuses_other_names_and_other_models(
    assay: Assay, built: Path, tmp_path: Path
) -> None:
    model = built.with_suffix(".onnx")
    (tmp_path / "x.mlir").write_text("module {}")
    for arguments, message in (
        ([model, "-o", "x.bin"], "modules end in .assay"),
        ([tmp_path / "x.mlir"], "x.mlir: 0 public functions; a model has one"),
        ([model, "--shapes", "image"], "is no input with its shape"),
        ([tmp_path / "none.onnx"], "no such file"),
    ):
        done = assay("build", *arguments)
        assert done.code in (1, 2) and message in done.err


def test_what_inspect_prints_as_text_is_built_to_the_same_file(
    assay: Assay, built: Path, tmp_path: Path
) -> None:
    text = tmp_path / "again.assay.txt"
    text.write_text(assay("inspect", built, "--text").out)
    assert assay("build", text).code == 0
    assert (tmp_path / "again.assay").read_bytes() == built.read_bytes()
    for option in (("--devices", "cpu"), ("--no-cache",)):
        assert "leave out options" in assay("build", text, *option).err


@pytest.mark.parametrize("command", ["compile", "build"])
def test_commands_that_take_no_assay_module_name_those_that_do(
    assay: Assay, built: Path, command: str
) -> None:
    options = ["-o", built.with_name("x.assay")] if command == "build" else []
    done = assay(command, built, *options)
    assert done.code in (1, 2)
    assert "this is an Assay module, built already; `assay run`" in " ".join(done.err.split())


def test_time_predicts_a_module_and_run_writes_its_timeline(
    assay: Assay, built: Path, tmp_path: Path
) -> None:
    given = (built, "--device", "cpu", "-i", "1x3x16x16xf32=1")
    done = assay("time", *given, "--runs", "3", "--trace", tmp_path / "t.html")
    assert "3 runs, 2 in flight on Apple M1" in done.out, done.err
    assert (tmp_path / "t.html").stat().st_size > 10_000
    found = json.loads(assay("time", *given, "--json").out)
    assert found["runs"] == 1 and set(found["busy_seconds"]) == {"CPU"}
    assert assay("run", *given, "--trace", tmp_path / "r.json").code == 0
    names = [
        each.get("name") for each in json.loads((tmp_path / "r.json").read_text())["traceEvents"]
    ]
    assert any("Conv+Relu" in str(name) for name in names)


def test_time_refuses_what_is_not_for_modules(assay: Assay, built: Path, tmp_path: Path) -> None:
    for option in (["--grid", "4"], ["--cold"], ["--function", "f"], ["--compare", "m2"]):
        done = assay("time", built, "--device", "cpu", *option)
        assert done.code == 2 and f"{option[0]} is not for Assay modules" in done.err
    (tmp_path / "k.metal").write_text("kernel void k() {}")
    done = assay("time", tmp_path / "k.metal", "--runs", "2")
    assert done.code == 2 and "--runs is for Assay modules" in done.err
    done = assay("time", built, "--device", "cpu", "--chip", "m99")
    assert done.code == 2 and "--chip" in done.err


def test_a_split_that_was_chosen_is_kept_in_a_file(assay: Assay, tmp_path: Path) -> None:
    cnn(tmp_path / "m.onnx")
    kept = tmp_path / "split.txt"
    given = ("build", tmp_path / "m.onnx", "--devices", "cpu")
    done = assay(*given, "--split", "auto", "--keep-split", kept)
    assert done.code == 0 and "predicted for a run on Apple M1" in done.out, done.err
    assert all(line.split()[1] == "cpu" for line in kept.read_text().splitlines())
    assert assay(*given, "--split", kept).code == 0
    done = assay(*given, "--split", kept, "--keep-split", kept)
    assert done.code == 2 and "--keep-split is for --split auto" in done.err
    done = assay(*given, "--split", "auto", "--chip", "m99")
    assert done.code != 0 and "m99" in done.err and "Traceback" not in done.err
