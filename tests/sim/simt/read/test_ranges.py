"""Bounds of indices, and what is spared where all of them stay inside."""

import itertools

import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt.read import importer, ranges
from assay.sim.simt.read.ranges import Ranges
from tests.support.msl import PRELUDE

LOOP = """define void @f(i32 %0) {
  br label %2

2:                                                ; preds = %5, %1
  %3 = phi i32 [ START, %1 ], [ %6, %5 ]
  %4 = icmp HOW i32 %3, 8
  br i1 %4, label %5, label %7

5:                                                ; preds = %2
  store i32 %3, ptr %x
  %6 = add i32 %3, STEP
  br label %2

7:                                                ; preds = %2
  store i32 %3, ptr %y
  ret void
}"""
BRANCHES = """define void @f(i32 %0) {
  %2 = icmp ult i32 %0, 4
  br i1 %2, label %3, label %4

3:                                                ; preds = %1
  br label %4

4:                                                ; preds = %3, %1
  %5 = phi i32 [ %0, %3 ], [ 9, %1 ]
  %6 = select i1 %2, i32 %0, i32 6
  ret void
}"""
# As Apple's compiler leaves loops: the counter is compared at their end.
TURNED = """define void @f(i32 %0) {
  br label %2

2:                                                ; preds = %2, %1
  %3 = phi i32 [ START, %1 ], [ %4, %2 ]
  store i32 %3, ptr %x
  %4 = add i32 %3, STEP
  %5 = icmp HOW, LIMIT
  br i1 %5, label %WHERE

7:                                                ; preds = %2
  store i32 %4, ptr %y
  ret void
}"""
WITHIN, BEHIND = 8, 13  # the lines of the two stores
TURNED_WITHIN, TURNED_BEHIND = 5, 11
LARGEST = (1 << 32) - 1


def loop(how: str, start: str = "0", step: str = "1") -> Ranges:
    text = LOOP.replace("HOW", how).replace("START", start).replace("STEP", step)
    return Ranges(text.splitlines())


@pytest.mark.parametrize(
    ("how", "largest"), [("ult", 7), ("ule", 8), ("slt", 7), ("sle", 8), ("ne", LARGEST)]
)
def test_a_counter_is_less_than_what_its_loop_compares_it_with(how: str, largest: int) -> None:
    assert loop(how).at(WITHIN, "%3", 32) == (0, largest)


def test_behind_the_loop_a_counter_is_what_ended_it() -> None:
    assert loop("ult").at(BEHIND, "%3", 32) == (8, 8)
    assert loop("ult", step="3").at(BEHIND, "%3", 32) == (8, 10)


@pytest.mark.parametrize(("start", "step"), [("-1", "1"), ("%0", "1"), ("7", "-1"), ("0", "%0")])
def test_a_counter_that_may_be_negative_may_be_anything(start: str, step: str) -> None:
    assert loop("slt", start, step).at(WITHIN, "%3", 32)[1] > 1 << 31


def turned(how: str, start: str = "0", step: str = "1", limit: str = "8") -> Ranges:
    where = "2, label %7" if how.startswith(("ne", "ult", "slt")) else "7, label %2"
    found = {"START": start, "STEP": step, "HOW": how, "LIMIT": limit, "WHERE": where}
    text = TURNED
    for word, put in found.items():
        text = text.replace(word, put)
    return Ranges(text.splitlines())


@pytest.mark.parametrize("how", ["eq i32 %4", "ne i32 %4"])
@pytest.mark.parametrize(
    ("start", "step", "found"),
    [("0", "1", (0, 7)), ("2", "3", (2, 5)), ("0", "4", (0, 4)), ("11", "-1", (9, 11))],
)
def test_a_counter_whose_loop_ends_with_a_number_stays_on_its_way_there(
    how: str, start: str, step: str, found: ranges.Range
) -> None:
    assert turned(how, start, step).at(TURNED_WITHIN, "%3", 32) == found


@pytest.mark.parametrize("how", ["ult i32 %4"])
def test_a_counter_that_is_compared_at_its_loops_end_is_less_than_that(how: str) -> None:
    assert turned(how).at(TURNED_WITHIN, "%3", 32) == (0, 7)


@pytest.mark.parametrize("how", ["eq i32 %3", "ne i32 %3"])
def test_a_counter_that_is_compared_before_it_counts_reaches_that(how: str) -> None:
    assert turned(how, limit="6").at(TURNED_WITHIN, "%3", 32) == (0, 6)


