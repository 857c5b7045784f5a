"""Missing waits between devices are found, whatever order the work happened to run in."""

import pytest

from assay.hal.buffer import Buffer
from assay.hal.hosted.memory import HostAllocator
from assay.hal.hosted.semaphore import HostSemaphore
from assay.hal.module.order import Order, Piece
from assay.hal.semaphore import Fence
from assay.sim.check import DEFAULT_CHECKS, Checker


def fence() -> Fence:
    return Fence(((HostSemaphore(0, private=False, changed=lambda: None), 1),))


def memory(size: int = 64) -> Buffer:
    return HostAllocator(1 << 20).allocate(0, 0, size)


@pytest.fixture
def order() -> Order:
    return Order(Checker(frozenset(DEFAULT_CHECKS)), "m")


def messages(order: Order) -> list[str]:
    return [finding.message for finding in order.checker.findings]


def note(
    order: Order,
    what: str,
    *waits: Fence | None,
    reads: tuple[Buffer, ...] = (),
    writes: tuple[Buffer, ...] = (),
    reaches: Fence | None = None,
) -> Fence:
    made = reaches or fence()
    order.note(Piece(what=what, reads=reads, writes=writes, waits=waits, reaches=made))
    return made


def test_work_that_waits_is_ordered(order: Order) -> None:
    x = memory()
    made = note(order, "a", writes=(x,))
    carried = note(order, "signal", made)
    note(order, "b", carried, reads=(x,))
    assert messages(order) == []


def test_work_that_does_not_is_found(order: Order) -> None:
    x = memory()
    note(order, "a", writes=(x,))
    note(order, "b", fence(), reads=(x,))
    (found,) = order.checker.findings
    assert (found.kind, found.kernel) == ("missing-wait", "m")
    assert found.message.startswith("b reads bytes that a writes")


def test_two_that_read_need_no_order_and_other_bytes_neither(order: Order) -> None:
    x = memory()
    note(order, "a", reads=(x.subspan(0, 32),))
    note(order, "b", reads=(x,))
    note(order, "c", writes=(memory(),))
    assert messages(order) == []
    note(order, "d", writes=(x.subspan(40, 8),))
    (message,) = messages(order)
    assert message.startswith("d writes bytes that b reads, and waits for nothing")


def test_a_later_value_of_a_timeline_comes_behind_earlier_ones(order: Order) -> None:
    semaphore = HostSemaphore(0, private=False, changed=lambda: None)
    x, y = memory(), memory()
    note(order, "a", writes=(x,), reaches=Fence(((semaphore, 1),)))
    note(order, "b", writes=(y,), reaches=Fence(((semaphore, 2),)))
    note(order, "c", Fence(((semaphore, 2),)), reads=(x, y))
    assert messages(order) == []
    note(order, "d", Fence(((semaphore, 1),)), reads=(y,))
    assert len(messages(order)) == 1


def test_what_the_host_saw_the_end_of_is_before_all_that_follows(order: Order) -> None:
    x = memory()
    order.host_waited(note(order, "a", writes=(x,)))
    note(order, "b", reads=(x,))
    assert messages(order) == []


def test_what_the_host_does_not_wait_for_at_the_end_is_told(order: Order) -> None:
    done = note(order, "a")
    note(order, "b")
    order.ended("the host", [done])
    assert messages(order) == ["the host does not wait for b"]
