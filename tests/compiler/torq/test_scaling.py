"""Channels share a task only if each is scaled exactly as asked, its rounding included."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.slice.scaling import channel_runs, shift_classes


def test_channels_that_round_once_share_a_task_by_smaller_multipliers() -> None:
    scaling = Rescale(multipliers=(3 << 28, 3 << 20), shifts=(40, 36))
    (run,) = channel_runs(scaling, 2)
    assert run.factors[0] << (40 - run.shift) == 3 << 28


def test_channels_that_round_twice_share_a_task_with_equal_shifts_only() -> None:
    scaling = Rescale(multipliers=(3 << 28, 3 << 20), shifts=(40, 36), double_round=True)
    assert [run.shift for run in channel_runs(scaling, 2)] == [40, 36]
    same = Rescale(multipliers=(3 << 28, 3 << 20), shifts=(40, 40), double_round=True)
    assert [run.factors for run in channel_runs(same, 2)] == [(3 << 28, 3 << 20)]


def test_shifts_up_to_31_round_once_in_any_case() -> None:
    scaling = Rescale(multipliers=(3 << 4, 3 << 2), shifts=(20, 18), double_round=True)
    assert len(channel_runs(scaling, 2)) == 1


@given(
    st.lists(st.tuples(st.integers(0, (1 << 31) - 1), st.integers(2, 40)), min_size=1, max_size=40),
    st.booleans(),
)
def test_channels_of_one_class_side_by_side_are_one_run(
    pairs: list[tuple[int, int]], double: bool
) -> None:
    def scaling(order: list[int]) -> Rescale:
        return Rescale(
            multipliers=tuple(pairs[channel][0] for channel in order),
            shifts=tuple(pairs[channel][1] for channel in order),
            double_round=double,
        )

    channels = list(range(len(pairs)))
    classes = shift_classes(scaling(channels), len(pairs))
    order = sorted(channels, key=lambda channel: classes[channel])
    runs = channel_runs(scaling(order), len(pairs))
    assert len(runs) <= max(classes) + 1 <= len(channel_runs(scaling(channels), len(pairs)))
