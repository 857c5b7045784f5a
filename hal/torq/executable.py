"""A Torq executable on an emulated NPU: loaded once, run with buffers, action by action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.check.shadow import Shadow
from assay.hw.torq.device.device import Device
from assay.hw.torq.device.xram import AddressSpace
from assay.hw.torq.facts.costs import machine_of
from assay.hw.torq.facts.hardware import Hardware, hardware
from assay.hw.torq.facts.registers import registers, spaces

from ..observe import current_timer, current_watch, timer_of_work, under, watch_of_work
from ..status import StatusError
from .buffers import described, read_by, sizes_of, written_by
from .check import check
from .copy import host_copy
from .errors import faults
from .format import (
    BufferInfo,
    Executable,
    HostCopy,
    StartHost,
    StartNss,
    WaitNss,
)
from .host_calls import HostCall, HostFunction
from .host_code import HostCode
from .timing import TorqTimer, timed
from .watching import watching

Bytes = NDArray[np.uint8]


class LoadedExecutable:
    """An executable on an NPU, with its segments in an XRAM of its own.

    Several may be loaded into one NPU: each sees what its own program has mapped, and finds in LRAM
    what the one before left there.

    Args:
        executable: what to run; checked here.
        device: the NPU; a new one for `npu` if left out.
        npu: which hardware.
        host_functions: Python functions for those of the executable's host code, by name.
        name: what messages call it.
        program: what findings and times call it; its own name if left out.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        device: Device | None = None,
        npu: Hardware | None = None,
        host_functions: Mapping[str, HostFunction] | None = None,
        name: str = "executable",
        program: str = "",
    ) -> None:
        npu = npu or hardware()
        check(executable, npu, name)
        self.executable = executable
        self.device = device or Device(machine_of(npu))
        self.npu = npu
        self.name = name
        self.program = program or executable.name or name
        self._host_functions = dict(host_functions or {})
        self._space = AddressSpace()
        self._shadow = Shadow()
        self._ran_unwatched = False
        self._host_code = self._machine_code()
        with self.device.lock:
            self._load()

    def _machine_code(self) -> HostCode | None:
        """The board's own processor, if functions of it are called that nothing stands for."""
        called = (each.function for each in self.executable.actions if isinstance(each, StartHost))
        wanted = sorted({function for function in called if function not in self._host_functions})
        if not wanted or self.executable.host_code is None:
            return None
        return HostCode(self.executable.host_code, wanted, self.name)

    def _load(self) -> None:
        """Maps XRAM, and writes initialised segments. Raises StatusError."""
        begin, end = self.executable.footprint()
        size = end - begin
        self.device.xram.space = self._space
        with faults(self.name):
            if size:
                self.device.map(begin, min(size, (1 << 32) - begin))
            for segment in self.executable.segments:
                if segment.data is not None:
                    self.device.xram.write(segment.address, bytes(segment.data), "HOST")

    def buffer_sizes(self) -> dict[int, int]:
        """Bytes that each buffer must at least have, by number."""
        return sizes_of(self.executable)

    def described(self, number: int) -> BufferInfo | None:
        """What the executable says of the elements of a buffer, if it does."""
        return described(self.executable, number)

    def inputs(self) -> tuple[int, ...]:
        """Numbers of the buffers that the program reads."""
        return read_by(self.executable)

    def outputs(self) -> tuple[int, ...]:
        """Numbers of the buffers that it writes."""
        return written_by(self.executable)

    def dispatch(self, buffers: MutableSequence[Bytes], constants: Sequence[int] = ()) -> int:
        """Runs all actions; buffers that the program writes are changed in place.

        Gives the cycles of the NPU's clock that passed, the host's work included. Raises
        StatusError, naming the action. Observers of this moment are called (`hal.observe`).
        """
        with under(current_watch(), current_timer(TorqTimer)):  # type: ignore[type-abstract]
            return self.run(buffers, constants)

    def run(self, buffers: MutableSequence[Bytes], constants: Sequence[int] = ()) -> int:
        """As `dispatch`, for a queue, which sets the observers that the work belongs to."""
        self._check_buffers(buffers)
        with self.device.lock:
            return self._run(buffers, constants)

    def _run(self, buffers: MutableSequence[Bytes], constants: Sequence[int]) -> int:
        device = self.device
        device.xram.space = self._space
        begin = device.now
        try:
            with timed(self, timer_of_work(TorqTimer)), self._watched():  # type: ignore[type-abstract]
                self._perform(buffers, constants)
        except BaseException:
            device.reset()  # as a driver does with an NPU that hangs: the next program can start
            raise
        return device.now - begin

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Report hazards of what is done meanwhile to the checker that the work is under."""
        watch = watch_of_work()
        if watch is None:
            self._ran_unwatched = True
            yield
            return
        if self._ran_unwatched:  # it may have written any of it
            self._shadow.mark("XRAM", *self.executable.footprint())
            self._ran_unwatched = False
        with watching(self, watch, self._shadow):
            yield
        self._shadow.keep("XRAM")

    def _perform(self, buffers: MutableSequence[Bytes], constants: Sequence[int]) -> None:
        """Copies inputs, performs all actions, copies results. Raises StatusError."""
        for binding in self.executable.bindings:
            if not binding.write_only:
                part = buffers[binding.number][binding.offset : binding.offset + binding.size]
                with faults(self.name):
                    self.device.xram.write(binding.address, part.tobytes(), "HOST")
        for index, action in enumerate(self.executable.actions):
            where = f"{self.name}: action {index}"
            with faults(where):
                if isinstance(action, HostCopy):
                    host_copy(self.device, action, constants, buffers, where)
                elif isinstance(action, StartNss):
                    self._start(action.address)
                elif isinstance(action, WaitNss):
                    self._wait()
                elif isinstance(action, StartHost):
                    self._call(action)
        if self.device.watcher is not None:
            self.device.watcher.left()
        with faults(self.name):
            self.device.run()
        for binding in self.executable.bindings:
            if not binding.read_only:
                with faults(self.name):
                    data = self.device.xram.read(binding.address, binding.size, "HOST")
                part = buffers[binding.number][binding.offset : binding.offset + binding.size]
                part[:] = np.frombuffer(data, np.uint8)

    def _check_buffers(self, buffers: Sequence[Bytes]) -> None:
        for number, needed in self.buffer_sizes().items():
            if number >= len(buffers):
                raise StatusError(
                    "INVALID_ARGUMENT",
                    f"{self.name}: takes buffer {number}, and {len(buffers)} were given",
                )
            if len(buffers[number]) < needed:
                raise StatusError(
                    "INVALID_ARGUMENT",
                    f"{self.name}: buffer {number} has {len(buffers[number])} bytes; {needed} are "
                    "needed",
                )

    def _start(self, address: int) -> None:
        """What the driver does: program counter, interrupts, start."""
        self.device.host("start", self.device.machine.host_start)
        self.device.write32(_host_address("NSS.CFG.desc"), 1 << 24 | address)
        self.device.write32(_host_address("NSS.CTRL.ien_nss"), 1)
        self.device.write32(_host_address("CSS.IEN_HST.nss"), 1)
        self.device.write32(_host_address("NSS.START.nss"), 1)

    def _wait(self) -> None:
        self.device.wait_irq()
        self.device.host("interrupt", self.device.machine.host_interrupt)
        self.device.write32(_host_address("NSS.STATUS.nss"), 1)

    def _call(self, action: StartHost) -> None:
        function = self._host_functions.get(action.function)
        if function is None:
            assert self._host_code is not None  # or it would not have been loaded
            function = self._host_code.run
        function(HostCall(action=action, device=self.device))


def _host_address(name: str) -> int:
    space = name.split(".")[0].lower()
    return spaces()[space].views["host"] + registers(space).address(name)
