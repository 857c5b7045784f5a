"""Which calls a run repeats as one submission, and what the host does between them."""

from collections.abc import Sequence

import numpy as np
import pytest

from assay.hal.buffer import BufferView
from assay.hal.cpu.device import CpuDriver
from assay.hal.device import BufferRef, Device
from assay.hal.module.context import Context
from assay.hal.module.expressions import Op
from assay.hal.module.noting import NotingDevice
from assay.hal.module.opened import OpenedModule
from assay.hal.module.records import UNKNOWN, Call, Deduce, Forward, Place, Read
from assay.hal.semaphore import Fence
from tests.support.assay_modules import I64, PYTHON, Draft, DraftModel

from .machines import array, file_of, given


class Copies:
    """Kernels that copy their input to their output."""

    def __init__(self, device: Device) -> None:
        self._device = NotingDevice(device)

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence:
        source, target = (BufferRef(view.buffer, 0, 0, -1) for view in (*inputs, *outputs))
        commands = self._device.create_command_buffer(1, 0)
        commands.copy(source, target)
        commands.finalize()
        done = Fence(((self._device.create_semaphore(0, private=True), 1),))
        self._device.queue_execute(wait, done, commands)
        return done

    def noted(self, entry: str) -> NotingDevice:
        return self._device


def context_of(draft: Draft) -> Context:
    loaders = {PYTHON: lambda device, data: Copies(device)}
    return Context(OpenedModule(file_of(draft), ("host",), lambda _: CpuDriver().open(), loaders))


def sequences(made: Context) -> list[tuple[int, int]]:
    """First and last instruction of each sequence of the active model."""
    state = made._states[made.active]
    return [(each.begin, each.end) for each in state.sequences[0].values()]


def outputs(made: Context) -> list[np.ndarray]:
    made.run()
    return [array(made.view(each.tensor)).copy() for each in made.model.outputs]


def test_shapes_that_the_host_deduces_between_calls_do_not_part_them() -> None:
    draft = Draft()
    n = draft.code(Op.SYMBOL, draft.symbol("n", 1, 16))
    kernel = draft.kernel("copy", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", n)
    y = model.tensor((UNKNOWN,), Place.PLANNED, size=64)
    z = model.tensor((UNKNOWN,), Place.PLANNED, offset=64, size=64)
    model.run(Deduce(y, (n,)), Call(kernel, (x,), (), (y,)), Deduce(z, (n,)))
    model.run(Call(kernel, (y,), (), (z,)))
    model.finish(z=z)
    made = context_of(draft)
    assert sequences(made) == [(1, 4)]
    for size in (3, 3, 3, 5, 5, 3):
        numbers = np.arange(size, dtype=np.float32) + size
        given(made, x=numbers)
        assert np.array_equal(outputs(made)[0], numbers)


def test_a_tensor_that_is_moved_behind_a_call_is_where_it_was_for_that_call() -> None:
    draft = Draft()
    two, zero, eight = draft.const(2), draft.const(0), draft.const(8)
    kernel = draft.kernel("copy", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", draft.const(4))
    part = model.tensor((UNKNOWN,), Place.VIEW)
    first = model.tensor((2,), Place.PLANNED, size=8)
    second = model.tensor((2,), Place.PLANNED, offset=64, size=8)
    model.run(Forward(x, part, zero, (two,)), Call(kernel, (part,), (), (first,)))
    model.run(Forward(x, part, eight, (two,)), Call(kernel, (part,), (), (second,)))
    model.finish(first=first, second=second)
    made = context_of(draft)
    assert sequences(made) == [(1, 2), (3, 4)]
    for seed in range(4):
        numbers = np.random.default_rng(seed).random(4, np.float32)
        given(made, x=numbers)
        a, b = outputs(made)
        assert np.array_equal(a, numbers[:2]) and np.array_equal(b, numbers[2:])


def test_a_size_that_changes_behind_a_call_is_for_that_call_what_it_was() -> None:
    draft = Draft()
    two, three = draft.const(2), draft.const(3)
    kernel = draft.kernel("copy", 1, 1, 1)
    model = DraftModel(draft)
    x = model.given("x", draft.const(4))
    sized = model.tensor((UNKNOWN,), Place.PLANNED, size=16)
    y = model.tensor((4,), Place.PLANNED, offset=64, size=16)
    z = model.tensor((4,), Place.PLANNED, offset=128, size=16)
    size = draft.code(Op.DIM, sized, 0)
    model.run(Deduce(sized, (two,)), Call(kernel, (x,), (size,), (y,)))
    model.run(Deduce(sized, (three,)), Call(kernel, (y,), (size,), (z,)))
    model.finish(z=z)
    assert sequences(context_of(draft)) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("reads", [False, True])
def test_values_that_are_read_part_calls(reads: bool) -> None:
    draft = Draft()
    kernel = draft.kernel("copy", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", draft.const(4))
    k = model.given("k", draft.const(1), element_type=I64)
    y = model.tensor((4,), Place.PLANNED, size=16)
    z = model.tensor((4,), Place.PLANNED, offset=64, size=16)
    between = (Read(k),) if reads else ()
    model.run(Call(kernel, (x,), (), (y,)), *between, Call(kernel, (y,), (), (z,)))
    model.finish(z=z)
    assert sequences(context_of(draft)) == ([(0, 1), (2, 3)] if reads else [(0, 2)])
