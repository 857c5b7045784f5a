"""Runs commands in this process, as the console script would."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli import main, terminal
from tests.models.zoo import MLIR


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def assay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Calls `assay ARGUMENTS...`; no command may ever show a traceback."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("ASSAY_DEBUG", raising=False)
    # Commands that run scripts put a module here and a folder there, for the whole process.
    monkeypatch.setitem(sys.modules, "Metal", None)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        assert isinstance(end.value.code, int)
        return Done(code=end.value.code, out=captured.out, err=captured.err)

    yield run
    terminal.want_json(False)


@pytest.fixture(scope="session")
def add(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with one function: a tensor and a scalar in, a tensor and a scalar out."""
    path = tmp_path_factory.mktemp("models") / "add.mlir"
    path.write_text(
        """
func.func @main(%a: tensor<2x2xf32>, %n: i32) -> (tensor<2x2xf32>, i32) {
  %sum = arith.addf %a, %a : tensor<2x2xf32>
  %twice = arith.addi %n, %n : i32
  return %sum, %twice : tensor<2x2xf32>, i32
}
"""
    )
    return path


@pytest.fixture(scope="session")
def module(add: Path) -> Path:
    """The same, compiled."""
    from assay.compiler.models import compile_model

    compile_model(add, add.with_suffix(".vmfb"))
    return add.with_suffix(".vmfb")


@pytest.fixture(scope="session")
def two_functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module with the functions `double` and `scale`."""
    from assay.compiler.models import compile_model

    path = tmp_path_factory.mktemp("models") / "two.vmfb"
    compile_model(MLIR / "two_exports.mlir", path)
    return path
