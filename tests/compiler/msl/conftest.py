"""Compiled kernels of the tests are kept apart from the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = os.environ.get("ASSAY_CACHE_DIR")
    folder = tmp_path_factory.mktemp("cache")
    os.environ["ASSAY_CACHE_DIR"] = str(folder)
    yield folder
    if before is None:
        del os.environ["ASSAY_CACHE_DIR"]
    else:
        os.environ["ASSAY_CACHE_DIR"] = before
