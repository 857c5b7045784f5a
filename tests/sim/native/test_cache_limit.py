"""The cache on disk stays below its limit, and what is in use stays in it."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.sim.native import cache_limit
from assay.sim.native.cache_limit import DEFAULT_LIMIT, limit_of, prune
from assay.sim.native.disk_cache import DiskCache, digest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("ASSAY_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(cache_limit, "_written", 0)
    return tmp_path


def keys(number: int) -> list[str]:
    return [digest(str(index)) for index in range(number)]


def path_of(folder: Path, key: str) -> Path:
    return folder / "things" / key[:2] / key


def fill(folder: Path, number: int, size: int = 1000) -> list[str]:
    """Entries of `size` bytes, each used an hour after the one before, the last one now."""
    cache = DiskCache("things")
    now = time.time()
    for age, key in enumerate(reversed(keys(number))):
        cache.put(key, bytes(size - 40))
        os.utime(path_of(folder, key), (now, now - 7200 * age))
    return keys(number)


def kept(folder: Path, names: list[str]) -> list[bool]:
    return [path_of(folder, key).exists() for key in names]


def test_what_was_not_used_for_longest_goes_first(folder: Path) -> None:
    names = fill(folder, 10)
    prune(folder, 8000)
    assert kept(folder, names) == [False] * 4 + [True] * 6


def test_below_the_limit_everything_stays(folder: Path) -> None:
    names = fill(folder, 10)
    prune(folder, 10_000)
    assert all(kept(folder, names))


def test_reading_an_entry_keeps_it(folder: Path) -> None:
    names = fill(folder, 10)
    assert DiskCache("things").get(names[0]) is not None
    prune(folder, 8000)
    assert kept(folder, names)[0]


def test_files_of_others_are_never_touched(folder: Path) -> None:
    other = folder / "things" / "thesis.txt"
    fill(folder, 2)
    other.write_bytes(bytes(100_000))
    prune(folder, 0)
    assert other.exists()


def test_what_a_killed_process_left_behind_goes_however_small_the_cache_is(folder: Path) -> None:
    names = fill(folder, 1)
    left = [folder / "things" / f"tmp0a1b2c3{letter}" for letter in "abcd"]
    for path in left[:2]:
        path.write_bytes(bytes(1000))
    for path in left[2:]:
        path.mkdir()
        (path / "made.pch").write_bytes(bytes(1000))
    for path in (left[0], left[2]):
        os.utime(path, (0, 0))
    prune(folder, 100_000)
    assert [path.exists() for path in left] == [False, True, False, True]
    assert all(kept(folder, names))


def test_writing_prunes_when_much_was_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE_LIMIT", "20K")
    cache = DiskCache("things")
    for key in keys(200):
        cache.put(key, bytes(1000))
        total = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        assert total <= 23 << 10
    assert cache.get(keys(200)[-1]) is not None


def test_a_long_unpruned_folder_is_pruned_by_the_next_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = fill(folder, 10)
    (folder / "pruned").unlink()
    monkeypatch.setenv("ASSAY_CACHE_LIMIT", "5000")
    monkeypatch.setattr(cache_limit, "_SHARE_PER_PROCESS", 1)
    DiskCache("things").put(digest("one more"), b"")
    assert kept(folder, names).count(True) == 3


def test_several_processes_may_prune_at_once(folder: Path) -> None:
    program = (
        "from assay.sim.native.disk_cache import DiskCache, digest\n"
        "cache = DiskCache('things')\n"
        "for i in range(150):\n"
        "    key = digest(str(i))\n"
        "    got = cache.get(key)\n"
        "    assert got is None or got == bytes(1000) * 2, 'damaged'\n"
        "    cache.put(key, bytes(1000) * 2)\n"
    )
    environment = {**os.environ, "ASSAY_CACHE_LIMIT": "30K"}
    running = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("123", 123),
        ("5k", 5 << 10),
        ("500M", 500 << 20),
        (" 4 GiB ", 4 << 30),
        (None, DEFAULT_LIMIT),
        ("", DEFAULT_LIMIT),
    ],
)
def test_sizes_have_units(text: str | None, size: int) -> None:
    assert limit_of(text) == size


def test_a_limit_that_is_no_size_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert limit_of("plenty") == DEFAULT_LIMIT
    assert "ASSAY_CACHE_LIMIT=plenty is no size" in caplog.text
