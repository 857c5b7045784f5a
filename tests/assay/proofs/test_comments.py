"""Assumptions in comments of MSL source."""

from __future__ import annotations

import pytest

from assay.launches.errors import LaunchInputError
from assay.proofs.comments import Stated, assumptions_in

SOURCE = """\
// assay: assume(n > 0)
kernel void first(constant uint& n) {
    // "a brace {" opens nothing
    // assay: assume(n % 32 == 0)
}
// assay: assume(grid.x <= m)
kernel void second(constant uint& m,
                   // assay: assume(m < 10)
                   uint i [[thread_position_in_grid]]) {}
"""
LINES = {"first": 2, "second": 7}


def test_comments_belong_to_the_kernel_around_them_or_behind() -> None:
    found = assumptions_in(SOURCE, "k.metal", LINES)
    assert found == {
        "first": [Stated("n > 0", "k.metal:1"), Stated("n % 32 == 0", "k.metal:4")],
        "second": [Stated("grid.x <= m", "k.metal:6"), Stated("m < 10", "k.metal:8")],
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("// assay: asume(n > 0)", "k.metal:2: '// assay: asume(n > 0)' is not understood"),
        ("// assay: assume(n > 0", "k.metal:2: '// assay: assume(n > 0' is not understood"),
        ("// assay: assume(n > 0)", "k.metal:2: no kernel begins behind this comment"),
    ],
)
def test_a_damaged_comment_is_told_with_its_line(line: str, message: str) -> None:
    with pytest.raises(LaunchInputError) as caught:
        assumptions_in(f"kernel void k() {{}}\n{line}\n", "k.metal", {"k": 1})
    assert message in str(caught.value)
