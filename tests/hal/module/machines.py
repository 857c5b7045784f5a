"""Devices and kernels for tests of the runtime: the kernels are Python functions on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.hal import element_type as elements
from assay.hal.buffer import BufferView
from assay.hal.cpu.device import CpuDriver
from assay.hal.device import Device
from assay.hal.hosted.commands import HostCommandBuffer
from assay.hal.module.context import Context
from assay.hal.module.file import ModuleFile, read_module, write_module
from assay.hal.module.opened import OpenedModule
from assay.hal.semaphore import Fence
from tests.support.assay_modules import PYTHON, Draft

Function = Callable[..., Any]


class PythonProgram:
    """Kernels by name: functions of input arrays, then constants, then output arrays."""

    def __init__(self, device: Device, functions: Mapping[str, Function]) -> None:
        self._device, self._functions = device, functions

    def call(
        self,
        entry: str,
        inputs: Sequence[BufferView],
        constants: Sequence[int],
        outputs: Sequence[BufferView],
        wait: Fence | None,
    ) -> Fence:
        done = Fence(((self._device.create_semaphore(0, private=True), 1),))
        commands = self._device.create_command_buffer(1, 0)
        assert isinstance(commands, HostCommandBuffer)
        arrays = [*map(array, inputs)], [*map(array, outputs)]
        function = self._functions[entry]
        commands.add(lambda _: function(*arrays[0], *constants, *arrays[1]))
        commands.finalize()
        self._device.queue_execute(wait, done, commands)
        return done

    def noted(self, entry: str) -> None:
        del entry


def array(view: BufferView) -> np.ndarray:
    """A view's own bytes as an array."""
    data = view.buffer.storage.map()[view.buffer.offset :][: view.buffer.length]
    return np.frombuffer(data, elements.dtype_of(view.element_type)).reshape(view.shape)


def file_of(draft: Draft) -> ModuleFile:
    """The module, written and read again."""
    return read_module(write_module(draft.module(), draft.segments), "draft.assay")


def opened(
    draft: Draft, functions: Mapping[str, Function], devices: Sequence[str] = ("host",)
) -> OpenedModule:
    return OpenedModule(
        file_of(draft),
        devices,
        lambda name: CpuDriver().open(),
        {PYTHON: lambda device, data: PythonProgram(device, functions)},
    )


def context(draft: Draft, functions: Mapping[str, Function] | None = None) -> Context:
    return Context(opened(draft, functions or {}))


def given(context: Context, **arrays: np.ndarray) -> None:
    """Shapes and contents of inputs."""
    context.reshape({name: value.shape for name, value in arrays.items()})
    for name, value in arrays.items():
        context.write(name, value)


def result(context: Context, name: str = "y") -> np.ndarray:
    """Runs, and reads an output."""
    context.run()
    return context.read(context.output_tensor(name))
