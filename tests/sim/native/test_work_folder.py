"""Temporary folders go with their process, also with one that is killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.sim.native.work_folder import sweep, work_folder

WORKER = """
import sys, time
from assay.sim.native.work_folder import work_folder
with work_folder() as folder:
    (folder / "big").write_bytes(bytes(1000))
    print(folder, flush=True)
    sys.stdin.read()
"""


@contextmanager
def worker(place: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A process at work in a folder in `place`."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_a_folder_is_gone_after_its_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with work_folder() as folder:
        (folder / "file").write_text("text")
        assert folder.parent == tmp_path
    assert not folder.exists()


def test_the_folder_of_a_killed_process_goes_with_the_next_one_that_works(tmp_path: Path) -> None:
    with worker(tmp_path) as (process, left):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (left / "big").exists()
    with worker(tmp_path) as (_, folder):
        assert folder.exists()
        assert not left.exists()


def test_the_folder_of_a_process_at_work_stays(tmp_path: Path) -> None:
    with worker(tmp_path) as (_, folder):
        os.utime(folder, (0, 0))
        sweep(tmp_path)
        assert (folder / "big").exists()


def test_a_folder_that_nobody_came_to_own_goes_after_a_day(tmp_path: Path) -> None:
    new, old = tmp_path / "assay-work-new", tmp_path / "assay-work-old"
    for path in (new, old):
        path.mkdir()
    os.utime(old, (0, time.time() - 100_000))
    sweep(tmp_path)
    assert (new.exists(), old.exists()) == (True, False)


def test_what_others_have_among_temporary_files_stays(tmp_path: Path) -> None:
    theirs = [tmp_path / "assay-view-1234", tmp_path / "thesis", tmp_path / "assay-work-file"]
    for path in theirs[:2]:
        path.mkdir()
    theirs[2].write_text("no folder")
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "assay-work-link").symlink_to(target)
    for path in (*theirs, target):
        os.utime(path, (0, 0))
    sweep(tmp_path)
    assert all(path.exists() for path in (*theirs, target))
