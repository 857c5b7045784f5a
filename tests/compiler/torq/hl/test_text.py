"""TorqHL's text says all that an operation is, and what does not fit is refused."""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

from assay.compiler.torq.hl.dialect import parsed
from assay.compiler.torq.hl.types import tensor_of

_X = '!torq_hl.tensor<1x4x8x8xi8, planes, lram, zp 3, scale "0.05">'
_W, _B = "!torq_hl.tensor<8x4x3x3xi8>", "!torq_hl.tensor<8xi32, xram>"
_Y = "!torq_hl.tensor<1x8x8x8xi8, planes, zp -20>"
_RESCALE = "#torq_hl.rescale<[1717986944], [37], zp -20, range -20 to 127, double>"
_FIELDS = f"padding = array<i64: 1, 1, 1, 1>, input_zp = 3 : i64, rescale = {_RESCALE}"


def _convolution(fields: str = _FIELDS, y: str = _Y, w: str = _W) -> str:
    return (
        "builtin.module {\n"
        f"  func.func @main(%x: {_X}, %w: {w}, %b: {_B}) -> {y} {{\n"
        f"    %y = torq_hl.convolution %x, %w, %b {{{fields}}} : ({_X}, {w}, {_B}) -> {y}\n"
        f"    func.return %y : {y}\n  }}\n}}"
    )


def test_a_module_is_printed_as_it_was_read() -> None:
    text = _convolution()
    assert str(parsed(text)) == text


def test_fields_are_read_as_numbers_with_their_usual_values() -> None:
    (function,) = parsed(_convolution()).body.block.ops
    op = next(iter(function.regions[0].blocks[0].ops))
    assert op.fields["padding"] == (1, 1, 1, 1)  # type: ignore[attr-defined]
    assert op.fields["stride"] == (1, 1)  # type: ignore[attr-defined]
    assert op.fields["rescale"].double_round  # type: ignore[attr-defined]
    assert tensor_of(op.operands[0]).scale == 0.05


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_convolution(_FIELDS.replace("1, 1, 1, 1", "0, 1, 1, 1")), "makes 7 rows"),
        (_convolution(w="!torq_hl.tensor<8x3x3x3xi8>"), "weights of"),
        (_convolution(_FIELDS.replace("[37]", "[37, 37]")), "1 multipliers with 2 shifts"),
        (_convolution(_FIELDS.replace("zp -20", "zp -19")), "zero point is -20"),
        (_convolution(_FIELDS.replace("-20 to 127", "100 to 3")), "range from 100 to 3"),
        (_convolution(y=_Y.replace("zp -20", "zp -129")), "zero point -129"),
        (_convolution(y=_Y.replace("planes", "quadrants").replace("8x8x8", "8x7x8")), "even"),
        (_convolution(y=_Y.replace("xi8", "xi7")), "element type"),
        (_convolution(y=_Y.replace("planes", "plain")), "plain"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises((VerifyException, ParseError), match=reason):
        parsed(text)
