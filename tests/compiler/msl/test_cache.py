import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.compiler.msl import compile_library, opening
from assay.compiler.msl.front import clang, precompiled
from assay.compiler.msl.together import compiled_together

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x) { x[0] = exp(x[1]); }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one at every start of clang."""
    counted: list[int] = []
    real = clang.run_clang

    def counting(*arguments, **options):
        counted.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(clang, "run_clang", counting)
    return counted


def compiled(**options) -> bytes:
    return compile_library(SOURCE, **options).function("k").bitcode


def entries(folder: Path, kind: str) -> list[Path]:
    return [path for path in (folder / kind).rglob("*") if path.is_file()]


def test_second_compilation_starts_no_compiler_and_takes_no_time(folder: Path, runs) -> None:
    first = compiled()
    runs.clear()
    started = time.process_time()
    assert compiled() == first
    assert time.process_time() - started < 0.03
    assert not runs


def test_bitcode_is_the_same_whenever_it_is_made(
    folder: Path, tmp_path_factory, monkeypatch
) -> None:
    first = compiled()
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path_factory.mktemp("other")))
    assert compiled() == first


def test_damaged_entries_are_compiled_again(folder: Path, runs) -> None:
    first = compiled()
    for path in entries(folder, "msl"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    runs.clear()
    assert compiled() == first
    assert runs


def test_damaged_precompiled_headers_are_made_again(folder: Path) -> None:
    first = compiled()
    (headers,) = (path for path in entries(folder, "msl-headers") if path.suffix == ".pch")
    headers.write_bytes(headers.read_bytes()[:1000])
    precompiled._usable.clear()
    for path in entries(folder, "msl"):
        path.unlink()
    assert compiled() == first
    assert headers.stat().st_size > 1000


def test_headers_that_vanish_while_running_are_made_again(folder: Path) -> None:
    compiled()
    (headers,) = (path for path in entries(folder, "msl-headers") if path.suffix == ".pch")
    headers.unlink()
    assert compile_library(SOURCE + "\n").function("k").bitcode


def test_headers_that_vanish_are_made_again_for_texts_that_are_compiled_together(
    folder: Path,
) -> None:
    assert compiled_together(["int first() { return 1; }"], fast_math=False)
    for headers in entries(folder, "msl-headers"):
        headers.unlink()
    assert compiled_together(["int second() { return 2; }"], fast_math=False)


def test_without_a_place_to_write_everything_still_works(monkeypatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE_DIR", "/proc/nowhere")
    assert compiled()


@pytest.mark.parametrize(
    "options",
    [{"macros": {"A": "1"}}, {"fast_math": False}, {"language_version": (3, 0)}],
    ids=str,
)
def test_other_options_are_other_entries(folder: Path, runs, options: dict) -> None:
    from assay.compiler.msl import CompileOptions

    compiled()
    runs.clear()
    compiled(options=CompileOptions(**options))
    assert runs


def test_the_compilers_own_code_is_part_of_the_key(folder: Path, runs, monkeypatch) -> None:
    compiled()
    runs.clear()
    monkeypatch.setattr(opening, "_own_digest", lambda: "another")
    compiled()
    assert runs


_CHILD = f"""
from assay.compiler.msl import compile_library
import hashlib
print(hashlib.sha256(compile_library({SOURCE!r}).function('k').bitcode).hexdigest())
"""


def test_several_processes_may_fill_one_empty_cache_at_once(folder: Path) -> None:
    root = next(parent for parent in Path(__file__).parents if (parent / "pyproject.toml").exists())
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdout=subprocess.PIPE,
            cwd=root,
            env={**os.environ, "ASSAY_CACHE_DIR": str(folder)},
        )
        for _ in range(3)
    ]
    answers = {child.communicate(timeout=120)[0] for child in children}
    assert len(answers) == 1
    assert all(child.returncode == 0 for child in children)
    assert not list(folder.rglob("tmp*"))


def test_threads_compile_different_kernels_of_one_library_together(folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    shared = compile_library(SOURCE + "kernel void l(device float* x) { x[0] = 2; }\n")
    with ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(shared.function, ["k", "l", "k", "l"]))
    assert kernels[0] is kernels[2]
    assert kernels[1].bitcode != kernels[0].bitcode
