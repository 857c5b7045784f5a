"""Boxes of sizes: they cover everything once, and cut where kernels change."""

from __future__ import annotations

from math import log

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.foundry import Conditional
from assay.sweeps.tree import leaves

SIDES = [1, 4, 64, 100, 1000, 4096]
SIZES = st.lists(st.tuples(*[st.sampled_from(SIDES)] * 3), min_size=1, max_size=8, unique=True)


def test_a_cut_lies_half_way_as_ratios_go() -> None:
    losses = {"a": {(1, 64, 8): 0.0, (1, 256, 8): 1.0}, "b": {(1, 64, 8): 1.0, (1, 256, 8): 0.0}}
    found = leaves([(1, 64, 8), (1, 256, 8)], losses, 0.02)
    assert [each.condition for each in found] == ["n < 129", "n >= 129"]
    assert [each.kernel for each in found] == ["a", "b"]


def test_one_kernel_serves_all_sizes_where_it_loses_no_more_than_the_tolerance() -> None:
    sizes = [(1, 64, 8), (1, 256, 8)]
    losses = {"a": dict.fromkeys(sizes, 0.01), "b": {sizes[0]: 0.0}, "c": {sizes[1]: 0.0}}
    assert [each.kernel for each in leaves(sizes, losses, 0.02)] == ["a"]
    assert [each.kernel for each in leaves(sizes, losses, 0.005)] == ["b", "c"]
    assert leaves(sizes, losses, 0.02)[0].condition == "k >= 1"


def test_estimates_choose_among_kernels_that_are_as_good_and_move_cuts() -> None:
    size, larger = (1, 3840, 8), (1, 4096, 8)
    losses = {"even": {size: 0.0, larger: 0.3}, "fine": {size: 0.01, larger: 0.0}}
    (box,) = leaves([size], losses, 0.02, [larger])
    assert (box.kernel, box.sizes) == ("fine", (size,))
    # A box is not cut for estimates alone, but where its kernel does not run them.
    (box,) = leaves([size], {"even": {size: 0.0, larger: 0.3}}, 0.02, [larger])
    assert box.kernel == "even"
    found = leaves([size], {"even": {size: 0.0}, "other": {larger: 0.0}}, 0.02, [larger])
    assert [(each.kernel, each.sizes) for each in found] == [("even", (size,)), ("other", ())]


@settings(max_examples=25, deadline=None)
@given(sizes=SIZES, seed=st.randoms(use_true_random=False), tolerance=st.sampled_from([0, 0.1, 1]))
def test_boxes_are_a_conditional_kernel_and_serve_each_size_within_the_tolerance(
    sizes: list[tuple[int, int, int]], seed: object, tolerance: float
) -> None:
    random = seed.random  # type: ignore[attr-defined]
    times = {kernel: {size: 1 + random() for size in sizes} for kernel in "abc"}
    best = {size: min(times[kernel][size] for kernel in times) for size in sizes}
    losses = {
        kernel: {size: log(of[size] / best[size]) for size in sizes} for kernel, of in times.items()
    }
    found = leaves(sizes, losses, tolerance)
    # Overlaps and gaps are refused when it is declared.
    variables = dict.fromkeys("mnk", range(1, 1 << 32))
    chosen = Conditional("boxes", variables, [(each.condition, each.kernel) for each in found])
    for size in sizes:
        kernel = chosen.select(**dict(zip("mnk", size, strict=True)))
        assert times[kernel][size] <= best[size] * (1 + tolerance) + 1e-9
        assert [each.kernel for each in found if each.holds(size)] == [kernel]
