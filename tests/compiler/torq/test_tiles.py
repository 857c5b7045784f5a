"""Every other operator made tile by tile equals the whole, at the cost and footprint foretold."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from assay.compiler.torq.slice.errors import IllegalSliceProgram

from .tile_cases import DRAWN
from .tiles import cuts_of


@pytest.mark.parametrize("name", DRAWN)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_tiles_of_any_operator_make_the_whole(name: str, data: st.DataObject) -> None:
    case = data.draw(DRAWN[name])
    case.check(data.draw(cuts_of(case.op, case.kernel)))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "gather" else pytest.mark.slow) for n in DRAWN]
)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_tiles_of_tensors_in_lram_make_the_whole(name: str, data: st.DataObject) -> None:
    case = data.draw(DRAWN[name])
    try:
        case.check_within(data.draw(cuts_of(case.op, case.kernel)))
    except IllegalSliceProgram:
        reject()  # such tensors do not stay in LRAM
