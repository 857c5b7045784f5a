"""An engine whose kernels are Python functions over the buffers they are given."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from assay.hal.metal.emulated.device import DeviceOptions, MTLDevice
from assay.hal.metal.emulated.engine import Engine


class FakeFault(Exception):
    kind = "out-of-bounds write"


class FakeMemory:
    def __init__(self) -> None:
        self.buffers: dict[int, np.ndarray] = {}
        self.withdrawn: set[int] = set()
        self.names: dict[int, str] = {}
        self._next = 1
        self._lock = threading.Lock()

    def register(self, buffer: np.ndarray, *, name: str) -> int:
        assert buffer.dtype == np.uint8 and buffer.flags.c_contiguous and buffer.flags.writeable
        with self._lock:
            address = self._next << 48
            self._next += 1
        self.buffers[address] = buffer
        self.names[address] = name
        return address

    def release(self, address: int) -> None:
        del self.buffers[address]

    @contextmanager
    def restricted(
        self, addresses: Iterable[int], read_only: Iterable[int], why: str
    ) -> Iterator["FakeMemory"]:
        yield self

    def withdraw(self, address: int, why: str) -> None:
        self.withdrawn.add(address)

    def restore(self, address: int) -> None:
        self.withdrawn.remove(address)

    def rename(self, address: int, name: str) -> None:
        self.names[address] = name

    def at(self, address: int) -> np.ndarray:
        handle = address >> 48 << 48
        if handle not in self.buffers or handle in self.withdrawn:
            raise FakeFault(f"no memory at {address:#x}")
        return self.buffers[handle][address - handle :]


@dataclass
class FakeKernel:
    """`body(memory, arguments, grid)`: grid is threads or threadgroups times their size."""

    name: str
    body: Callable[..., None]
    arguments: Sequence[SimpleNamespace]
    max_total_threads_per_threadgroup: int | None = None
    static_threadgroup_memory: int = 0
    specialised: list[tuple[int, int, int]] = field(default_factory=list)
    observers: list[frozenset[str]] = field(default_factory=list)
    quickly: list[bool] = field(default_factory=list)
    logs: bool = False
    errors: tuple[object, ...] = ()

    file: str = "fakes.metal"
    line: int = 1
    needs: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(untouched=(), follows_pointers=False)
    )

    def program(self) -> "FakeKernel":
        return self

    def specialise(
        self,
        size: tuple[int, int, int],
        observers: frozenset[str] = frozenset(),
        *,
        quick: bool = False,
    ) -> "FakeExecutable":
        self.specialised.append(size)
        self.observers.append(observers)
        self.quickly.append(quick)
        return FakeExecutable(self, size)


@dataclass
class FakeExecutable:
    kernel: FakeKernel
    size: tuple[int, int, int]


@dataclass
class FakeLibrary:
    kernels: Mapping[str, FakeKernel]
    constants: tuple[object, ...] = ()
    values: dict[str, object] = field(default_factory=dict)
    visible_names: tuple[str, ...] = ()

    @property
    def function_names(self) -> tuple[str, ...]:
        return tuple(self.kernels)

    def function(self, name: str, constants: Mapping[object, object] | None = None) -> FakeKernel:
        self.values[name] = constants
        return self.kernels[name]


def argument(name: str, index: int, **facts: object) -> SimpleNamespace:
    known: dict[str, object] = {
        "kind": "buffer",
        "address_space": "device",
        "size": 4,
        "alignment": 4,
        "access": "read_write",
        "members": (),
    }
    return SimpleNamespace(name=name, index=index, **(known | facts))


def fake_engine(kernels: Mapping[str, FakeKernel]) -> Engine:
    def compile_source(source: str, **options: object) -> FakeLibrary:
        if source.startswith("error"):
            raise ValueError("program_source.metal:1:1: error: unknown type name 'error'")
        return FakeLibrary(kernels)

    def dispatch(
        executable: FakeExecutable,
        memory: FakeMemory,
        arguments: Sequence[int],
        *,
        threads: tuple[int, int, int] | None,
        threadgroups: tuple[int, int, int] | None,
        workers: int | None,
        fuel: int | None,
        **_checking: object,
    ) -> None:
        grid = threads
        if threadgroups is not None:
            grid = tuple(a * b for a, b in zip(threadgroups, executable.size, strict=True))
        executable.kernel.body(memory, arguments, grid)

    return Engine(
        compile_source=compile_source,  # type: ignore[arg-type]
        make_memory=FakeMemory,  # type: ignore[arg-type]
        dispatch=dispatch,  # type: ignore[arg-type]
        explains=lambda error: isinstance(error, ValueError | FakeFault),
    )


def add_one(memory: FakeMemory, arguments: Sequence[int], grid: tuple[int, int, int]) -> None:
    source, target = (memory.at(address).view(np.int32) for address in arguments)
    target[: grid[0]] = source[: grid[0]] + 1


def fail(memory: FakeMemory, arguments: Sequence[int], grid: tuple[int, int, int]) -> None:
    raise FakeFault("kernel 'fail' writes outside")


KERNELS = {
    "add_one": FakeKernel(
        "add_one", add_one, [argument("source", 0, access="read"), argument("target", 1)]
    ),
    "fail": FakeKernel("fail", fail, []),
}


def fake_device(**options: object) -> MTLDevice:
    kernels = options.pop("kernels", KERNELS)
    return MTLDevice(DeviceOptions(**options), fake_engine(kernels))  # type: ignore[arg-type]
