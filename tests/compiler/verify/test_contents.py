"""What is assumed of numbers in buffers, and what threads counted in loops."""

from __future__ import annotations

import pytest

from assay.compiler.verify import AssumptionError

from .sources import proved

_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n//! [kernel.k]\n//! threadgroup = 64\n"
SCATTER = """\
kernel void k(device const uint* slots, device const uint* others, device float* y,
              constant uint& n, uint i [[thread_position_in_grid]]) {
    if (i < n) y[slots[i]] = i;
}
"""
CACHE = """\
kernel void k(device const int* places, device const uint* rows, device float* y,
              constant uint& n, constant uint& width, uint i [[thread_position_in_grid]]) {
    if (i < n) y[rows[i] * width + uint(places[i])] = i;
}
"""
FIRST = """\
kernel void k(device const uint* keys, device float* y, constant uint& n,
              uint i [[thread_position_in_grid]]) {
    if (i >= n) return;
    uint before = 0;
    for (uint j = 0; j < n; ++j) before += keys[j] == keys[i] && j < i;
    if (before == 0) y[keys[i]] = i;
}
"""
PAIRS = ("distinct(rows, places) and 0 <= places[*] and places[*] < width",)


def races(source: str, *holds: str) -> str:
    return proved(_HEAD + source, "buffer races", holds=holds)["buffer races"].verdict


def test_different_numbers_lead_to_different_places() -> None:
    assert races(SCATTER, "distinct(slots)") == "proved"
    assert races(SCATTER) == "refuted"
    offered = proved(_HEAD + SCATTER, "buffer races", offers=True)["buffer races"]
    assert offered.holds_if == "distinct(slots)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slots[i]]", "slots[i / 2]]"),
        ("slots[i]]", "slots[i] / 2]"),
        ("slots[i]]", "slots[i] + others[i]]"),
        ("slots[i]]", "others[i]]"),
        ("slots[i]]", "uint(((device const ushort*)slots)[i])]"),
        ("slots[i]]", "*(device const uint*)((device const char*)slots + i)]"),
        ("if (i < n) y[slots[i]] = i;", "uint s = i < n ? slots[i] : 0; y[s] = i;"),
    ],
)
def test_different_numbers_do_not_help_elsewhere(old: str, new: str) -> None:
    assert old in SCATTER
    assert races(SCATTER.replace(old, new), "distinct(slots)") != "proved"


def test_different_pairs_lead_to_different_places_if_rows_are_long_enough() -> None:
    assert races(CACHE, *PAIRS) == "proved"
    assert races(CACHE, "distinct(rows, places)") == "refuted"
    assert races(CACHE, "0 <= places[*] and places[*] < width") == "refuted"
    assert races(CACHE, "distinct(rows, places) and 0 <= places[*] <= width") == "refuted"
    assert races(CACHE.replace("rows[i]", "rows[i + 1]"), *PAIRS) == "refuted"


def test_numbers_of_a_stated_range_stay_within_a_buffer() -> None:
    source = CACHE.replace("rows[i] * width + ", "")
    holds = ("0 <= places[*] and places[*] < width and distinct(places)",)
    assert races(source, *holds) == "proved"


@pytest.mark.parametrize("name", ["slots", "y"])
def test_nothing_is_assumed_of_numbers_that_the_kernel_writes(name: str) -> None:
    source = SCATTER.replace("device const uint* slots", "device uint* slots")
    source = source.replace("y[slots[i]] = i;", "{ y[slots[i]] = i; slots[i] = 0; }")
    source = source.replace("device float* y", "device uint* y")
    with pytest.raises(AssumptionError, match=f"'{name}'.*the kernel may write"):
        races(source, f"distinct({name})")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("distinct(z)", "no buffer 'z'"),
        ("distinct(n)", "no buffer 'n'"),
        ("z[*] < 3", "no buffer 'z'"),
        ("slots[*] < others[*]", "one buffer at a time"),
        ("n < 3 or distinct(slots)", "expected a comparison"),
        ("not distinct(slots)", "expected a comparison"),
        ("distinct()", "expected a comparison"),
        ("slots[*] < 3 + distinct", "no integer argument 'distinct'"),
    ],
)
def test_what_is_not_understood_of_numbers_is_refused(text: str, why: str) -> None:
    with pytest.raises(AssumptionError, match=why):
        races(SCATTER, text)


def test_a_thread_that_counted_none_before_its_own_is_the_first() -> None:
    assert races(FIRST) == "proved"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("before == 0", "before <= 1"),
        ("&& j < i", "&& j + 1 < i"),
        ("j < n", "j < i / 2"),
        ("j = 0", "j = 1"),
        ("++j", "j += 2"),
        ("== keys[i]", "!= keys[i]"),
        ("before = 0", "before = 0xffffffffu"),
        ("y[keys[i]]", "y[keys[i] / 2]"),
        ("before += keys[j]", "before = keys[j]"),
        ("keys[j] == keys[i]", "keys[j] == keys[i] / 2"),
    ],
)
def test_a_thread_that_did_not_count_all_may_not_be_the_first(old: str, new: str) -> None:
    assert old in FIRST

    assert races(FIRST.replace(old, new)) != "proved"
