"""Why units have no work, in runs of random programs: every cycle is held to its definition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.hw.torq.device.css import CssSteps, CssView, CssWait
from assay.hw.torq.device.device import Device
from assay.hw.torq.device.events import Work
from assay.hw.torq.device.status import UNIT_BITS
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.timing.idle import UNITS, idle_of, stream_of, works_of
from assay.hw.torq.timing.timeline import npu_time, timeline
from assay.hw.torq.words.commands import NssProgram, NssTask
from assay.traces.events.summary import summarise
from tests.hw.torq.device.test_device import QUICK, finish, loading, mapped, put, start, storing
from tests.support.torq_golden import MULTIPLY

WAITS: dict[str, dict[str, object]] = {
    "XR": {"dma_xr_wait": True},
    "XW": {"dma_xw_wait": True},
    "CDMA": {"cdma_wait": True},
    "SLC0": {"slc_wait": (True, False)},
    "SLC1": {"slc_wait": (False, True)},
    "CSS": {"css_wait": True},
}


def compute_and_wait(view: CssView) -> CssSteps:
    """A task of the core; its mailboxes say how long, and for whom it waits, as a mask."""
    yield view.mailboxes[0]
    if view.mailboxes[1]:
        yield CssWait(mask=view.mailboxes[1])
    return 3


def starting(unit: str, size: int, awaited: Sequence[str] = ()) -> NssTask:
    if unit == "XR":
        return loading(0x100000, 0x8000, size)
    if unit == "XW":
        return storing(0x20000, 0x200000, size)
    if unit == "CDMA":
        return NssTask(cdma_start=True, cdma_src_addr=0x40000, cdma_dst_addr=0x50000, cdma_len=size)
    if unit == "CSS":
        return NssTask(
            css_start=True, css_mbx=(size, sum(1 << UNIT_BITS[u] for u in awaited), 0, 0)
        )
    first = unit == "SLC0"
    return NssTask(slc_start=(first, not first), slc_cfg_addr=(0x5A00, 0x5A00))


def waiting(units: list[str]) -> NssTask:
    wanted: dict[str, object] = {}
    for unit in units:
        if unit in ("SLC0", "SLC1"):
            continue
        wanted |= WAITS[unit]
    slices = ("SLC0" in units, "SLC1" in units)
    return NssTask(**wanted, **({"slc_wait": slices} if any(slices) else {}))  # type: ignore[arg-type]


@st.composite
def runs(draw: st.DrawFn) -> list[Work]:
    """The events of one or two programs that start units and wait for them, in a random order."""
    device = mapped()
    device.memories.itcm.write(0, b"task")
    device.register_css(b"task", "task", compute_and_wait)
    put(device, MULTIPLY)
    for _ in range(draw(st.integers(1, 2))):
        tasks, running = [NssTask()], set[str]()
        for unit in draw(st.lists(st.sampled_from(UNITS[1:]), max_size=8)):
            if unit in running:
                also = draw(st.sets(st.sampled_from(sorted(running))))
                tasks.append(waiting(sorted(also | {unit})))
                running -= also | {unit}
            for_core = draw(st.sets(st.sampled_from(sorted(running)))) if running else set()
            size = draw(st.integers(1, 400))
            tasks.append(starting(unit, size, sorted(for_core - {"CDMA"})))
            running.add(unit)
        left = sorted(running)
        tasks += [waiting(left)] if left else []
        put(device, NssProgram(tasks=tuple(tasks)))
        start(device)
        finish(device)
    return device.events


def awaited(wait: Work, cycle: int, events: list[Work]) -> list[str]:
    """Who of those waited for is not done at a cycle: its last end until the wait's is to come."""
    names = [name.split(" ")[0] for name in wait.waits_for]
    found = []
    for name in names:
        ends = sorted(w.end for w in events if w.unit == name and w.what not in ("wait", "task"))
        if ends[bisect_right(ends, wait.end) - 1] > cycle:
            found.append(name)
    return found


@QUICK
@given(runs())
def test_each_cycle_without_work_has_the_reason_that_it_has(events: list[Work]) -> None:
    begin, end = min(w.begin for w in events), max(w.end for w in events)
    waits = [w for w in events if w.unit == "NSS" and w.what == "wait"]
    programs = [w for w in events if w.unit == "NSS" and w.what == "program"]
    for unit in {work.unit for work in events}:
        mine = [w for w in events if w.unit == unit]
        first, last = min(w.begin for w in mine), max(w.end for w in mine)
        said = {
            t: idle
            for idle in idle_of(unit, events, stream_of(events))
            for t in range(idle.begin, idle.end)
        }
        works = {t for span in works_of(unit, events) for t in range(*span)}
        assert set(said) | works == set(range(begin, end)) and not set(said) & works
        for cycle, idle in said.items():
            waits_now = [w for w in waits if w.begin <= cycle < w.end]
            if cycle >= last:
                expected = "nothing left to do"
            elif unit in ("SLC0", "SLC1") and any(
                w.begin <= cycle < w.end for w in mine if w.what == "program"
            ):
                expected = "own commands"
            elif any(w.begin <= cycle < w.end for w in mine if w.what == "css"):
                (own,) = [w for w in mine if w.what == "wait" and w.begin <= cycle < w.end]
                expected = f"waits for {', '.join(awaited(own, cycle, events))}"
            elif waits_now:
                expected = f"NSS waits for {', '.join(awaited(waits_now[0], cycle, events))}"
            elif any(w.begin <= cycle < w.end for w in programs):
                expected = "NSS commands"
            else:
                expected = "the host starts no program"
            if unit == "NSS":
                expected = expected.removeprefix("NSS ")
            elif cycle < first:
                expected = f"not started yet: {expected}"
            assert idle.text == expected


@QUICK
@given(runs())
def test_causes_and_reasons_of_each_unit_sum_to_the_run(events: list[Work]) -> None:
    time = npu_time(events)
    assert {unit.unit for unit in time.units} == {work.unit for work in events}
    for unit in time.units:
        assert sum(unit.causes.values()) == sum(unit.reasons.values()) == time.cycles
        assert min(unit.causes.values()) > 0 and min(unit.reasons.values()) > 0


@QUICK
@given(runs())
def test_tracks_of_the_timeline_say_what_the_figures_say(events: list[Work]) -> None:
    begin, end = min(w.begin for w in events), max(w.end for w in events)
    found = summarise(timeline(events, sl2610()), begin=begin, end=end)
    tracks = {use.track: use.causes for use in found.tracks}
    for unit in npu_time(events).units:
        assert tracks[f"NPU.{unit.unit}"] == unit.causes


def test_the_reasons_of_a_run_are_never_a_plain_idle() -> None:
    device: Device = mapped()
    put(
        device,
        MULTIPLY,
        NssProgram(
            tasks=(
                loading(0x100000, 0x8000, 256, dma_xr_wait=True),
                starting("SLC0", 0),
                waiting(["SLC0"]),
                loading(0x100000, 0x8000, 64, dma_xr_wait=True),
                storing(0x8000, 0x200000, 64, dma_xw_wait=True),
            )
        ),
    )
    start(device)
    finish(device)
    (loads,) = [unit for unit in npu_time(device.events).units if unit.unit == "XR"]
    assert set(loads.reasons) == {
        "not started yet: NSS commands",
        "busy",
        "NSS commands",
        "NSS waits for SLC0",
        "nothing left to do",
    }
