"""What of a kernel is replaced by something simpler, and where that stood."""

from __future__ import annotations

import pytest

from assay.checks import SourceOptions
from assay.reduction import reduce_source
from assay.reduction.pieces import Change, Pieces
from assay.reduction.simpler import Find, called, candidates, constants, inlined

HEAD = "kernel void k(device float* y, uint t) {\n"


def made(find: Find, source: str) -> list[str]:
    """Texts with each of the replacements, less blanks at the ends of lines."""
    whole = Pieces(source)
    return [whole.changed(each).text.strip() for each in candidates(find, source)]


def body(find: Find, *lines: str) -> list[list[str]]:
    """The same, of a kernel's body, as its lines."""
    source = HEAD + "".join(f"{line}\n" for line in lines) + "}"
    return [
        [line for line in text.removeprefix(HEAD).removesuffix("}").split("\n") if line]
        for text in made(find, source)
    ]


def test_what_a_variable_is_set_to_takes_the_place_of_its_uses() -> None:
    assert body(inlined, "uint i = t + 1;", "y[i] = i;") == [["y[(t + 1)] = (t + 1);"]]
    assert body(inlined, "float sum = 0;", "sum += y[t];", "y[0] = sum;") == [
        ["float sum = 0;", "y[0] = y[t];"]
    ]


@pytest.mark.parametrize("change", ["i += 1;", "++i;", "f(&i);", "i <<= 2;"])
def test_variables_that_change_later_stay(change: str) -> None:
    found = body(inlined, "uint i = t;", change, "y[i] = 0;")
    assert all(lines[0] == "uint i = t;" for lines in found)


def test_members_and_longer_names_are_no_uses() -> None:
    assert body(inlined, "uint i = t;", "p.i = ii + i;") == [["p.i = ii + t;"]]


def test_a_function_is_put_in_the_place_of_its_call() -> None:
    source = "void set(device float* a, uint i) { a[i] = 0; }\n" + HEAD + "set(y, t + 1);\n}"
    assert made(called, source) == [source.replace("set(y, t + 1);", "{ y[(t + 1)] = 0; }")]


def test_what_a_function_returns_is_put_in_the_place_of_its_call() -> None:
    source = "float twice(float x) { return 2 * x; }\n" + HEAD + "y[t] = twice(y[0]) + 1;\n}"
    assert made(called, source) == [source.replace("twice(y[0])", "( 2 * y[0])")]


def test_numbers_take_the_place_of_indices_values_and_conditions() -> None:
    found = body(constants, "if (t < 4) y[t] = 17;")
    assert ["if (0) y[t] = 17;"] in found
    assert ["if (t < 4) y[0] = 17;"] in found
    assert ["if (t < 4) y[t] = 1;"] in found


def test_what_was_put_in_knows_where_it_stood() -> None:
    pieces = Pieces("ab = cd; e(ab);").changed([Change(0, 8), Change(11, 13, ("(", (5, 7), ")"))])
    assert pieces.text == " e((cd));"
    assert [pieces.origin(at) for at in range(9)] == [8, 9, 10, 11, 5, 6, 11, 13, 14]
    assert pieces.without([(0, 1)]).settled().origin(2) == 11


RACY = """\
#include <metal_stdlib>
using namespace metal;
inline uint other(uint t) {
    return 255 - t;
}
kernel void k(device const float* x, device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[256];
    uint mine = t;
    uint place = other(mine);
    s[mine] = x[mine];
    if (t < 200) {
        float value = s[place];
        y[t] = value;
    }
}
"""


def test_variables_functions_and_braces_go_with_the_finding_at_its_place() -> None:
    options = SourceOptions()
    small = reduce_source(RACY, "k.metal", options, checks=("race",))
    assert small.finding.kind == "race-read-write"
    # What is read there is read, whatever becomes of it.
    assert not {"place", "other", "mine", "y"} & set(small.source.replace("[", " ").split())
    assert small.lines_after <= 6
