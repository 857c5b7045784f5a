"""Conditional kernels: exactly one condition holds, which is proved when they are declared."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.foundry.conditions import Conditional, Predicate, domain_of
from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.structs.names import long, uint, ulong


def test_the_variant_whose_condition_holds_is_chosen() -> None:
    gemm = Conditional(
        "gemm",
        {"batch": range(1, 2**32), "seq": uint, "layout": ("row", "column"), "causal": bool},
        [
            ("batch == 1 and layout == 'row'", "decode"),
            ("batch in range(2, 9) and layout == 'row'", "small"),
            ("batch > 8 and layout == 'row' and not causal", "prefill"),
            ("batch > 8 and layout == 'row' and causal", "causal"),
            ("layout != 'row'", "transposed"),
        ],
    )
    row = {"seq": 7, "layout": "row"}
    assert gemm.select(batch=1, causal=True, **row) == "decode"
    assert gemm.select(batch=8, causal=True, **row) == "small"
    assert gemm.select(batch=9, causal=False, **row) == "prefill"
    assert gemm.select(batch=9, causal=True, **row) == "causal"
    assert gemm.select(batch=1, causal=True, seq=7, layout="column") == "transposed"


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (["n <= 8", "n >= 8"], r"both 'n <= 8' and 'n >= 8' hold for n = 8, m = 0"),
        (["n < 8", "n > 8"], r"no condition holds for n = 8, m = 0 \[conditional-gap\]"),
        (["n < m", "n > m"], r"no condition holds for n = 0, m = 0"),
        (["n % 3 == 0", "n % 3 == 1"], r"no condition holds for n = 2"),
        (["n // 4 < 2", "n >= 7"], r"hold for n = 7"),
        (["n != 4294967295"], r"no condition holds for n = 4294967295"),
        (["n < 5", "n >= 5", "n < 0"], r"'n < 0' never holds"),
        ([], r"no condition holds for n = 0"),
    ],
)
def test_conditions_that_overlap_or_leave_a_gap_are_refused_with_values(
    conditions: list[str], message: str
) -> None:
    with pytest.raises(FoundryError, match=message):
        Conditional("k", {"n": uint, "m": uint}, [(each, each) for each in conditions])


def test_the_whole_range_of_a_type_counts() -> None:
    with pytest.raises(FoundryError, match=r"no condition holds for n = 18446744073709551615"):
        Conditional("k", {"n": ulong}, [("n < 18446744073709551615", 1)])
    with pytest.raises(FoundryError, match=r"no condition holds for n = -9223372036854775808"):
        Conditional("k", {"n": long}, [("n > -9223372036854775808", 1)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n = 1", r"'n = 1': "),
        ("q == 1", r"q is no variable; there are n, mode"),
        ("n", r"n is neither true nor false"),
        ("n + 1", r"n \+ 1 is neither true nor false"),
        ("n // m == 1", r"m divides, and is no positive number"),
        ("n % 0 == 1", r"0 divides, and is no positive number"),
        ("mode == 'c'", r"'c' is none of 'a', 'b'"),
        ("mode < 'b'", r"mode has no order"),
        ("n == 1.5", r"1\.5 is no number"),
        ("n is 1", r"compared in a way that conditions do not have"),
        ("n in range(1, 9, 2)", r"is no range\(\.\.\.\) of one or two numbers"),
        ("__import__('os').system('true')", r"is neither true nor false"),
        ("n == 1 or open('x')", r"open\('x'\) is neither true nor false"),
    ],
)
def test_what_cannot_be_in_a_condition_is_pointed_at(text: str, message: str) -> None:
    domains = {"n": domain_of(uint, "n"), "mode": domain_of(("a", "b"), "mode")}
    with pytest.raises(FoundryError, match=message):
        Predicate.parse(text, domains)


def test_values_that_cannot_be_are_refused() -> None:
    kernel = Conditional("k", {"n": range(1, 9), "mode": ("a", "b")}, [("n >= 1", "all")])
    assert kernel.select(n=8, mode="a") == "all"
    with pytest.raises(FoundryError, match=r"k: n cannot be 9; it is 1 to 8"):
        kernel.select(n=9, mode="a")
    with pytest.raises(FoundryError, match=r"k: mode cannot be 'c'; it is 'a' or 'b'"):
        kernel.select(n=1, mode="c")
    with pytest.raises(FoundryError, match=r"k: no value for mode"):
        kernel.select(n=1)
    with pytest.raises(FoundryError, match=r"k: no variable m"):
        kernel.select(n=1, mode="a", m=1)
    with pytest.raises(FoundryError, match=r"k: n: <class 'str'> is no set of values"):
        Conditional("k", {"n": str}, [])


COMPARISONS = st.builds(
    "{} {} {}".format,
    st.sampled_from(["x", "y", "x + y", "x - y", "2 * x", "x // 3", "(x - 4) % 3", "-x"]),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(["0", "3", "y", "x + 1", "-2"]),
)
CONDITIONS = st.recursive(
    COMPARISONS | st.sampled_from(["x in range(2, 5)", "y not in (1, 3)", "t", "0 < x <= y"]),
    lambda inner: (
        st.builds("({}) and ({})".format, inner, inner)
        | st.builds("({}) or ({})".format, inner, inner)
        | st.builds("not ({})".format, inner)
    ),
    max_leaves=4,
)
DOMAINS = {"x": range(-3, 7), "y": range(0, 6), "t": bool}
POINTS = [
    dict(zip(DOMAINS, point, strict=True))
    for point in product(range(-3, 7), range(6), (False, True))
]


def fitting(texts: list[str], point: dict[str, Any]) -> int:
    """How many of the conditions hold, as Python itself evaluates them."""
    return sum(bool(eval(text, {}, point)) for text in texts)


@given(st.lists(CONDITIONS, min_size=1, max_size=3))
@settings(deadline=None, max_examples=20)
def test_the_solver_agrees_with_trying_all_values(texts: list[str]) -> None:
    counts = [fitting(texts, point) for point in POINTS]
    never = any(not any(fitting([text], point) for point in POINTS) for text in texts)
    try:
        kernel = Conditional("k", DOMAINS, [(text, number) for number, text in enumerate(texts)])
    except FoundryError as error:
        expected = {
            "conditional-never": never,
            "conditional-overlap": max(counts) > 1,
            "conditional-gap": min(counts) == 0,
        }
        assert expected[error.rule]
        return
    assert set(counts) == {1}
    for point in POINTS:
        assert fitting([texts[kernel.select(**point)]], point) == 1
