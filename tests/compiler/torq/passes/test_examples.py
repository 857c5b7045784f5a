"""What the docstring of each pass shows is what it does."""

from __future__ import annotations

import inspect

import pytest
from xdsl.passes import ModulePass

from assay.compiler.graph.mlir import read_module
from assay.compiler.torq.hl.dialect import hl_context, parsed
from assay.compiler.torq.hw.dialect import hw_parsed
from assay.compiler.torq.passes.pipeline import PASSES
from assay.compiler.torq.plan.dialect import plan_context, plan_parsed
from assay.compiler.torq.schedule.ir.passes import Schedule, Tile
from assay.hal.torq.listing.passes import WHOLE, Pack
from assay.hal.torq.listing.text import listing

from . import examples

_WHOLE = {**PASSES, "tile": Tile}
"""All passes but the last ones, of whose results examples show some lines."""


@pytest.mark.parametrize("name", _WHOLE)
def test_the_example_of_a_pass_is_what_it_does(name: str) -> None:
    before, after = examples.example(inspect.getdoc(_WHOLE[name]) or "")
    if name == "legalise-tosa":
        pytest.importorskip("iree.compiler", reason="TOSA is read by IREE's bindings")
        text = examples.module(before, plain=True).replace("builtin.module", "module")
        module = read_module(text.encode(), name, hl_context())
    else:
        module = parsed(examples.module(before))
    _WHOLE[name]().apply(hl_context(), module)
    module.verify()
    expected = parsed(examples.module(after))
    assert examples.steps(str(module)) == examples.steps(str(expected))


_CLAMP = examples.example(inspect.getdoc(Schedule) or "")[0]
_LONG = """%0 = torq_hl.clamp %x {low = -5 : i64, high = 5 : i64, \
tiles = #torq_hl.tiles<"clamp", [131072] by [0]>} : (tensor<786432xi8>) -> tensor<786432xi8>"""
_DENSE = """%w = torq_hl.const {values = dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], \
[13, 14, 15, 16]]> : tensor<4x4xi8>} : tensor<4x4xi8>
%b = torq_hl.const {values = dense<[0, 1, 2, 3]> : tensor<4xi32>} : tensor<4xi32>
%0 = torq_hl.fully_connected %x, %w, %b {rescale = #torq_hl.rescale<[1073741824], [37], zp 0, \
range -128 to 127>} : (tensor<1x4xi8>, tensor<4x4xi8>, tensor<4xi32>) -> tensor<1x4xi8>"""
_SHOWN = {"pack-constants": _DENSE, "keep-code": _LONG}
"""What the examples of some of the last passes are lines of; those of the others are of a clamp."""
_LAST = WHOLE[WHOLE.index(Schedule) :]


@pytest.mark.parametrize("kind", _LAST, ids=lambda kind: kind.name)
def test_the_examples_of_the_last_passes_are_lines_of_what_they_make(
    kind: type[ModulePass],
) -> None:
    before, after = examples.example(inspect.getdoc(kind) or "")
    module = parsed(examples.module(_SHOWN.get(kind.name, _CLAMP)))
    for earlier in _LAST[: _LAST.index(kind)]:
        earlier().apply(plan_context(), module)
    text = listing(module)
    if kind is not Schedule:
        assert examples.are_in_order(before, text)
    alone = hw_parsed(text) if kind is Pack else plan_parsed(text)
    kind().apply(plan_context(), alone)
    alone.verify()
    assert examples.are_in_order(after, listing(alone))
