"""Results and shared memory while other runs, or other devices, are at work."""

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.assay_module import ModuleContext
from assay.hal.cpu.device import CpuDriver
from assay.hal.module.context import Context
from assay.hal.module.opened import OpenedModule
from assay.hal.module.order import Order
from assay.hal.module.queues import Lane
from assay.hal.module.records import Arena, Call, Copy, Model, Output, Place, Region
from assay.hal.semaphore import Fence
from assay.hal.status import StatusError
from assay.sim.check import DEFAULT_CHECKS, Checker
from tests.support.assay_modules import PYTHON, Draft, DraftModel

from .machines import PythonProgram, file_of, given, opened, result

FUNCTIONS = {
    "double": lambda x, y: np.multiply(x, 2, out=y),
    "increment": lambda x, y: np.add(x, 1, out=y),
}


def doubled() -> Draft:
    """y f32[4] = 2 x."""
    draft = Draft()
    kernel = draft.kernel("double", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", draft.const(4))
    y = model.tensor((4,), Place.PLANNED, size=16)
    model.run(Call(kernel, (x,), (), (y,)))
    model.finish(y=y)
    return draft


def numbers(start: int) -> np.ndarray:
    return np.arange(start, start + 4, dtype=np.float32)


def test_what_was_read_stays_what_it_was() -> None:
    made = Context(opened(doubled(), FUNCTIONS))
    given(made, x=numbers(0))
    first = result(made)
    given(made, x=numbers(10))
    assert np.array_equal(result(made), 2 * numbers(10))
    assert np.array_equal(first, 2 * numbers(0))


def test_a_view_of_a_result_is_stale_once_the_next_run_began() -> None:
    made = ModuleContext(opened(doubled(), FUNCTIONS))
    made(numbers(0))
    view = made.output("y")
    assert np.array_equal(view.numpy(), 2 * numbers(0))
    made.run()
    with pytest.raises(StatusError):
        view.numpy()


def test_results_of_one_context_stay_while_another_runs() -> None:
    """Each has memory of its own: a result in place is whole while a run overlaps."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(x: np.ndarray, y: np.ndarray) -> None:
        y[:2] = -1
        if x[0] == 7:
            begun.set()
            assert go_on.wait(10)
        np.multiply(x, 2, out=y)

    module = opened(doubled(), {"double": slow})
    one, other = Context(module), Context(module)
    given(one, x=numbers(0))
    one.run()
    given(other, x=numbers(7))
    thread = threading.Thread(target=other.run)
    thread.start()
    assert begun.wait(10)
    held = one.view(one.output_tensor("y"))
    assert np.frombuffer(held.buffer.read(0, 16), np.float32).tolist() == [0, 2, 4, 6]
    go_on.set()
    thread.join()
    assert np.array_equal(other.read(other.output_tensor("y")), 2 * numbers(7))
    assert np.array_equal(one.read(one.output_tensor("y")), 2 * numbers(0))


def shared_by_two_devices() -> Draft:
    """y = 2 x + 1 on the second device; z = 8 x is written where 2 x was on the first one."""
    draft = Draft(devices=("one", "two"))
    double = draft.kernel("double", 1, 1, device=0)
    wait = draft.kernel("wait", 1, 1, device=1)
    increment = draft.kernel("increment", 1, 1, device=1)
    one, two = DraftModel(draft, device=0), DraftModel(draft, device=1)
    x = one.given("x", draft.const(4))
    middle = one.tensor((4,), Place.PLANNED, size=16)
    over = one.tensor((4,), Place.PLANNED, size=16)
    two.tensors = one.tensors
    late = two.given("late", draft.const(4))
    waited = two.tensor((4,), Place.PLANNED, where=1, size=16)
    here = two.tensor((4,), Place.PLANNED, where=1, offset=64, size=16)
    y = two.tensor((4,), Place.PLANNED, where=1, offset=128, size=16)
    one.tensors[late] = replace(one.tensors[late], where=1)
    steps = (
        Call(wait, (late,), (), (waited,)),  # the copy comes behind it
        Call(double, (x,), (), (middle,)),
        Copy(middle, here),
        Call(double, (middle,), (), (over,)),
        Call(double, (over,), (), (over,)),
        Call(increment, (here,), (), (y,)),
    )
    draft.models.append(
        Model(
            "shared",
            (0, 1),
            (*one.inputs, *two.inputs),
            (Output("y", y), Output("z", over)),
            (Arena(0, 64), Arena(1, 192)),
            tuple(one.tensors),
            (Region(steps),),
            0,
        )
    )
    return draft


class Gated(PythonProgram):
    """Its kernel `wait` waits for a fence that the test signals; the host goes on meanwhile."""

    gate: Fence

    def call(self, entry: str, *rest: Any) -> Fence:
        *operands, wait = rest
        if entry == "wait":
            wait = Fence.join([wait, self.gate])
        return super().call(entry, *operands, wait)


def test_memory_is_not_written_again_before_it_is_copied_to_another_device() -> None:
    """The copy waits for the second device; so must what the first one writes over its source."""
    done: list[str] = []

    def double(x: np.ndarray, y: np.ndarray) -> None:
        done.append("double")
        np.multiply(x, 2, out=y)

    functions = {**FUNCTIONS, "double": double, "wait": lambda x, y: done.append("wait")}
    devices = {name: CpuDriver().open() for name in ("one", "two")}
    Gated.gate = Fence(((devices["two"].create_semaphore(0), 1),))
    loaders = {PYTHON: lambda device, data: Gated(device, functions)}
    file = file_of(shared_by_two_devices())
    made = Context(OpenedModule(file, ["one", "two"], devices.__getitem__, loaders))
    given(made, x=numbers(3), late=numbers(0))
    thread = threading.Thread(target=made.run)
    thread.start()
    time.sleep(0.1)
    assert done == ["double"]
    Gated.gate.signal()
    thread.join(10)
    assert done == ["double", "wait", "double", "double"]
    assert np.array_equal(made.read(made.output_tensor("y")), 2 * numbers(3) + 1)
    assert np.array_equal(made.read(made.output_tensor("z")), 8 * numbers(3))


def orders(monkeypatch: pytest.MonkeyPatch, *, careful: bool) -> list[str]:
    """What a check of the waits finds where one device writes over what is copied to the other."""
    if not careful:
        monkeypatch.setattr(Lane, "overwrites", lambda self, places: None)
    functions = {**FUNCTIONS, "wait": lambda x, y: None}
    devices = {name: CpuDriver().open() for name in ("one", "two")}
    loaders = {PYTHON: lambda device, data: PythonProgram(device, functions)}
    file = file_of(shared_by_two_devices())
    made = Context(OpenedModule(file, ["one", "two"], devices.__getitem__, loaders))
    checker = Checker(frozenset(DEFAULT_CHECKS))
    made.check_order(Order(checker, "shared"))
    given(made, x=numbers(3), late=numbers(0))
    made.run()
    return [finding.message for finding in checker.findings]


def test_writing_over_what_is_copied_is_found_by_the_check_of_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert orders(monkeypatch, careful=True) == []
    (found, *_) = orders(monkeypatch, careful=False)
    assert found.startswith("double on one writes bytes that a copy between devices reads")
