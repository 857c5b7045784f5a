"""Whatever happened to the files of the cache, commands answer as before and make them anew."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
KERNEL = """#include <metal_stdlib>
using namespace metal;
constexpr sampler s(coord::normalized);
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
    y[i] = exp(x[i]);
}
"""
STAMP = "pruned"  # tells when the folder was last cleared; what it holds is of no account
GRID = ("--grid", "4096", "--threadgroup", "64")
COMMANDS = (("check", "--json"), ("time", "--json", *GRID))


def answers(folder: Path, cache: Path) -> list[str]:
    """What the commands say, each in a process of its own, with nothing to complain about."""
    said = []
    for command, *options in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "assay", command, "k.metal", *options],
            env={**os.environ, "ASSAY_CACHE_DIR": str(cache)},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        said.append("\n".join(x for x in done.stdout.splitlines() if "seconds" not in x))
    return said


def contents(cache: Path) -> dict[str, bytes]:
    """Every file of a cache but the stamp of the last clearing."""
    files = (path for path in sorted(cache.rglob("*")) if path.is_file())
    return {str(path.relative_to(cache)): path.read_bytes() for path in files if path.name != STAMP}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "k.metal").write_text(KERNEL)
    return folder


@pytest.fixture(scope="module")
def filled(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A cache that the commands filled, and what they said."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, answers(folder, cache)


def _bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00" * 1000)


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes() or b"!")
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").write_text("in the way")


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _removed(path: Path) -> None:
    path.unlink()


DAMAGES = (_bytes, _flipped, _truncated, _empty, _folder, _dangling, _removed)


def _one_after_the_other(path: Path) -> None:
    """Each file in another way."""
    DAMAGES[sum(path.name.encode()) % len(DAMAGES)](path)


@pytest.mark.parametrize(
    "damage",
    [_one_after_the_other, *DAMAGES],
    ids=lambda damage: damage.__name__.strip("_"),
)
def test_damaged_files_are_made_anew_all_of_them(
    damage: Callable[[Path], None],
    folder: Path,
    filled: tuple[Path, list[str]],
    tmp_path: Path,
) -> None:
    whole, said = filled
    cache = tmp_path / "cache"
    shutil.copytree(whole, cache)
    for path in sorted(cache.rglob("*")):
        if path.is_file() and path.name != STAMP:
            damage(path)
    assert answers(folder, cache) == said
    assert contents(cache) == contents(whole)


def test_files_where_folders_belong_make_room(
    folder: Path, filled: tuple[Path, list[str]], tmp_path: Path
) -> None:
    whole, said = filled
    cache = tmp_path / "cache"
    cache.mkdir()
    for kind in whole.iterdir():
        (cache / kind.name).write_text("in the way")
    assert answers(folder, cache) == said
    assert contents(cache) == contents(whole)


def test_the_caches_of_kernels_are_among_those_that_were_damaged(
    filled: tuple[Path, list[str]],
) -> None:
    kinds = {name.partition("/")[0] for name in contents(filled[0])}
    assert {"msl", "msl-headers", "programs", "kernels", "helpers", "watch", "core"} <= kinds
