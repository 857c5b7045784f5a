"""Libraries and headers are taken out of wheels, and what is not to be had is told."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from benchmarks.apple import wheels
from benchmarks.apple.wheels import Wheel
from tests.support.metallib import Buffer, kernel, library

BODY = "  store i32 1, ptr addrspace(1) %b0"
LIBRARY = library({"k": kernel("k", BODY, (Buffer(name="x", element="i32"),))})


def test_a_library_and_headers_lie_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = Wheel(
        name="mine14",
        macos=14,
        requirement="mine==1",
        library="mine/lib/mine.metallib",
        headers="mine/include/",
    )
    monkeypatch.setattr(wheels, "WHEELS", (plain,))
    (tmp_path / "wheels" / "mine14").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "wheels" / "mine14" / "mine-1.whl", "w") as archive:
        archive.writestr("mine/lib/mine.metallib", LIBRARY)
        archive.writestr("mine/include/k.h", "#pragma once")
        archive.writestr("mine/other.py", "")
    assert wheels.main(["--fetch", str(tmp_path), "mine14"]) == 0
    told = capsys.readouterr().out.split()
    assert (tmp_path / "mine14.metallib").read_bytes() == LIBRARY
    assert told == [
        str(tmp_path / "mine14.metallib"),
        str(tmp_path / "headers/mine14/mine/include"),
    ]
    assert [each.name for each in (tmp_path / "headers").rglob("*") if each.is_file()] == ["k.h"]


def test_libraries_of_a_program_are_taken_in_their_order_where_a_wheel_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = library({"k": kernel("k", BODY + "\n" + BODY, (Buffer(name="x", element="i32"),))})
    program = b"\xcf\xfa\xed\xfe" + bytes(60) + LIBRARY + bytes(8) + second + b"end"
    wheel = Wheel(
        name="t", macos=11, requirement="t==1", library=wheels.DYLIB, parts=("-old", "-new")
    )
    monkeypatch.setattr(wheels, "WHEELS", (wheel,))
    (tmp_path / "wheels" / "t").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "wheels" / "t" / "t-1.whl", "w") as archive:
        archive.writestr(wheels.DYLIB, program)
    assert wheels.main(["--fetch", str(tmp_path), "t-new"]) == 0
    assert (tmp_path / "t-old.metallib").read_bytes() == LIBRARY
    assert (tmp_path / "t-new.metallib").read_bytes() == second


def test_a_wheel_that_is_not_to_be_had_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = Wheel(name="none", macos=14, requirement="no such thing", library="x")
    monkeypatch.setattr(wheels, "WHEELS", (missing,))
    assert wheels.main(["--fetch", str(tmp_path), "none"]) == 1
    assert capsys.readouterr().err.startswith("no such thing for macOS 14: ")
