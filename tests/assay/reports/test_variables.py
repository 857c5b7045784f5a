"""Variables without a value are called by their names."""

from __future__ import annotations

import pytest

from assay.reports.members import member_at, size_of_type
from assay.reports.variables import declared_variable


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
    found = declared_variable(text)
    assert (found.name if found else "") == name


SOURCE = """
struct Part { float mean; half2 pair; };  // two of them
struct Hit {
    float depth;
    uint index, counts[3];
    float3 normal;
    Part parts[2];
};
struct Odd { float (*call)(int); int n; };
"""


@pytest.mark.parametrize(
    ("type", "offset", "path"),
    [
        ("Hit", 0, ".depth"),
        ("Hit", 4, ".index"),
        ("Hit", 12, ".counts[1]"),
        ("Hit", 20, ""),  # between members
        ("Hit", 36, ".normal"),
        ("Hit", 48, ".parts[0].mean"),
        ("Hit", 60, ".parts[1].pair"),
        ("float4", 4, ""),
        ("Odd", 8, ""),
        ("Unknown", 0, ""),
    ],
)
def test_members_are_found_by_their_offsets(type: str, offset: int, path: str) -> None:
    assert member_at(type, offset, [SOURCE]) == path


@pytest.mark.parametrize(
    ("type", "size"),
    [("float", 4), ("half3", 8), ("packed_float3", 12), ("Part", 8), ("Hit", 64), ("Odd", 0)],
)
def test_types_have_their_sizes(type: str, size: int) -> None:
    assert size_of_type(type, [SOURCE]) == size
