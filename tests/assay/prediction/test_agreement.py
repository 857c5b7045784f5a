"""The text of a result and its timeline say the same about where the time goes."""

import re

import numpy as np
import pytest

import assay
from assay.prediction import TimeResult
from assay.traces import Role, Trace
from assay.traces.events.statistics import effective_causes, own_durations
from tests.support.transposes import transposes

PERCENT = re.compile(r"^([a-z0-9 ]+?) +([\d.]+)% ", re.MULTILINE)


def timed(name: str, size: int = 256) -> TimeResult:
    found = assay.time(transposes(size, name), timeline=True)
    assert isinstance(found, TimeResult)
    return found


def causes_of(trace: Trace, role: Role) -> dict[str, float]:
    """Shares of the causes in the time of all tracks of a role."""
    tracks = [number for number, track in enumerate(trace.tracks) if track.role is role]
    chosen = np.isin(trace.slices.track, tracks)
    causes, own = effective_causes(trace)[chosen], own_durations(trace)[chosen]
    return {
        cause.name.replace("_", " "): float(own[causes == number].sum() / own.sum())
        for number, cause in enumerate(trace.causes)
    }


def said(result: TimeResult) -> dict[str, float]:
    """Shares of the causes as the text says them."""
    _, _, text = str(result).partition("where the time goes\n")
    found = {cause: float(share) / 100 for cause, share in PERCENT.findall(text.split("\n\n")[0])}
    assert found
    return found


@pytest.mark.parametrize("name", ["copy", "naive", "tiled", "padded"])
def test_partitions_spend_their_time_on_what_the_text_says(name: str) -> None:
    result = timed(name)
    drawn = causes_of(result.trace(), Role.PARTITION)
    for cause, share in said(result).items():
        assert drawn[cause] == pytest.approx(share, abs=0.011), cause


def test_the_sums_by_cause_are_those_of_all_that_was_simulated() -> None:
    result = timed("naive")
    (dispatch,) = result.dispatches
    timeline = dispatch.time.timeline
    assert timeline is not None
    slices = timeline.partitions
    for partition in range(4):
        mine = slices.partition == partition
        assert np.array_equal(slices.begin[mine][1:], slices.end[mine][:-1])
        assert slices.begin[mine][0] == 0


def test_who_is_ready_but_waits_for_a_queue_is_drawn_as_waiting_for_it() -> None:
    result = timed("naive", 512)
    drawn = causes_of(result.trace(), Role.SIMDGROUP)
    assert max(result.causes, key=result.causes.__getitem__) == "l2"
    assert drawn["l2"] > 0.6
    assert drawn["issue"] < 0.1


def test_a_simdgroup_works_no_longer_than_its_instructions_issue() -> None:
    result = timed("tiled")
    trace = result.trace()
    issue = {
        role: causes_of(trace, role)["issue"] * lengths(trace, role)
        for role in (Role.PARTITION, Role.SIMDGROUP)
    }
    simdgroups = 8 * 64 / result.chip.cores
    short = 16 * 2 * simdgroups  # Waits shorter than what is drawn, of two causes.
    assert issue[Role.SIMDGROUP] <= issue[Role.PARTITION] + short


def lengths(trace: Trace, role: Role) -> int:
    tracks = [number for number, track in enumerate(trace.tracks) if track.role is role]
    return int(own_durations(trace)[np.isin(trace.slices.track, tracks)].sum())


def test_a_simdgroup_is_drawn_to_its_end() -> None:
    (dispatch,) = timed("copy").dispatches
    timeline = dispatch.time.timeline
    assert timeline is not None
    # Nobody is behind the last one: what is drawn reaches as far as what was simulated.
    busy = timeline.partitions.end[timeline.partitions.cause != 10].max()
    assert timeline.end.max() >= busy - 1


def test_the_title_says_the_predicted_time_first() -> None:
    result = timed("copy")
    title = result.trace().title
    assert title.startswith(str(result).split("time ")[1].split("±")[0].split(",")[0].strip())
    assert "predicted: copy of" in title
    assert title.endswith("on Apple M1")
