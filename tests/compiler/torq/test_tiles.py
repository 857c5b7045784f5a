"""Every other operator made tile by tile equals the whole, at the cost and footprint foretold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .tile_cases import DRAWN
from .tiles import cuts_of


@pytest.mark.parametrize("name", DRAWN)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_tiles_of_any_operator_make_the_whole(name: str, data: st.DataObject) -> None:
    case = data.draw(DRAWN[name])
    case.check(data.draw(cuts_of(case.op, case.kernel)))
