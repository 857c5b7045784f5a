"""Names of packages that load their parts late: Tab shows them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import assay
import assay.checks
import assay.npu


def test_all_names_are_shown_though_nothing_is_loaded() -> None:
    script = "import assay, sys; print(*dir(assay)); assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(assay.__all__) <= set(done.stdout.split())


@pytest.mark.parametrize("package", [assay, assay.checks, assay.npu])
def test_every_name_that_is_shown_is_there(package: object) -> None:
    names = dir(package)
    assert names == sorted(names)
    for name in getattr(package, "__all__", ()):
        assert name in names
        assert getattr(package, name) is not None
