import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.graph.symbolic.dims import (
    Dim,
    Element,
    Formula,
    Named,
    combined,
    greatest,
    product,
    range_of,
    text,
)
from assay.compiler.graph.symbolic.shape_sets import Bounds, parse_bounds, parse_shapes
from assay.compiler.models import ModelError

N, H = Named("n"), Named("h")
OPERATIONS = ["add", "sub", "mul", "min", "max", "floordiv", "ceildiv", "mod", "lt"]


def value(dim: Dim, sizes: dict[str, int]) -> int:
    """What a size is, computed without any simplification."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Named):
        return sizes[dim.name]
    assert isinstance(dim, Formula)
    made = combined(dim.operation, value(dim.a, sizes), value(dim.b, sizes))
    assert isinstance(made, int)
    return made


PLAIN = st.one_of(st.integers(0, 6), st.sampled_from([N, H]))
TREES = st.recursive(PLAIN, lambda inner: st.tuples(st.sampled_from(OPERATIONS), inner, inner))


@given(tree=TREES, n=st.integers(1, 9), h=st.integers(1, 9))
def test_simplified_sizes_are_what_they_were(tree: object, n: int, h: int) -> None:
    sizes = {"n": n, "h": h}

    def both(tree: object) -> tuple[Dim, int]:
        if not isinstance(tree, tuple):
            assert isinstance(tree, int | Named)
            return tree, value(tree, sizes)
        (a, x), (b, y) = both(tree[1]), both(tree[2])
        number = combined(tree[0], x, y)
        assert isinstance(number, int)
        return combined(tree[0], a, b), number

    try:
        simplified, number = both(tree)
    except ZeroDivisionError:
        return
    assert value(simplified, sizes) == number


@given(tree=TREES, n=st.integers(1, 9), h=st.integers(1, 9))
def test_nothing_is_outside_of_its_range(tree: object, n: int, h: int) -> None:
    def made(tree: object) -> Dim:
        if not isinstance(tree, tuple):
            assert isinstance(tree, int | Named)
            return tree
        return combined(tree[0], made(tree[1]), made(tree[2]))

    try:
        dim = made(tree)
        least, most = range_of(dim, {"n": (1, 9), "h": (1, 9)})
        here = value(dim, {"n": n, "h": h})
    except ZeroDivisionError:
        return
    assert least is None or least <= here
    assert most is None or here <= most


def test_equal_products_look_equal() -> None:
    assert product((N, 3, H)) == product((H, 3, N))
    assert combined("floordiv", product((N, 12, H)), combined("mul", N, 4)) == product((3, H))


def test_sums_of_numbers_are_added_up() -> None:
    assert combined("add", combined("sub", N, 1), 1) == N


def test_elements_of_tensors_have_no_greatest() -> None:
    assert greatest(Element("t", 0), {}) is None
    assert greatest(combined("min", Element("t", 0), 7), {}) == 7


def test_shape_sets_are_written_with_commas_and_semicolons() -> None:
    sets = parse_shapes("data=1x3x8x8, mask=1x1; data=nx3x8x8,mask=nx1;")
    assert sets == [
        {"data": (1, 3, 8, 8), "mask": (1, 1)},
        {"data": (N, 3, 8, 8), "mask": (N, 1)},
    ]
    assert parse_shapes("x=scalar") == [{"x": ()}]
    assert text(()) == "scalar"


NO_SETS = """
data|=1x2|data=|data=1x|data=1x-2|a=1,a=2|a=1;a=1|a=maxx2|a=1*2|a=2199023255552| """


@pytest.mark.parametrize("wrong", NO_SETS.strip().split("|"))
def test_what_is_no_shape_set_is_refused(wrong: str) -> None:
    with pytest.raises(ModelError, match="shapes:"):
        parse_shapes(wrong)


def test_bounds_have_a_least_a_most_and_steps() -> None:
    assert parse_bounds(["rows=16..128:16", "n=8"]) == {
        "rows": Bounds(16, 128, 16),
        "n": Bounds(1, 8, 1),
    }
    assert parse_bounds(["n=1..130:16"])["n"].maximum == 128


@pytest.mark.parametrize("wrong", ["n", "n=", "n=a..b", "n=9..3", "=1..2", "n=1..8:0", "n=1..8:9"])
def test_what_are_no_bounds_is_refused(wrong: str) -> None:
    with pytest.raises(ModelError, match="dim:"):
        parse_bounds([wrong])
