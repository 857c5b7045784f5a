"""What is put into the cache folder is there whole, or is not there and does no harm."""

import errno
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from assay.sim.native import cache_files
from assay.sim.native.cache_files import write_entry
from assay.sim.native.disk_cache import DiskCache

KERNEL = """#include <metal_stdlib>
kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 2; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    cache_files._tell_full.cache_clear()
    return tmp_path


def test_a_folder_in_the_place_of_an_entry_makes_room(folder: Path) -> None:
    (folder / "things" / "entry" / "more").mkdir(parents=True)
    assert write_entry(folder / "things" / "entry", b"data")
    assert (folder / "things" / "entry").read_bytes() == b"data"


def test_a_link_in_the_place_of_an_entry_is_replaced_and_its_target_stays(folder: Path) -> None:
    target = folder / "elsewhere"
    target.mkdir()
    (folder / "entry").symlink_to(target)
    assert write_entry(folder / "entry", b"data")
    assert (folder / "entry").read_bytes() == b"data"
    assert target.is_dir()


def test_a_file_that_somebody_named_as_the_cache_folder_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thesis = folder / "thesis"
    thesis.write_text("text")
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(thesis))
    assert not write_entry(thesis / "things" / "entry", b"data")
    assert thesis.read_text() == "text"


def test_a_full_disk_is_named_once_and_does_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with caplog.at_level(logging.WARNING):
        DiskCache("things").put("abcd", b"data")
        DiskCache("things").put("abce", b"data")
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["note"]
    assert f"the disk under {folder} is full" in caplog.text
    assert "ASSAY_CACHE_DIR" in caplog.text
    assert DiskCache("things").get("abcd") is None


def test_nothing_is_left_of_what_could_not_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    assert not write_entry(folder / "entry", b"data")
    assert list(folder.iterdir()) == []


def can_mount() -> bool:
    """Whether a small disk can be had here: Linux lets a process have file systems of its own."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    trial = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    return subprocess.run(trial, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no disk of its own can be mounted here")
@pytest.mark.parametrize(
    "room",
    [
        pytest.param(0, marks=pytest.mark.slow),
        40_000,
        pytest.param(400_000, marks=pytest.mark.slow),
    ],
)
def test_a_program_runs_to_its_end_on_a_full_disk(tmp_path: Path, room: int) -> None:
    """Nothing fits, or little, or some of what is compiled but not the headers."""
    (tmp_path / "k.metal").write_text(KERNEL)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=1m none {disk}"
    fill = f"head -c $(($(stat -f -c '%a * %S' {disk}) - {room})) /dev/zero > {disk}/thesis"
    check = f"{sys.executable} -m assay check k.metal"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mount} && {fill} && {check}"],
        env={**os.environ, "ASSAY_CACHE_DIR": str(disk / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "1 kernel, no findings" in done.stdout
    assert f"the disk under {disk / 'cache'} is full" in done.stderr
    assert len(done.stderr.splitlines()) == 1
