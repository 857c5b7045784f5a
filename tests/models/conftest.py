"""Compiled models; the cache of modules keeps them between runs of the tests."""

from pathlib import Path

import pytest

from assay.compiler.models import compile_model
from assay.compiler.models.compile import Target

from .zoo import Model


class Builds:
    """Compiles models; what has to be written first goes into a folder."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def module(self, source: Path, target: Target, flags: tuple[str, ...] = ()) -> bytes:
        """The `.vmfb` of a source file."""
        return compile_model(source, target=target, flags=flags).data

    def model(self, model: Model, target: Target) -> bytes:
        """The `.vmfb` of a model of the zoo."""
        return self.module(model.source(self.work), target, model.flags)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """Builds shared by all tests of a run."""
    return Builds(tmp_path_factory.mktemp("models"))
