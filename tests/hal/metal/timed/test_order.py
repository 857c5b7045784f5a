"""The order in which a program's work counts, however the threads of its queues run."""

from __future__ import annotations

from typing import Any

from assay.hal.metal.timed.order import Event, ProgramOrder, Step


def order_of(calls: list[tuple[str, Any]]) -> list[str]:
    """What has its turn when, if an order is told `calls`."""
    taken: list[str] = []
    order = ProgramOrder()
    for name, arguments in calls:
        if name == "step":
            buffer, text, event = arguments
            order.arrived(buffer, Step(take=lambda text=text: taken.append(text), event=event))  # type: ignore[misc]
        else:
            getattr(order, name)(*arguments)
    order.finish()
    return taken


WAIT = Event(number=0, value=1, is_wait=True)
SIGNAL = Event(number=0, value=1, is_wait=False)
COMMITS = [("seen", (0, 0)), ("committed", (0, 0)), ("committed", (1, 1))]


def test_a_queue_that_waits_lets_others_go_first_until_its_event_comes() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "before", None)), ("step", (1, "signal", SIGNAL))]
    last = [("step", (1, "last", None)), ("ended", (1,))]
    expected = ["before", "signal", "wait", "after", "last"]
    assert order_of([*COMMITS, *one, *other, *last]) == expected
    assert order_of([*COMMITS, *other, *one, *last]) == expected
    assert order_of([*COMMITS, *other, *last, *one]) == expected


def test_signals_of_the_program_count_after_what_was_committed_before() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "other", None)), ("ended", (1,))]
    signal = [("signalled", (0, 1))]
    expected = ["other", "wait", "after"]
    assert order_of([*COMMITS, *signal, *one, *other]) == expected
    assert order_of([*COMMITS, *other, *one[:1], *signal, *one[1:]]) == expected


def test_what_waits_for_a_signal_that_nobody_saw_has_its_turn_at_the_end() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "other", None))]
    assert order_of([*COMMITS, *one, *other]) == ["other", "wait", "after"]
