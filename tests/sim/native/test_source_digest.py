"""Digests of folders: of what is in them, which is read again only if a file may have changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assay.sim.native.source_digest import source_digest

_LONG_AGO = 1_000_000_000_000_000_000  # nanoseconds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two files."""
    (tmp_path / "source/inner").mkdir(parents=True)
    (tmp_path / "source/a.py").write_text("one")
    (tmp_path / "source/inner/b.h").write_text("two")
    return tmp_path / "source"


def _fresh(*folders: Path) -> str:
    """The digest as a process of its own finds it."""
    source_digest.cache_clear()
    return source_digest(*folders)


def test_a_change_of_any_file_shows(folder: Path) -> None:
    found = {_fresh(folder)}
    (folder / "inner/b.h").write_text("owt")
    found.add(_fresh(folder))
    (folder / "inner/b.h").rename(folder / "inner/c.h")
    found.add(_fresh(folder))
    (folder / "c").write_text("")
    found.add(_fresh(folder))
    assert len(found) == 4


def test_the_same_files_elsewhere_have_the_same_digest(folder: Path, tmp_path: Path) -> None:
    before = _fresh(folder)
    folder.rename(tmp_path / "moved")
    assert _fresh(tmp_path / "moved") == before


def test_what_python_compiles_does_not_count(folder: Path) -> None:
    before = _fresh(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/a.pyc").write_bytes(b"code")
    assert _fresh(folder) == before


def test_files_that_did_not_change_are_not_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 10**10)
    before = _fresh(folder)
    monkeypatch.setattr(Path, "read_bytes", _only_the_cache(Path.read_bytes))
    assert _fresh(folder) == before
    os.utime(folder / "a.py", ns=(_LONG_AGO, _LONG_AGO))
    with pytest.raises(AssertionError):
        _fresh(folder)


def test_files_that_may_have_changed_within_a_tick_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fresh(folder)
    monkeypatch.setattr(Path, "read_bytes", _only_the_cache(Path.read_bytes))
    with pytest.raises(AssertionError):
        _fresh(folder)


def _only_the_cache(read: object) -> object:
    def read_bytes(path: Path) -> bytes:
        assert "sources" in path.parts
        return read(path)  # type: ignore[operator,no-any-return]

    return read_bytes
