"""Files of kernels are taken out of an archive that is the known one."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from benchmarks.apple.torch_archive import KERNELS, fetched


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "source.tar.xz"
    with tarfile.open(path, "w:xz") as made:
        for name in (f"p/{KERNELS}/A.metal", f"p/{KERNELS}/B.mm", "p/other/C.metal"):
            entry = tarfile.TarInfo(name)
            entry.size = 5
            made.addfile(entry, io.BytesIO(b"k();\n"))
    return path


def test_kernels_alone_are_taken(archive: Path, tmp_path: Path) -> None:
    known = hashlib.sha256(archive.read_bytes()).hexdigest()
    into = fetched(tmp_path / "into", archive.as_uri(), known)
    assert [each.name for each in into.iterdir()] == ["A.metal"]
    assert (into / "A.metal").read_text() == "k();\n"
    archive.unlink()  # it is kept
    assert fetched(tmp_path / "into", archive.as_uri(), known) == into


def test_another_archive_is_refused_and_not_kept(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="its SHA-256 is another"):
        fetched(tmp_path / "into", archive.as_uri(), "0" * 64)
    assert not list((tmp_path / "into").rglob("*.xz"))
