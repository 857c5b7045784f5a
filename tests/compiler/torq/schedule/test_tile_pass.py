"""Pass `tile` writes down what `schedule` would choose, and `schedule` does what is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from assay.compiler.graph.importer import import_model
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.dialect import hl_context, parsed
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import program_for
from assay.compiler.torq.schedule.ir.passes import Tile
from assay.compiler.torq.schedule.options import Options
from tests.compiler.graph import models
from tests.models.tflite.network import Network

from .running import assert_exact_and_clean

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def _tiled(module: ModuleOp, options: Options) -> tuple[str, str]:
    """The text of a model's module without tiles, and with them."""
    run_passes(module, usual_passes())
    plain = str(module)
    Tile(options).apply(hl_context(), module)
    return plain, str(module)


def _alone(net: Network) -> bytes:
    return net.finish(net.convolution(net.input((1, 24, 24, 8)), 16, 3))


def _together(net: Network) -> bytes:
    return net.finish(net.convolution(net.convolution(net.input((1, 32, 32, 4)), 32, 1), 8, 3))


def _in_parts(net: Network) -> bytes:
    return net.finish(net.fully_connected(net.input((2, 1_500)), 70))


@pytest.mark.parametrize(
    ("make", "lram", "seen"),
    [(_alone, 28, "] by ["), (_together, 48, "group"), (_in_parts, 28, "terms")],
)
def test_a_program_is_the_same_with_tiles_written_down(
    make: Callable[[Network], bytes], lram: int, seen: str, tmp_path: Path
) -> None:
    small = Options(hardware=f"{lram}:2:coral_v1:nss_v1")
    path = tmp_path / "network.tflite"
    path.write_bytes(make(Network(3)))
    plain, text = _tiled(import_model(path, hl_context()), small)
    assert seen in text
    assert program_for(parsed(text), small) == program_for(parsed(plain), small)


@pytest.mark.slow
@pytest.mark.parametrize("name", models.LARGE)
def test_the_program_of_a_network_is_the_same_with_tiles_written_down(
    name: str, folder: Path
) -> None:
    plain, text = _tiled(models.imported(name, folder), Options())
    assert program_for(parsed(text)) == program_for(parsed(plain))


def test_tiles_that_are_written_by_hand_are_made(folder: Path) -> None:
    inputs, expected = models.reference("small", folder)
    _, text = _tiled(models.imported("small", folder), Options())
    assert "[1, 8, 8, 8] by [0, 1, 2, 3], kept>" in text
    usual = program_for(parsed(text))
    changed = text.replace(
        "[1, 8, 8, 8] by [0, 1, 2, 3], kept>", "[1, 4, 2, 8] by [0, 2, 3, 1]>", 1
    )
    program = program_for(parsed(changed))
    assert len(program.notes.slice_runs) > len(usual.notes.slice_runs)
    assert_exact_and_clean(program, inputs, expected)


_CLAMP = (
    "builtin.module {{ func.func @main(%x: !torq_hl.tensor<{shape}>) -> !torq_hl.tensor<{shape}> {{"
    " %0 = torq_hl.clamp %x {{low = -5 : i64, high = 5 : i64, tiles = #torq_hl.tiles<{tiles}>}}"
    " : (!torq_hl.tensor<{shape}>) -> !torq_hl.tensor<{shape}>"
    " func.return %0 : !torq_hl.tensor<{shape}> }} }}"
)


@pytest.mark.parametrize(
    ("tiles", "message"),
    [
        ('"clam", [40, 30] by [0, 1]', "kernel 'clam'; there are clamp"),
        ('"clamp", [50, 30] by [0, 1]', "tiles of 50 along axis 0, which has 40, multiples of 1"),
        ('"clamp", [40] by [0]', "1 sizes of tiles for 2 axes"),
        ('"clamp", [40, 30] by [0, 1], kept', "stays in LRAM, which nobody reads"),
        ('"clamp", terms 3', "sums of 3 terms at a time"),
        ('"clamp", group 0, rows 2', "a group of 1 operators that cannot be done together"),
    ],
)
def test_tiles_that_cannot_be_are_refused_by_operator(tiles: str, message: str) -> None:
    text = _CLAMP.format(shape="40x30xi8", tiles=tiles)
    with pytest.raises(ModelError, match=f"^clamp 0: its attribute tiles asks for .*{message}$"):
        program_for(parsed(text))


def test_tiles_that_are_too_large_are_refused_by_operator() -> None:
    text = _CLAMP.format(shape="1000x1000xi8", tiles='"clamp", [1000, 1000] by [0, 1]')
    with pytest.raises(ModelError, match=r"clamp 0: .* too large: no room in LRAM for x of clamp"):
        program_for(parsed(text))


def test_a_zero_point_that_no_register_holds_is_refused_by_operator() -> None:
    text = """builtin.module {
      func.func @main(%x: !torq_hl.tensor<1x4x8x8xi8, planes>)
          -> !torq_hl.tensor<1x4x8x8xi8, planes> {
        %w = torq_hl.const {values = dense<1> : tensor<4x4x3x3xi8>} : !torq_hl.tensor<4x4x3x3xi8>
        %b = torq_hl.const {values = dense<0> : tensor<4xi32>} : !torq_hl.tensor<4xi32>
        %0 = torq_hl.convolution %x, %w, %b {padding = array<i64: 1, 1, 1, 1>,
          input_zp = 1048579 : i64,
          rescale = #torq_hl.rescale<[1073741824], [39], zp 0, range -128 to 127>}
          : (!torq_hl.tensor<1x4x8x8xi8, planes>, !torq_hl.tensor<4x4x3x3xi8>,
          !torq_hl.tensor<4xi32>) -> !torq_hl.tensor<1x4x8x8xi8, planes>
        func.return %0 : !torq_hl.tensor<1x4x8x8xi8, planes>
      }
    }"""
    with pytest.raises(ModelError, match=r"^convolution 0: .*pad_value: is 1048579"):
        program_for(parsed(text))
