"""Kernels of several traces are compared by name, and those of other names by their order."""

from __future__ import annotations

from assay.traces import Clock, Recorder, Role, Trace
from assay.traces.events.compare import compare_traces
from assay.traces.events.kinds import DISPATCH, PHASE, SHARE, THREADGROUP


def run(*kernels: tuple[str, int], host: int = 0) -> Trace:
    """A trace with dispatches one after the other, each with one threadgroup that works."""
    recorder = Recorder(Clock.nanoseconds(), title="run")
    queue = recorder.track("queue")
    core = recorder.track("core 0", role=Role.CORE)
    partition = recorder.track("partition 0", core, Role.PARTITION)
    place = recorder.track("threadgroup place 0", core)
    simdgroup = recorder.track("simdgroup 0", place, Role.SIMDGROUP)
    if host:
        recorder.slice(PHASE, recorder.track("host"), "wait", 0, host)
    at = 0
    for name, duration in kernels:
        recorder.slice(DISPATCH, queue, name, at, duration)
        recorder.slice(THREADGROUP, place, f"{name} (0, 0, 0)", at, duration)
        recorder.slice(PHASE, simdgroup, name, at, duration)
        recorder.slice(SHARE, partition, "issue", at, duration, "issue")
        at += duration
    return recorder.finish()


def test_a_kernel_of_another_name_at_the_same_place_is_the_same() -> None:
    difference = compare_traces(
        [run(("naive", 100), ("sum", 10)), run(("padded", 40), ("sum", 10))]
    )
    pair, same = difference.kernels
    assert (pair.names, pair.counts, pair.seconds) == (["naive", "padded"], [1, 1], [100e-9, 40e-9])
    assert same.names == ["sum", "sum"]
    # Its threadgroups and functions are compared as those of the first, too.
    by_name = {(found.track, found.name): found.counts for found in difference.names}
    assert by_name["core 0.threadgroup place 0", "naive (0, 0, 0)"] == [1, 1]
    assert by_name["core 0.threadgroup place 0.simdgroup 0", "naive"] == [1, 1]
    assert not any("padded" in name for _, name in by_name)


def test_kernels_of_one_name_are_paired_whatever_their_order() -> None:
    difference = compare_traces([run(("a", 10), ("b", 20)), run(("b", 20), ("a", 10))])
    assert [found.names for found in difference.kernels] == [["b", "b"], ["a", "a"]]
    assert [found.seconds for found in difference.kernels] == [[20e-9, 20e-9], [10e-9, 10e-9]]


def test_a_kernel_that_only_one_has_stays_alone() -> None:
    difference = compare_traces([run(("a", 10)), run(("a", 10), ("more", 5))])
    assert [(found.names, found.counts) for found in difference.kernels] == [
        (["a", "a"], [1, 1]),
        (["", "more"], [0, 1]),
    ]


def test_another_name_alone_is_a_difference() -> None:
    assert not compare_traces([run(("a", 10)), run(("b", 10))]).equal
    assert compare_traces([run(("a", 10)), run(("a", 10))]).equal


def test_kernels_of_one_name_stand_for_one_kernel_only() -> None:
    difference = compare_traces([run(("a", 10), ("a", 10)), run(("x", 10), ("y", 10))])
    names = [found.names for found in difference.kernels]
    assert names == [["a", "x"], ["", "y"]]


def test_times_by_cause_are_those_of_partitions() -> None:
    difference = compare_traces([run(("a", 10)), run(("a", 30))])
    assert difference.causes == {"issue": [10e-9, 30e-9]}
