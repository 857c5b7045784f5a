"""Channels share a task only if each is scaled exactly as asked, its rounding included."""

from __future__ import annotations

from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.slice.scaling import channel_runs


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
