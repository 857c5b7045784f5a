"""The cells of the page on notebooks do what it says, one after the other in one shell."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .commands import ROOT

PAGE = ROOT / "docs" / "guides" / "notebooks.md"
_CELL = re.compile(r"^```ipython\n(?P<text>.*?)^```", re.M | re.S)
_NEEDED = ("IPython", "torch")
_SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for path in sys.argv[1:]:
    result = shell.run_cell(open(path).read())
    result.raise_error()
"""


@pytest.mark.slow
def test_every_cell_runs(tmp_path: Path) -> None:
    for library in _NEEDED:
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is missing")
    cells = []
    for number, match in enumerate(_CELL.finditer(PAGE.read_text())):
        cells.append(tmp_path / f"{number:02}.py")
        cells[-1].write_text(match["text"])
    assert len(cells) > 6
    done = subprocess.run(
        [sys.executable, "-c", _SHELL, *map(str, cells)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"^error: ", done.stdout, re.M)
    assert "1 kernel, no findings" in done.stdout
    assert "x[i] = x[i + 1]" in done.stdout and "[race-read-write]" in done.stdout
    assert "<timeline of halve" in done.stdout
