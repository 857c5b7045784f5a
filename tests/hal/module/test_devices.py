"""Several devices in one file: either or, and together."""

import gc
import threading
import time

import numpy as np
import pytest

from assay.hal.cpu.device import CpuDriver
from assay.hal.device import Device
from assay.hal.module.context import Context
from assay.hal.module.opened import OpenedModule
from assay.hal.module.records import Arena, Call, Copy, Model, Output, Place, Region, Signal, Wait
from assay.hal.status import StatusError
from tests.support.assay_modules import F32, PYTHON, Draft, DraftModel

from .machines import PythonProgram, file_of, given, opened, result

BRIDGE = "assay-bridge"
FUNCTIONS = {
    "double": lambda x, y: np.multiply(x, 2, out=y),
    "increment": lambda x, y: np.add(x, 1, out=y),
}


def either_or() -> Draft:
    """y = 2 x on the first device, which has a weight nobody needs, or on the second."""
    draft = Draft(devices=("one", "two"))
    weight = draft.weight("w", F32, (4,), bytes(16))
    for device in range(2):
        kernel = draft.kernel("double", 1, 1, device=device)
        model = DraftModel(draft, f"on {device}", device=device)
        x = model.given("x", draft.const(4))
        if device == 0:
            model.tensor((4,), Place.WEIGHT, where=weight)
        y = model.tensor((4,), Place.PLANNED, size=16)
        model.run(Call(kernel, (x,), (), (y,)))
        model.finish(y=y)
    return draft


def open_some(draft: Draft, *names: str) -> tuple[OpenedModule, list[str]]:
    asked: list[str] = []

    def open_device(name: str) -> Device:
        asked.append(name)
        return CpuDriver().open()

    loaders = {PYTHON: lambda device, data: PythonProgram(device, FUNCTIONS)}
    return OpenedModule(file_of(draft), names, open_device, loaders), asked


@pytest.mark.parametrize("name", ["one", "two"])
def test_several_devices_from_one_file_and_the_unselected_is_not_initialised(name: str) -> None:
    made, asked = open_some(either_or(), name)
    assert asked == [name]
    assert made.weight_bytes == (16 if name == "one" else 0)
    context = Context(made)
    given(context, x=np.arange(4, dtype=np.float32))
    assert np.array_equal(result(context), [0, 2, 4, 6])


def test_damage_of_what_is_not_selected_does_no_harm() -> None:
    draft = either_or()
    file = file_of(draft)
    changed = memoryview(bytes(16 * [1]))
    broken = type(file)(file.name, file.module, (file.segments[0], changed))
    loaders = {PYTHON: lambda device, data: PythonProgram(device, FUNCTIONS)}
    OpenedModule(broken, ["two"], lambda name: CpuDriver().open(), loaders)
    with pytest.raises(StatusError, match="wrong checksum"):
        OpenedModule(broken, ["one"], lambda name: CpuDriver().open(), loaders)


def test_suffixes_and_duplicates_are_devices_and_shape_sets_not_names() -> None:
    draft = either_or()
    file = file_of(draft)
    assert {model.devices for model in file.module.models} == {(0,), (1,)}
    assert [model.inputs[0].name for model in file.module.models] == ["x", "x"]


def test_a_device_that_the_file_was_not_built_for_is_an_error_with_a_list() -> None:
    with pytest.raises(StatusError, match="not built for npu; its devices are one, two"):
        open_some(either_or(), "npu")


def test_kernels_of_an_unknown_format_are_refused() -> None:
    with pytest.raises(StatusError, match="format 'python' cannot run"):
        OpenedModule(file_of(either_or()), ["one"], lambda name: CpuDriver().open())


def together() -> Draft:
    """y = 2 x + 1: doubled on the first device, copied, incremented on the second."""
    draft = Draft(devices=("one", "two"))
    double = draft.kernel("double", 1, 1, device=0)
    increment = draft.kernel("increment", 1, 1, device=1)
    one, two = DraftModel(draft, device=0), DraftModel(draft, device=1)
    x = one.given("x", draft.const(4))
    middle = one.tensor((4,), Place.PLANNED, size=16)
    two.tensors = one.tensors
    here = two.tensor((4,), Place.PLANNED, where=1, size=16)
    y = two.tensor((4,), Place.PLANNED, where=1, offset=64, size=16)
    steps = (
        Call(double, (x,), (), (middle,)),
        Copy(middle, here),
        Signal(0, 0),
        Wait(1, 0),
        Call(increment, (here,), (), (y,)),
    )
    draft.models.append(
        Model(
            "together",
            (0, 1),
            tuple(one.inputs),
            (Output("y", y),),
            (Arena(0, 64), Arena(1, 128)),
            tuple(one.tensors),
            (Region(steps),),
            1,
        )
    )
    return draft


