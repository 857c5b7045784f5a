"""Compiled kernels of the tests are kept apart from the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, scope="module")
def _cache_of_these_tests(cache_folder: Path) -> Iterator[None]:
    """For a file at a time: what other tests compile is kept where it usually is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE_DIR", str(cache_folder))
        yield
