"""Bytes in flight: a counter whose area is bytes times how long they were under way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.prediction.timelines.flights import mean_in_flight
from tests.support.msl import PRELUDE

FLIGHT = st.tuples(st.integers(0, 20_000), st.integers(1, 900), st.integers(1, 128))


def test_steps_are_exact_where_there_is_room_for_them() -> None:
    flights = np.array([(2.0, 6.0, 128.0), (4.0, 8.0, 64.0)])
    times, values = mean_in_flight(flights, 10.0)
    assert list(zip(times.tolist(), values.tolist(), strict=True)) == [
        (0, 0.0),
        (2, 128.0),
        (4, 192.0),
        (6, 64.0),
        (8, 0.0),
    ]


@given(st.lists(FLIGHT, min_size=1, max_size=50))
def test_no_byte_is_lost_in_means(drawn: list[tuple[int, int, int]]) -> None:
    flights = np.array([(at, at + time, size) for at, time, size in drawn], np.float64)
    end = float(flights[:, 1].max())
    times, values = mean_in_flight(flights, end)
    assert len(times) <= 4098 and times[-1] <= end
    area = float((np.diff(times) * values[:-1]).sum())
    wanted = float(((flights[:, 1] - flights[:, 0]) * flights[:, 2]).sum())
    assert area == pytest.approx(wanted, abs=0.06 * (end + 10))


def test_a_kernel_that_reads_memory_has_bytes_in_flight_and_none_at_the_end() -> None:
    source = PRELUDE + "kernel void k(device float4* x, uint i [[thread_position_in_grid]])"
    result = assay.time(
        source + "{ x[i] *= 2; }", chip="m1", threadgroups=64, threadgroup=256, timeline=True
    )
    trace = result.trace()
    [track] = [n for n, each in enumerate(trace.tracks) if each.name == "bytes in flight"]
    values = trace.counters.value[trace.counters.track == track]
    assert 1000 < values.max() <= 160 * 128  # as many lines as a core may wait for
    assert values[-1] == 0
