"""`assay time` and `assay inspect` of a model for the NPU tell of each of its operators."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from tests.compiler.graph import models

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def _run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("operators")
    path = folder / "small.torq"
    model = models.tflite_file("small", folder)
    assert "direct" in _run("compile", model, "--device", "torq", "-o", path)
    return path


def test_operators_sum_to_the_whole(executable: Path) -> None:
    found = json.loads(_run("time", executable, "--json"))
    operators, summary = found["operators"], found["summary"]
    assert sum(each["cycles"] for each in operators) == found["cycles"]
    assert all(sum(each["cycles_by_bound"].values()) == each["cycles"] for each in operators)
    assert sum(each["macs"] for each in operators) == summary["macs"] > 0
    assert sum(each["loaded_bytes"] for each in operators) == summary["loaded_bytes"]
    assert {each["way"] for each in operators if each["macs"]} == {"direct"}
    assert summary["above_roofline"] >= 1.0 >= summary["utilisation"] > 0.0


def test_operators_are_named_as_in_the_model(executable: Path) -> None:
    text = _run("time", executable)
    lines = text.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("operator "))
    assert lines[head - 1].startswith("operators: ")
    names = [line.split()[0] for line in lines[head + 1 :]]
    assert names[0].startswith("conv") and "host" in names
    total = next(line for line in lines if line.startswith("all operators"))
    cycles = int(lines[0].split(": ")[1].split()[0].replace(",", ""))
    assert int(total.split()[2].replace(",", "")) == cycles


def test_inspect_tells_the_same_without_a_run(executable: Path) -> None:
    timed = json.loads(_run("time", executable, "--json"))["operators"]
    (static,) = json.loads(_run("inspect", executable, "--json"))["executables"]
    named = [each for each in timed if each["name"]]
    assert [each["name"] for each in static["operators"]] == [each["name"] for each in named]
    for each, other in zip(static["operators"], named, strict=True):
        assert each["macs"] == other["macs"] and each["stored"] == other["stored_bytes"]
        assert abs(each["loaded"] - other["loaded_bytes"]) <= 0.4 * other["loaded_bytes"]
    assert "operators of the model" in _run("inspect", executable)
