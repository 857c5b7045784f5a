"""Commands of pages run this tree, whatever is installed."""

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `assay`, `python` and `pytest` that run this tree."""
    folder = tmp_path_factory.mktemp("bin")
    plugin = "" if entry_points(group="pytest11", name="assay") else " -p assay.pytest_plugin"
    runs = {"assay": " -m assay", "python": "", "pytest": f" -m pytest{plugin}"}
    for name, arguments in runs.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        script.chmod(0o755)
    return folder
