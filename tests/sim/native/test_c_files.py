"""C files read well in an editor: each is complete by itself, and its headers are there."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

from assay.sim.native.c_unit import CUnit
from tests.c_headers import ROOT, UNITS

FOLDERS = ("sim", "hw")
FLAGS = ("-std=c11", "-ffreestanding", "-Wall", "-Werror", "-fsyntax-only")
ALLOWED = ("-Wno-unused-function", "-Wno-pragma-once-outside-header")


def c_files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.c"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.kind)
def test_the_header_beside_the_files_is_what_python_declares(unit: CUnit) -> None:
    written = (ROOT / unit.header_path).read_text()
    assert written == unit.declared(), "run `python -m tests.c_headers`"


def test_every_c_file_compiles_alone_and_without_warnings() -> None:
    wheel = importlib.util.find_spec("ziglang")
    assert wheel is not None and wheel.origin is not None
    zig = Path(wheel.origin).parent / "zig"
    done = subprocess.run(
        [zig, "clang", *FLAGS, *ALLOWED, *c_files()],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_every_c_file_belongs_to_a_unit() -> None:
    sources = [unit.source() for unit in UNITS]
    for path in c_files():
        marker = f'#line 1 "assay/{path.relative_to(ROOT)}"'
        assert any(marker in source for source in sources), f"nothing includes {path}"
