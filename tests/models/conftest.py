"""Compiled models, made once and kept between runs of the tests."""

import hashlib
from importlib.metadata import version
from pathlib import Path

import pytest

from assay.compiler.models import compile_model
from assay.compiler.models.compile import Target

from .zoo import Model


class Builds:
    """Compiles models into a folder that survives the test run, keyed by contents and compiler."""

    def __init__(self, folder: Path, work: Path) -> None:
        self._folder = folder
        self.work = work

    def module(self, source: Path, target: Target, flags: tuple[str, ...] = ()) -> bytes:
        """The `.vmfb` of a source file."""
        key = hashlib.sha256(source.read_bytes())
        key.update(f"{target} {flags} {version('iree-base-compiler')}".encode())
        path = self._folder / f"{source.stem}-{key.hexdigest()[:16]}.vmfb"
        if not path.exists():
            data = compile_model(source, target=target, flags=flags).data
            temporary = path.with_suffix(f".{id(self)}.tmp")
            temporary.write_bytes(data)
            temporary.replace(path)
        return path.read_bytes()

    def model(self, model: Model, target: Target) -> bytes:
        """The `.vmfb` of a model of the zoo."""
        return self.module(model.source(self.work), target, model.flags)


@pytest.fixture(scope="session")
def builds(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """Builds shared by all tests of a run, and with later runs."""
    folder = pytestconfig.cache.mkdir("models")
    return Builds(folder, tmp_path_factory.mktemp("models"))
