"""`python -m benchmarks apple --public`: libraries in public repositories, of AIR 1.6 to 2.8.

Of each file every kernel is read, and one is run and compared with NumPy. Files are fetched from
where they are public, or taken from a folder (`--from`) that has them by their SHA-256. The rows go
to `public.json` and on the page.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.compiler.air import open_library

from . import public_runs as runs

STORED = Path(__file__).with_name("public.json")
PAGE = Path(__file__).parents[2] / "docs/how-it-works/apples-compiler.md"
BEGIN, END = "<!-- public.json -->", "<!-- end of public.json -->"
_RAW = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A file in a repository, and the kernel of it that is run; `most` is how far it may be off."""

    repository: str
    commit: str
    path: str
    digest: str
    kernel: str
    run: runs.Run
    most: float = 0.0

    @property
    def address(self) -> str:
        """Where it is public."""
        return _RAW.format(repository=self.repository, commit=self.commit, path=self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of a file: `air` is its version, `off` the largest difference from NumPy."""

    repository: str
    path: str
    address: str
    platform: str
    file_version: str
    air: str
    language: str
    kernels: int
    read: int
    kernel: str
    off: float
    passed: bool


_MFA = "candle-metal-kernels/src/libMetalFlashAttention"
LIBRARIES = (
    Public(
        repository="MJJA213/Oapple",
        commit="ab8abd4cc7207ef63b218c8bf10f19ff41f25079",
        path="default.metallib",
        digest="295721d86471be2c52399e830a8de06741933cd35d5518ea6502fec9eb40c61c",
        kernel="blitTexture2D_R8",
        run=runs.blit,
    ),
    Public(
        repository="Tencent/TNN",
        commit="00676b044ea415a1872ae90d1a96cb62dbb615c1",
        path="platforms/ios/tnn.bundle/tnn.metallib",
        digest="c997445cebc829ed6c23f8c3f089ae5263a3d585c822cadbe351dd30930fd15a",
        kernel="elu",
        run=runs.elu,
        most=2e-3,
    ),
    Public(
        repository="cosmos33/MMMedia",
        commit="a7beccc86c580461b9ee7a4a36181aa78fb6a34b",
        path="Resources/default.metallib",
        digest="77a595eab16c073b0b10ebcd73832d236e3b9eb4c5bb779826805d4ef10cec1f",
        kernel="colorLookupTable2DSquareTo3D",
        run=runs.lookup_table,
    ),
    Public(
        repository="cosmos33/MMMedia",
        commit="074b4fd71959b13bbbd47281ddfac4d598eb7de5",
        path="Resources/default.metallib",
        digest="5d0084dbbb02a8d6d9e1c4bf8572fc5e3895b9348893e2e4ad063c802eb4995b",
        kernel="colorLookupTable2DSquareTo3D",
        run=runs.lookup_table,
    ),
    Public(
        repository="Tencent/TNN",
        commit="00676b044ea415a1872ae90d1a96cb62dbb615c1",
        path="platforms/ios/tnn.bundle/tnn.simulator.metallib",
        digest="54576c1284e7fe2df43d60ae43a1e8b2f78476b3fdabab28fa924d2c4abd3f88",
        kernel="elu",
        run=runs.elu,
        most=2e-3,
    ),
    Public(
        repository="Tencent/TNN",
        commit="c9681797cda409c5560ad8fa0319009d81e9c17d",
        path="scripts/build_macos_native/tnn.metallib",
        digest="d78cbb66f4eda28f4d594101ad844604391cfafef85b7f571f065f3e1ec8b2b5",
        kernel="elu",
        run=partial(runs.elu, kind=np.float32),
        most=1e-6,
    ),
    Public(
        repository="Simonesovereign/Acorn_Llama",
        commit="700f7aea06acdd20a4b77a5f04ccf4a0666b8730",
        path="default.metallib",
        digest="715a1a42e20644ea508a562246d842e841e429c6590aafd39a9f20bdfe2d857b",
        kernel="kernel_scale",
        run=runs.scale,
    ),
    Public(
        repository="huggingface/candle",
        commit="b4ec636d86c054c84a11aef2d09a9bd8fdc8987d",
        path=f"{_MFA}.ios.metallib",
        digest="5cae4e510fd55b9d1854a33cf45ab532f726cfe9f3bc88fc92350b4f6defea1e",
        kernel="sgemm",
        run=runs.blocked_product,
        most=1e-5,
    ),
    Public(
        repository="huggingface/candle",
        commit="b4ec636d86c054c84a11aef2d09a9bd8fdc8987d",
        path=f"{_MFA}.metallib",
        digest="66c33bfb126a6ef64eb22f11d972a62f446b85682a8ef2d8b578a87b0c2132fc",
        kernel="sgemm",
        run=runs.blocked_product,
        most=1e-5,
    ),
    Public(
        repository="huggingface/candle",
        commit="bb191c25d50d688aeb4431110aa9df982cea1630",
        path=f"{_MFA}.metallib",
        digest="da2d45d122826fa28758e526fa925ebd4ecd23940cc48a9bb652520570be0a3c",
        kernel="sgemm",
        run=runs.blocked_product,
        most=1e-5,
    ),
    Public(
        repository="kolinko/effort",
        commit="1b649a2c558c94469a3cd8a07d6733f405b040eb",
        path="default.metallib",
        digest="f61a99585b2b0d9b1028856c23d424a727dd070ce6249366ef42b119559ab310",
        kernel="silu32",
        run=runs.silu,
        most=1e-6,
    ),
    Public(
        repository="i-ter/Metal-GPU-Kernel-in-Cpp",
        commit="49ab0515449c0e3fae84d6860690e8bc58145c34",
        path="default.metallib",
        digest="0089366dbbcbc22f5a21d7013a35dafbb5fe2f96abb494469de79357171b5f77",
        kernel="matmul",
        run=runs.product,
        most=1e-5,
    ),
    Public(
        repository="dl-alexandre/mercatus",
        commit="45573bef944cb54642db2a88421334102d801184",
        path="default.metallib",
        digest="9f4b271c0b21cc0aae26223550316dbae7016254e5bf63eb8e962b17a065b559",
        kernel="passthrough",
        run=runs.copy,
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Read and run what can be had, and write the page; 1 if a kernel is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("--public", action="store_true", required=True)
    parser.add_argument("--from", type=Path, dest="folder", help="files by their SHA-256")
    options = parser.parse_args(arguments)
    rows = []
    for each in LIBRARIES:
        data = _data(each, options.folder)
        if data is None:
            print(f"{each.address}: cannot be had, or is another file now")
            continue
        row = tried(each, data)
        rows.append(row)
        print(
            f"{row.platform} AIR {row.air} {row.repository}: {row.read} of {row.kernels}, ", end=""
        )
        print(f"{row.kernel} {'right' if row.passed else 'WRONG'} ({row.off:.2g})", flush=True)
    if len(rows) == len(LIBRARIES):
        STORED.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
        PAGE.write_text(with_rows(PAGE.read_text(), json.loads(STORED.read_text())))
    return int(not all(row.passed for row in rows) or not rows)


def tried(public: Public, data: bytes) -> Row:
    """Read every kernel of a file, all of whose constants are 1, and run one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "public.metallib"
        path.write_bytes(data)
        library = open_library(path)
        read = sum(_is_read(library, name) for name in library.function_names)
    container = library.containers[0]
    function = container.functions[public.kernel]
    found, expected = public.run(partial(runs.launched, data, public.kernel))
    off = float(np.abs(found.astype(np.float64) - expected).max())
    return Row(
        repository=public.repository,
        path=public.path,
        address=public.address,
        platform=container.platform,
        file_version=_dotted(container.version),
        air=_dotted(function.air_version),
        language=_dotted(function.language_version),
        kernels=len(library.function_names),
        read=read,
        kernel=public.kernel,
        off=off,
        passed=off <= public.most,
    )


def with_rows(page: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page with the rows between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [
        "| AIR | MSL | for | file | kernels read | run | off by at most |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['air']} | {row['language']} | {row['platform']} "
        f"| [{row['repository']}]({row['address']}) | {row['read']} of {row['kernels']} "
        f"| `{row['kernel']}` | {_off(row['off'])} |"
        for row in rows
    ]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"


def _is_read(library: Any, name: str) -> bool:
    try:
        constants = {each.index: 1 for each in library.constants_of(name)}
        return bool(library.function(name, constants).program().function.blocks)
    except Exception as error:
        print(f"{name}: {error}")
        return False


def _off(largest: float) -> str:
    return f"{largest:.1g}" if largest else "nothing"


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _data(public: Public, folder: Path | None) -> bytes | None:
    """The file, if it is what it was."""
    try:
        if folder is not None:
            data = (folder / public.digest).read_bytes()
        else:
            with urllib.request.urlopen(public.address, timeout=60) as answer:
                data = answer.read()
    except (OSError, urllib.error.URLError):
        return None
    return data if hashlib.sha256(data).hexdigest() == public.digest else None
