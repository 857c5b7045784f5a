"""Modules that IREE compiled are kept, under all that decides them."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.compiler.models import compile_model
from assay.compiler.models.kept import key_of
from tests.support.tool_runs import tool_runs

ADD = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model, and an empty cache."""
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tools that ran."""
    return tool_runs(monkeypatch)


def test_a_model_that_did_not_change_is_compiled_once(model: Path, runs: list[str]) -> None:
    first = compile_model(model)
    second = compile_model(model, model.with_suffix(".vmfb"))
    assert runs == ["iree-compile"]
    assert second == first
    assert model.with_suffix(".vmfb").read_bytes() == first.data


def test_another_content_target_or_flag_compiles_anew(model: Path, runs: list[str]) -> None:
    compile_model(model)
    compile_model(model, target="llvm-cpu")
    compile_model(model, flags=("--iree-opt-level=O2",))
    model.write_text(ADD.replace("addf", "mulf"))
    compile_model(model)
    assert len(runs) == 4


def test_without_the_cache_nothing_is_looked_up_or_kept(model: Path, runs: list[str]) -> None:
    compile_model(model, cache=False)
    compile_model(model)
    compile_model(model, cache=False)
    assert len(runs) == 3


def test_a_model_is_loaded_without_the_cache_too(model: Path, runs: list[str]) -> None:
    for cache in (False, True, True, False):
        loaded = assay.load(model, cache=cache)
        assert loaded.main(np.ones(4, np.float32)).tolist() == [2, 2, 2, 2]
    assert len(runs) == 3


def test_a_damaged_entry_is_compiled_anew(model: Path, runs: list[str]) -> None:
    expected = compile_model(model).data
    (entry,) = (model.parent / "cache" / "models").glob("*/*")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert compile_model(model).data == expected
    assert len(runs) == 2


@pytest.mark.parametrize(
    "flag", ["--mlir-timing", "--iree-hal-dump-executable-sources-to=x", "--iree-x=add.mlir"]
)
def test_flags_that_show_something_or_name_a_file_are_never_kept(
    model: Path, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    monkeypatch.chdir(model.parent)
    assert key_of(model, "mlir", "metal", (), ("--iree-opt-level=O2",)) is not None
    assert key_of(model, "mlir", "metal", (), (flag,)) is None


def test_a_model_whose_weights_lie_in_another_file_is_never_kept(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    weights = numpy_helper.from_array(np.ones(2048, np.float32), "w")
    value = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2048])
    node = onnx.helper.make_node("Identity", ["w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [], [value], [weights])
    path = tmp_path / "m.onnx"
    onnx.save(onnx.helper.make_model(graph), path)
    assert key_of(path, "onnx", "metal", (), ()) is not None
    onnx.save(onnx.helper.make_model(graph), path, save_as_external_data=True, size_threshold=0)
    assert key_of(path, "onnx", "metal", (), ()) is None


def test_an_executable_that_links_a_file_is_never_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text('#x = #hal.executable.object<{path = "kernel.o"}>')
    assert key_of(path, "mlir", "metal", (), ()) is None
