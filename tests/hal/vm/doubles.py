"""Devices for tests of the host side: kernels do nothing but leave a record."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.hal.device import DeviceInfo
from assay.hal.metal import emulated
from assay.hal.metal.device import MetalDevice
from assay.hal.metal.emulated.device import DeviceOptions, MTLDevice
from assay.hal.metal.emulated.engine import Engine


@dataclass(frozen=True)
class Dispatched:
    """One kernel run: its name, grid, and the addresses in its argument buffer by binding."""

    kernel: str
    threadgroups: tuple[int, int, int] | None
    threadgroup_size: tuple[int, int, int]
    bindings: dict[int, int]
    constants: bytes


class Memory:
    def __init__(self) -> None:
        self._next = 1
        self.buffers: dict[int, np.ndarray] = {}

    def register(self, buffer: np.ndarray, *, name: str) -> int:
        address = self._next << 48
        self._next += 1
        self.buffers[address] = buffer
        return address

    def release(self, address: int) -> None:
        self.buffers.pop(address, None)

    def rename(self, address: int, name: str) -> None:
        pass

    def at(self, address: int) -> np.ndarray:
        handle = address >> 48 << 48
        return self.buffers[handle][address - handle :]


class Recorder:
    """An engine that compiles anything and writes down what it was asked to run."""

    def __init__(self) -> None:
        self.dispatches: list[Dispatched] = []

    def engine(self) -> Engine:
        return Engine(
            compile_source=self._compile,  # type: ignore[arg-type]
            make_memory=Memory,  # type: ignore[arg-type]
            dispatch=self._dispatch,  # type: ignore[arg-type]
        )

    def _compile(self, source: str, **_: object) -> SimpleNamespace:
        names = re.findall(r"kernel void (\w+)\(", source)
        if not names:
            raise ValueError("program_source.metal:1:1: error: no kernel")
        return SimpleNamespace(
            function_names=tuple(names),
            visible_names=(),
            function=lambda name, _=None: kernel(name, source),
        )

    def _dispatch(
        self,
        executable: SimpleNamespace,
        memory: Memory,
        arguments: Sequence[int],
        threads: object,
        threadgroups: tuple[int, int, int] | None,
        **_: object,
    ) -> None:
        given = dict(zip(executable.kernel.indices, arguments, strict=True))
        members = executable.kernel.members
        bindings: dict[int, int] = {}
        if members:
            words = memory.at(given[0])[: 8 * len(members)].view(np.uint64)
            bindings = dict(zip(members, map(int, words), strict=True))
        constants = bytes(memory.at(given[3])[:64]) if 3 in given else b""
        self.dispatches.append(
            Dispatched(executable.kernel.name, threadgroups, executable.size, bindings, constants)
        )


def kernel(name: str, source: str) -> SimpleNamespace:
    body = source[source.index("kernel void " + name) :]
    head = body[: body.index("{")]
    indices = [int(number) for number in re.findall(r"\[\[buffer\((\d+)\)\]\]", head)]
    members = [int(number) for number in re.findall(r"\[\[id\((\d+)\)\]\]", source)]
    arguments = [
        SimpleNamespace(
            name=f"buffer{index}",
            kind="buffer",
            index=index,
            address_space="constant",
            type_name="",
            size=4,
            alignment=4,
            access="read",
            members=tuple(
                SimpleNamespace(
                    name=f"m{number}",
                    id=number,
                    offset=8 * place,
                    kind="buffer",
                    address_space="device",
                )
                for place, number in enumerate(members if index == 0 else [])
            ),
        )
        for index in indices
    ]
    made = SimpleNamespace(
        name=name,
        logs=False,
        needs=SimpleNamespace(untouched=(), follows_pointers=False),
        arguments=tuple(arguments),
        indices=indices,
        members=members,
        max_total_threads_per_threadgroup=None,
        static_threadgroup_memory=0,
        position_attributes=(),
        position_types=(),
    )
    made.program = lambda: made
    made.specialise = lambda size, observers, quick: SimpleNamespace(kernel=made, size=size)
    return made


def recording_device(**options: Any) -> tuple[MetalDevice, Recorder]:
    recorder = Recorder()
    handle = MTLDevice(DeviceOptions(**options), recorder.engine())
    info = DeviceInfo(identifier="recorder", name="recorder")
    return MetalDevice(emulated, handle, info), recorder


@cache
def compiled(text: str, *flags: str) -> bytes:
    """A module made of MLIR text; skips where there is no iree-compile."""
    tool = Path(sys.executable).with_name("iree-compile")
    command = str(tool) if tool.exists() else shutil.which("iree-compile")
    if command is None:
        pytest.skip("iree-compile is not installed")
    options = flags or ("--iree-hal-target-device=metal",)
    done = subprocess.run(
        [command, "-", *options, "-o", "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
