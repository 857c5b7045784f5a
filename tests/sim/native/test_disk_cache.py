from pathlib import Path

import pytest

from assay.sim.native.disk_cache import DiskCache, digest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_what_was_put_is_got(folder: Path) -> None:
    DiskCache("things").put("abcd", b"payload")
    assert DiskCache("things").get("abcd") == b"payload"
    assert DiskCache("others").get("abcd") is None


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_a_damaged_entry_is_as_if_there_were_none(folder: Path, damage: bytes) -> None:
    cache = DiskCache("things")
    cache.put("abcd", b"payload")
    (entry,) = [path for path in (folder / "things").rglob("*") if path.is_file()]
    entry.write_bytes(damage)
    assert cache.get("abcd") is None
    cache.put("abcd", b"payload")
    assert cache.get("abcd") == b"payload"


def test_a_flipped_bit_is_noticed(folder: Path) -> None:
    cache = DiskCache("things")
    cache.put("abcd", b"payload")
    (entry,) = [path for path in (folder / "things").rglob("*") if path.is_file()]
    raw = bytearray(entry.read_bytes())
    raw[-1] ^= 1
    entry.write_bytes(raw)
    assert cache.get("abcd") is None


def test_a_folder_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(blocked))
    cache = DiskCache("things")
    cache.put("abcd", b"payload")
    assert cache.get("abcd") is None


def test_parts_of_a_key_cannot_run_into_each_other() -> None:
    assert digest("ab", "c") != digest("a", "bc")
