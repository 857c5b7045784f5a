"""What the Python functions take for a program, and what they say of anything else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import assay


@pytest.mark.parametrize("ask", [assay.check, assay.prove, assay.time])
@pytest.mark.parametrize("source", [None, 3.5, ["kernel.metal"]])
def test_what_is_no_program_is_refused_by_its_type(
    ask: Callable[[object], object], source: object
) -> None:
    with pytest.raises(TypeError, match=f"is needed, not {re.escape(repr(type(source).__name__))}"):
        ask(source)
