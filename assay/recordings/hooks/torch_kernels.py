"""Kernels of `torch.mps.compile_shader`, recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from assay.hal.metal.emulated.host import bytes_at
from assay.hal.metal.recorder import Session

from ...torch.arguments import are_tensors, casts_of, is_tensor, numbers
from ...torch.includes import with_headers
from ...torch.library import NAME, grid_of, math_mode, padded
from .called import RAISED, Call, Data, Kernels

_MS = 1e3
Sizes = int | Sequence[int] | None


@contextmanager
def hooked(session: Session, device: str) -> Iterator[None]:
    """Record what kernels of `torch.mps.compile_shader` do until the block ends.

    Times are those of PyTorch's own events on a native device; the emulated one has none.
    """
    mps: Any = import_module("torch.mps")
    compile_shader = mps.compile_shader
    kernels = Kernels(session)
    clock = Clock(is_running=device == "native")

    def recorded(source: str) -> Library:
        text = with_headers(source, NAME)
        return Library(compile_shader(source), text, session, kernels, clock)

    mps.compile_shader = recorded
    try:
        yield
    finally:
        mps.compile_shader = compile_shader


class Library:
    """Stands for a library of shaders.

    Attributes:
        session: where it is recorded.
        clock: what its kernels' calls are timed by.
    """

    def __init__(
        self, real: Any, source: str, session: Session, kernels: Kernels, clock: Clock
    ) -> None:
        self._real = real
        self._source = source
        self._kernels = kernels
        self.session = session
        self.clock = clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        return Kernel(found, name, self) if callable(found) else found

    def __dir__(self) -> list[str]:
        return dir(self._real)

    def number(self, name: str) -> int:
        """The number of a kernel in the recording."""
        return self._kernels.number(self._source, math_mode(), name)


class Kernel:
    """Stands for a kernel; its calls are recorded."""

    def __init__(self, real: Any, name: str, library: Library) -> None:
        self._real = real
        self._name = name
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __call__(
        self,
        *args: object,
        threads: Sizes = None,
        group_size: Sizes = None,
        arg_casts: object = None,
        error_buf_idx: int | None = None,
    ) -> Any:
        """Run it as PyTorch would, and wait."""
        given: dict[str, Any] = {
            "threads": threads,
            "group_size": group_size,
            "arg_casts": arg_casts,
            "error_buf_idx": error_buf_idx,
        }
        given = {name: value for name, value in given.items() if value is not None}
        session = self._library.session
        if not session.chooses(self._name):
            return self._real(*args, **given)
        if error_buf_idx is not None:
            session.leave_out("calls with an error buffer")
            return self._real(*args, **given)
        _wait()
        try:
            call = _call(session, args, arg_casts)
            most = self._real.max_threads_per_threadgroup
            grid, group = grid_of(args, threads, group_size, most)
            times = self._library.clock.times(lambda: self._real(*args, **given))
        except Exception:
            session.leave_out(RAISED)
            raise
        if 0 not in grid:
            call.finish(self._library.number(self._name), padded(grid), padded(group), times)
        return None

    def __repr__(self) -> str:
        return f"<recorded {self._real!r}>"


def _call(session: Session, args: Sequence[object], arg_casts: object) -> Call:
    """What a call passes, read before it runs. Raises RuntimeError as PyTorch does."""
    casts = casts_of(arg_casts)
    call = Call(session)
    for index, value in enumerate(args):
        if is_tensor(value):
            place = _place(call, index, value)
            if place is not None:
                call.bind(index, *place)
        elif are_tensors(value):
            places = [_place(call, index, each) for each in value]  # type: ignore[attr-defined]
            words = [0 if each is None else call.address(each[0]) + each[1] for each in places]
            call.value(index, np.array(words, np.uint64).tobytes())
        else:
            call.value(index, numbers(index, value, casts).tobytes())
    return call


def _place(call: Call, index: int, tensor: Any) -> tuple[int, int] | None:
    """The memory of a tensor's storage and where in it the tensor begins; None if it is empty."""
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return None
    label = f"the tensor of argument {index}"
    memory = call.memory(storage.data_ptr(), label, lambda: _contents(storage))
    return memory, int(tensor.storage_offset() * tensor.element_size())


def _contents(storage: Any) -> Data:
    """What a storage holds, wherever it lies."""
    here = storage.cpu()
    return bytes_at(here.data_ptr(), here.nbytes()).copy()


class Clock:
    """Times of calls, one behind the other: PyTorch tells how long they take, and not when."""

    def __init__(self, *, is_running: bool) -> None:
        self._is_running = is_running
        self._now = 0.0

    def times(self, run: Callable[[], object]) -> tuple[float, float]:
        """Run a call to its end; when the GPU began and ended, in seconds."""
        if not self._is_running:
            run()
            _wait()
            return 0.0, 0.0
        make: Any = import_module("torch.mps.event").Event
        begin, end = make(enable_timing=True), make(enable_timing=True)
        begin.record()
        run()
        end.record()
        _wait()
        start = self._now
        self._now += begin.elapsed_time(end) / _MS
        return start, self._now


def _wait() -> None:
    import_module("torch.mps").synchronize()
