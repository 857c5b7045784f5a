"""Headers are precompiled while what comes before clang is done."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from assay.compiler.msl import CompileError, CompileOptions, compile_library
from assay.compiler.msl.front import precompiled
from assay.sim.simt.run import kernel_code, program

_SOURCE = "kernel void f(device float* x [[buffer(0)]]) { x[0] = 1; }"


@pytest.fixture(autouse=True)
def _nothing_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(precompiled, "_usable", set())


def test_headers_are_made_once_by_a_thread_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    makers: list[threading.Thread] = []
    build = precompiled._build

    def noting(path: Path, options: tuple[str, ...]) -> bool:
        makers.append(threading.current_thread())
        return build(path, options)

    monkeypatch.setattr(precompiled, "_build", noting)
    compile_library(_SOURCE).function("f").program()
    assert len(makers) == 1 and makers[0] is not threading.main_thread()
    assert not makers[0].is_alive() and not precompiled._making


def test_headers_that_do_not_compile_are_told_by_who_needs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(path: Path, options: tuple[str, ...]) -> bool:
        raise CompileError("the standard library does not compile:\nno")

    monkeypatch.setattr(precompiled, "_build", broken)
    with pytest.raises(CompileError, match="the standard library does not compile"):
        compile_library(_SOURCE)


def test_the_engine_is_made_ready_while_headers_are_made_and_only_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readied: list[bool] = []
    monkeypatch.setattr(program, "ready_engine", lambda: readied.append(bool(precompiled._making)))
    compile_library(_SOURCE)
    assert readied == [True]
    compile_library(_SOURCE.replace("x[0] = 1", "x[0] = 2"))
    assert readied == [True]


def test_what_was_made_ready_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    program.ready_engine()
    compiled: list[str] = []
    monkeypatch.setattr(kernel_code, "_compiled", lambda text, kind: compiled.append(kind))
    kernel_code.load_common_helpers()
    assert not compiled


@pytest.mark.parametrize(
    ("source", "macros"),
    [
        ("// v.xyzw, fast::exp and texture2d<float>\n" + _SOURCE, {}),
        ("#define SW(a, b) a##b\n" + _SOURCE.replace("= 1", "= metal::float4(1).SW(wz, yx).x"), {}),
        ("#if 0\ntexture2d<float> t;\n#endif\n" + _SOURCE, {}),
        ("#pragma METAL fp contract(off)\n" + _SOURCE, {}),
        (_SOURCE.replace("= 1", "= VALUE"), {"VALUE": "metal::fast::exp(1.0f)"}),
        ("#include <metal_stdlib>\n#define ONE 1\n" + _SOURCE.replace("= 1", "= ONE"), {}),
    ],
)
def test_headers_are_made_once_whatever_a_source_seems_to_need(
    monkeypatch: pytest.MonkeyPatch, source: str, macros: dict[str, str]
) -> None:
    made: list[tuple[str, ...]] = []
    build = precompiled._build

    def noting(path: Path, options: tuple[str, ...]) -> bool:
        made.append(options)
        return build(path, options)

    monkeypatch.setattr(precompiled, "_build", noting)
    compile_library(source, options=CompileOptions(macros=macros))
    assert len(made) == 1


def test_a_program_compiles_though_the_engine_cannot_be_made_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(program, "ready_engine", broken)
    assert compile_library(_SOURCE).function("f")
