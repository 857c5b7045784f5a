"""Variables without a value are called by their names."""

from __future__ import annotations

import pytest

from assay.reports.variables import declared_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("float best;", "best"),
        ("float4 sums[2][4];", "sums"),
        ("uint a = 1, b;", "b"),
        ("const device float* place;", "place"),
        ("metal::vec<float, 4> v;", "v"),
        ("float a, b;", ""),
        ("value = x[i];", ""),
        ("if (t < 4) {", ""),
        ("", ""),
    ],
)
def test_the_name_is_that_of_the_only_variable_without_a_value(text: str, name: str) -> None:
    assert declared_name(text) == name