def test_two_devices_work_together_in_the_order_of_signals_and_waits() -> None:
    made, asked = open_some(together(), "one", "two")
    assert asked == ["one", "two"]
    context = Context(made)
    for start in range(5):
        given(context, x=np.arange(start, start + 4, dtype=np.float32))
        assert np.array_equal(result(context), 2 * np.arange(start, start + 4) + 1)


@pytest.mark.parametrize("closes", [True, False])
def test_the_thread_between_devices_ends_with_the_context(closes: bool) -> None:
    before = set(threading.enumerate())
    context = Context(open_some(together(), "one", "two")[0])
    given(context, x=np.zeros(4, np.float32))
    context.run()
    (bridge,) = [each for each in set(threading.enumerate()) - before if each.name == BRIDGE]
    if closes:
        context.close()
    del context
    gc.collect()
    bridge.join(10)
    assert not bridge.is_alive()


def test_a_model_of_two_devices_needs_both() -> None:
    with pytest.raises(StatusError, match="no model of it runs on one alone"):
        open_some(together(), "one")


def test_a_failure_on_one_device_reaches_the_other_and_the_next_run_works() -> None:
    def fails(x: np.ndarray, y: np.ndarray) -> None:
        if x[0] < 0:
            raise StatusError("INTERNAL", "the first device fell over")
        np.multiply(x, 2, out=y)

    made = opened(together(), {**FUNCTIONS, "double": fails}, ["one", "two"])
    context = Context(made)
    given(context, x=np.full(4, -1, np.float32))
    with pytest.raises(StatusError, match="fell over"):
        context.run()
    given(context, x=np.ones(4, np.float32))
    assert np.array_equal(result(context), [3, 3, 3, 3])


def test_threads_share_a_module_each_with_a_context_of_its_own() -> None:
    made = opened(either_or(), FUNCTIONS, ["one"])
    wrong: list[object] = []

    def work(seed: int) -> None:
        context = Context(made)
        for step in range(50):
            x = np.full(4, 100 * seed + step, np.float32)
            given(context, x=x)
            if not np.array_equal(result(context), 2 * x):
                wrong.append((seed, step))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_context_at_work_in_another_thread_is_refused() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(x: np.ndarray, y: np.ndarray) -> None:
        begun.set()
        go_on.wait(10)

    context = Context(opened(either_or(), {"double": slow}, ["one"]))
    thread = threading.Thread(target=context.run)
    thread.start()
    begun.wait(10)
    with pytest.raises(StatusError, match="each thread needs one of its own"):
        context.run()
    go_on.set()
    thread.join()


def test_the_host_takes_under_20_us_per_instruction() -> None:
    """Instructions alone, without what kernels do: a copy of shapes, a forward, a check."""
    from assay.hal.module.expressions import Op
    from assay.hal.module.records import NONE, UNKNOWN, Check, Deduce, Forward

    draft = Draft()
    n = draft.code(Op.SYMBOL, draft.symbol("n", 1, 8))
    model = DraftModel(draft)
    x = model.given("x", n)
    view = model.tensor((UNKNOWN,), Place.VIEW)
    bounded = model.tensor((UNKNOWN,), Place.PLANNED, size=32)
    model.run(*[Deduce(bounded, (n,)), Forward(x, view, NONE, (n,)), Check(n, "")] * 1000)
    model.finish(y=view)
    context = Context(opened(draft, {}))
    context.run()
    start = time.thread_time()
    context.run()
    assert (time.thread_time() - start) / 3000 < 20e-6


def test_switching_takes_under_1_ms() -> None:
    draft = Draft()
    for size in range(1, 51):
        model = DraftModel(draft, f"{size}")
        model.given("x", draft.const(size))
        model.finish()
    context = Context(opened(draft, {}))
    start = time.thread_time()
    for size in range(1, 51):
        context.reshape({"x": (size,)})
    assert (time.thread_time() - start) / 50 < 1e-3
