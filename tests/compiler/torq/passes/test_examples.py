"""What the docstring of each pass shows is what it does."""

from __future__ import annotations

import inspect

import pytest

from assay.compiler.graph.mlir import read_module
from assay.compiler.torq.hl.dialect import hl_context, parsed
from assay.compiler.torq.hw.dialect import hw_parsed, hw_text
from assay.compiler.torq.passes.pipeline import PASSES
from assay.hal.torq.listing.passes import Pack, Schedule, Tile

from . import examples

_WHOLE = {**PASSES, "tile": Tile}
"""All passes but the last two, of whose results examples show some lines."""


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


def test_the_examples_of_the_last_passes_are_lines_of_what_they_make() -> None:
    before, after = examples.example(inspect.getdoc(Schedule) or "")
    module = parsed(examples.module(before))
    Schedule().apply(hl_context(), module)
    assert examples.are_in_order(after, hw_text(module))
    before, after = examples.example(inspect.getdoc(Pack) or "")
    assert examples.are_in_order(before, hw_text(module))
    alone = hw_parsed(hw_text(module))
    Pack().apply(hl_context(), alone)
    alone.verify()
    assert examples.are_in_order(after, hw_text(alone))
