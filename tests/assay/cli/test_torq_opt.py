"""`assay torq opt` runs passes, and says plainly what it cannot run."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.cli.failures import CommandError
from assay.compiler.models.errors import ModelError
from assay.hal.status import StatusError
from assay.hal.torq.listing.passes import WHOLE
from tests.compiler.graph import models

_TEXT = """builtin.module {
  func.func @main(%x: !torq_hl.tensor<8xi32>) -> !torq_hl.tensor<8xi8> {
    %0 = torq_hl.scale %x {rescale = #torq_hl.rescale<[3], [9], zp 0, range -128 to 127>}
      : (!torq_hl.tensor<8xi32>) -> !torq_hl.tensor<8xi8>
    %1 = torq_hl.clamp %0 {low = 0 : i64, high = 9 : i64}
      : (!torq_hl.tensor<8xi8>) -> !torq_hl.tensor<8xi8>
    func.return %1 : !torq_hl.tensor<8xi8>
  }
}
"""


def _run(*arguments: str | Path) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["torq", "opt", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


def test_one_pass_runs_alone_on_text(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(_TEXT)
    out, err = _run(path, "--pass", "fold-clamps", "--print-ir-after-all")
    assert "range 0 to 9" in out and "torq_hl.clamp" not in out
    assert "// after fold-clamps" in err


def test_passes_are_listed_with_what_they_do() -> None:
    out, _ = _run("--list")
    assert [line.split()[0] for line in out.splitlines()] == list(
        {kind.name: None for kind in WHOLE}
    )


def test_a_pass_that_there_is_not_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(_TEXT)
    with pytest.raises(ModelError, match="there is no pass fold-nothing"):
        _run(path, "--pass", "fold-nothing")


def test_text_that_does_not_fit_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "scale.mlir"
    path.write_text(_TEXT.replace("[9], zp", "[9, 9], zp"))
    with pytest.raises(ModelError, match="1 multipliers with 2 shifts"):
        _run(path)


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
def test_a_network_is_lowered_and_says_which_way_operators_went(tmp_path: Path) -> None:
    path = models.tflite_file("small", tmp_path)
    out, _ = _run(path, "--elide", "8", "--stop-after", "canonicalise")
    assert "torq_hl.convolution" in out and "dense_resource<__elided__>" in out
    out, _ = _run(path, "--ways")
    assert out.splitlines()[-1] == "3 direct"
    out, _ = _run(path, "--stop-after", "legalise-tosa")
    assert "torq_hl.scale" in out


def test_a_model_becomes_a_listing_a_listing_words_and_words_the_same_listing(
    tmp_path: Path,
) -> None:
    path, text, words = (tmp_path / name for name in ("scale.mlir", "hw.mlir", "scale.torq"))
    path.write_text(_TEXT)
    out, err = _run(path, "--print-ir-after-all", "-o", text)
    assert not out and "// after schedule\nbuiltin.module" in err and "torq_hw.block" in err
    assert "torq_plan.run" in err and " at <lram[" in err
    assert "torq_hw.slice_task" in text.read_text()
    _run(text, "-o", words)
    assert _run(words)[0] == text.read_text()


def test_what_is_no_executable_yet_is_not_written_as_one(tmp_path: Path) -> None:
    path, words = tmp_path / "scale.mlir", tmp_path / "scale.torq"
    path.write_text(_TEXT)
    with pytest.raises(CommandError, match="an executable is made of all passes"):
        _run(path, "--stop-after", "canonicalise", "-o", words)
    assert not words.exists()


def test_a_schedule_is_printed_and_packed_alone(tmp_path: Path) -> None:
    path, text = tmp_path / "scale.mlir", tmp_path / "unpacked.mlir"
    path.write_text(_TEXT)
    _run(path, "--stop-after", "materialise", "-o", text)
    assert "torq_hw.block" not in text.read_text() and "torq_hw.wait" in text.read_text()
    with pytest.raises(StatusError, match="pass pack makes them"):
        _run(text, "-o", tmp_path / "no.torq")
    assert _run(text, "--pass", "pack")[0] == _run(path)[0]


def test_a_damaged_listing_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "hw.mlir"
    path.write_text("builtin.module {\n  torq_hw.nss_program {\n    torq_hw.wait(%xr)\n  }\n}\n")
    with pytest.raises(ModelError, match="this is not TorqHW"):
        _run(path)


def test_a_schedule_that_is_read_is_completed_and_keeps_what_it_says(tmp_path: Path) -> None:
    path, text, words = (tmp_path / name for name in ("scale.mlir", "plan.mlir", "scale.torq"))
    path.write_text(_TEXT)
    _run(path, "--stop-after", "allocate-lram", "-o", text)
    given = text.read_text()
    place = given.partition('"x of ')[2].partition("lram[")[2].partition("]")[0]
    text.write_text(given.replace(place, "0x40000", 1))
    _, err = _run(text, "--print-ir-after-all", "-o", words)
    assert [line for line in err.splitlines() if line.startswith("// after")] == [
        "// after allocate-xram",
        "// after materialise",
        "// after pack",
    ]
    assert "lram[0x40000] " in _run(words)[0]