def test_behind_a_loop_that_ends_with_a_number_a_counter_is_that() -> None:
    assert turned("eq i32 %4").at(TURNED_BEHIND, "%4", 32) == (8, 8)


@pytest.mark.parametrize(
    ("start", "step", "limit"),
    [("0", "3", "8"), ("9", "1", "8"), ("0", "-1", "8"), ("%0", "1", "8")],
)
def test_a_counter_that_may_step_over_what_ends_its_loop_may_be_anything(
    start: str, step: str, limit: str
) -> None:
    assert turned("eq i32 %4", start, step, limit).at(TURNED_WITHIN, "%3", 32)[1] > 1 << 31


def test_branches_bound_only_what_they_lead_to() -> None:
    lines = BRANCHES.splitlines()
    found = Ranges(lines)
    assert found.at(5, "%0", 32) == (0, 3)
    assert found.at(10, "%0", 32) == (0, LARGEST)
    assert found.at(10, "%5", 32) == (0, 9)
    assert found.at(10, "%6", 32) == (0, 6)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("and i32 %0, 63", (0, 63)),
        ("urem i32 %0, 10", (0, 9)),
        ("lshr i32 %0, 28", (0, 15)),
        ("zext i8 %0 to i32", (0, 255)),
        ("sext i8 %0 to i32", (0, LARGEST)),
        ("srem i32 %0, 10", (0, LARGEST)),
        ("add i32 %0, 1", (0, LARGEST)),
        ("add i32 undef, 1", (0, LARGEST)),
        ("load i32, ptr %p", (0, LARGEST)),
    ],
)
def test_operations_bound_what_they_give(code: str, expected: ranges.Range) -> None:
    lines = ["define void @f(i32 %0) {", f"  %1 = {code}", "  ret void", "}"]
    assert Ranges(lines).at(2, "%1", 32) == expected


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "shl": lambda a, b: a << b,
    "lshr": lambda a, b: a >> b,
    "udiv": lambda a, b: a // b,
    "urem": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "ashr": lambda a, b: _signed(a) >> b,
    "sdiv": lambda a, b: int(_signed(a) / _signed(b)),
    "srem": lambda a, b: _signed(a) - int(_signed(a) / _signed(b)) * _signed(b),
}


def _signed(number: int) -> int:
    return number - 8 if number > 3 else number


@pytest.mark.parametrize("name", OPERATIONS)
def test_bounds_hold_for_all_numbers_of_three_bits(name: str) -> None:
    compute, known = OPERATIONS[name], 0
    pairs = [(a, b) for a in range(8) for b in range(a, 8)]
    for left, right in itertools.product(pairs, pairs):
        found = ranges.result_of(name, left, right, 3)
        if found is None:
            continue
        known += 1
        for a in range(left[0], left[1] + 1):
            for b in range(right[0], right[1] + 1):
                if (name in ("shl", "lshr", "ashr") and b > 2) or ("div" in name and not b):
                    continue
                if "rem" in name and not b:
                    continue
                assert found[0] <= compute(a, b) % 8 <= found[1], (left, right, a, b)
    assert known > 50


def optimisations(monkeypatch: pytest.MonkeyPatch, body: str) -> int:
    """How often the optimiser runs for a kernel."""
    count = 0
    run = importer.run_passes

    def counted(*arguments: object) -> str:
        nonlocal count
        count += 1
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(importer, "run_passes", counted)
    source = (
        f"{PRELUDE}kernel void k(device float* o, uint i [[thread_position_in_grid]]) {{{body}}}"
    )
    function = compile_library(source).function("k").program().function
    assert function.blocks
    return count


ROWS = """
    float a[4][8];
    for (int r = 0; r < 4; r++) for (uint c = 0; c < 8; c++) a[r][c] = o[r * 8 + c];
    o[i] = a[i & 3][(i >> 2) % 8] + a[3 - (i & 3)][7];
"""


def test_arrays_that_no_index_leaves_are_optimised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert optimisations(monkeypatch, ROWS) == 1


def test_arrays_that_an_index_may_leave_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert optimisations(monkeypatch, ROWS.replace("i & 3]", "i & 7]", 1)) > 1


def test_short_counters_that_are_compared_in_more_bits_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = "float a[4]; for (short r = 0; r < 4; r++) a[r] = o[r]; o[i] = a[i & 3];"
    assert optimisations(monkeypatch, body) == 1
