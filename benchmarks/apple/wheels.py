"""`python -m benchmarks apple --fetch FOLDER`: Apple's libraries out of wheels for Macs.

Wheels come from the package index by pip. The folder has each library under the name that counts
call it by, `headers` with what MLX's and PyTorch's wheels have of their sources, and `sources` with
the files of kernels that belong to the wheel of PyTorch 2.6.0.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.air.container import find_containers

from . import torch_archive

_MLX, _TORCH, _EXECUTORCH = "mlx-metal==0.32.4", "torch==2.15.0", "executorch==1.5.1"
_METALLIB, DYLIB = "mlx/lib/mlx.metallib", "torch/lib/libtorch_cpu.dylib"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel and what is taken out of it.

    Attributes:
        name: what its library is called.
        macos: the major version of the oldest macOS that it is for.
        requirement: as pip takes it.
        library: the file that is a library, or has some.
        headers: where headers begin in it; empty for none.
        parts: what its libraries are called after the name, in their order in the file; empty if
            the file is the library.
    """

    name: str
    macos: int
    requirement: str
    library: str
    headers: str = ""
    parts: tuple[str, ...] = ()

    @property
    def called(self) -> frozenset[str]:
        """What it and its libraries are called."""
        return frozenset((self.name, *(f"{self.name}{part}" for part in self.parts)))


WHEELS = (
    Wheel(name="mlx14", macos=14, requirement=_MLX, library=_METALLIB, headers="mlx/include/"),
    Wheel(name="mlx26", macos=26, requirement=_MLX, library=_METALLIB),
    Wheel(
        name="torch",
        macos=14,
        requirement=_TORCH,
        library=DYLIB,
        headers="torch/include/c10/",
        parts=("14", "26"),
    ),
    Wheel(
        name="torch2.6",
        macos=11,
        requirement="torch==2.6.0",
        library=DYLIB,
        parts=("-msl3.0", "-msl3.1"),
    ),
    Wheel(
        name="executorch", macos=14, requirement=_EXECUTORCH, library="executorch/lib/mlx.metallib"
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Fetch and unpack; 1 if a wheel is not to be had."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("--fetch", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("names", nargs="*", help="of libraries; all by default")
    options = parser.parse_args(arguments)
    failed = False
    for wheel in WHEELS:
        if options.names and wheel.called.isdisjoint(options.names):
            continue
        try:
            for path in _unpacked(_downloaded(wheel, options.fetch), wheel, options.fetch):
                print(path)
        except OSError as error:
            print(f"{wheel.requirement} for macOS {wheel.macos}: {error}", file=sys.stderr)
            failed = True
    if not options.names or torch_archive.NAME in options.names:
        try:
            print(torch_archive.fetched(options.fetch))
        except OSError as error:
            print(f"{torch_archive.NAME}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def _downloaded(wheel: Wheel, folder: Path) -> Path:
    """The wheel's file. Raises OSError with what pip says."""
    into = folder / "wheels" / wheel.name
    known = sorted(into.glob("*.whl"))
    if known:
        return known[0]
    into.mkdir(parents=True, exist_ok=True)
    platform = f"macosx_{wheel.macos}_0_arm64"
    choices = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12"]
    command = [sys.executable, "-m", "pip", "download", "-q", *choices, "--platform", platform]
    done = subprocess.run([*command, "-d", into, wheel.requirement], capture_output=True, text=True)
    if done.returncode:
        raise OSError((done.stderr.strip() or "pip failed").splitlines()[-1])
    return next(into.glob("*.whl"))


def _unpacked(path: Path, wheel: Wheel, folder: Path) -> Iterator[Path]:
    with zipfile.ZipFile(path) as archive:
        data = archive.read(wheel.library)
        for part, found in _libraries(data, wheel):
            library = folder / f"{wheel.name}{part}.metallib"
            library.write_bytes(found)
            yield library
        if wheel.headers:
            root = folder / "headers" / wheel.name
            names = [name for name in archive.namelist() if name.startswith(wheel.headers)]
            archive.extractall(root, names)
            yield root / wheel.headers.partition("include/")[0] / "include"


def _libraries(data: bytes, wheel: Wheel) -> Iterator[tuple[str, bytes]]:
    """The libraries of a file, each with what it is called after the wheel's name."""
    if wheel.parts:
        yield from zip(wheel.parts, map(bytes, find_containers(data)), strict=True)
    else:
        yield "", data
