"""Kernels that are called with arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.kernels import (
    Argument,
    Declared,
    Grid,
    GridOf,
    Output,
    Params,
    Tensor,
    Updated,
)

from .arrays import from_dlpack
from .dispatch import Dispatch
from .given import call_error, following, is_derived, outputs_of, refuse_unknown
from .tracing import trace_of

if TYPE_CHECKING:
    from ..checks import Report
    from ..prediction import TimeResult
    from ..prediction.picture import Picture


class Kernel:
    """A kernel to be called with arrays by the names of its arguments.

    Args:
        declared: a kernel of a source (`Standalone`), or one that is put together (`Compound`).
        grid: how large its grid is: `per_element("y")`, `per_row("x")`, `custom(...)`.
        device: "emulated", or "native" on a Mac.
    """

    def __init__(self, declared: Declared, *, grid: GridOf, device: str = "emulated") -> None:
        self.declared = declared
        self.grid_of = grid
        self._dispatch = Dispatch(declared, device)

    @property
    def source(self) -> str:
        """The whole text in MSL, which compiles by itself."""
        return self.declared.source

    def on(self, device: str) -> Kernel:
        """The same kernel on another device: "emulated", or "native" on a Mac."""
        return Kernel(self.declared, grid=self.grid_of, device=device)

    def __call__(self, **given: Any) -> Any:
        """Runs the kernel; the output as an array, or a tuple of them in their order.

        What the kernel updates is an output too; the array that was given stays as it is.

        Arrays are NumPy's, or anything with `__dlpack__` on the CPU. A parameter struct is an
        instance of it; its dynamic fields are given by name beside the arguments.

        Raises:
            FoundryError: for a value that is missing, unknown or does not fit.
            CompileError: if the source does not compile.
            LaunchError: if the kernel goes wrong.
        """
        trace = trace_of(given)
        if trace is not None:
            return trace.call(self.declared, self.grid_of, given)
        values, grid = self._bound(given)
        self._dispatch.run(values, grid)
        changed = (Output, Updated)
        made = [values[name] for name, each in self._arguments if isinstance(each, changed)]
        return made[0] if len(made) == 1 else tuple(made)

    def check(self, **given: Any) -> Report:
        """Runs the kernel under all checks; what they found. Outputs hold nothing before."""
        from ..checks import check_kernel

        values, grid = self._bound(given)
        return check_kernel(
            self.source,
            self.declared.function,
            *self._in_order(values),
            threadgroups=grid.threadgroups,
            threadgroup=grid.threads,
            uninitialised=outputs_of(self.declared),
        )

    def time(
        self, *, chip: str = "m1", warm: bool = True, timeline: bool = False, **given: Any
    ) -> TimeResult:
        """How long the kernel takes on a chip, and why.

        `warm` is whether caches hold what an earlier call with the same arrays left; `timeline`
        keeps what `plot_timeline()` and `trace()` of the result need.
        """
        from ..prediction import time

        values, grid = self._bound(given)
        found: TimeResult = time(
            self.source,
            self.declared.function,
            *self._in_order(values),
            chip=chip,
            warm=warm,
            timeline=timeline,
            threadgroups=grid.threadgroups,
            threadgroup=grid.threads,
        )
        return found

    def plot(
        self,
        *,
        chip: str = "m1",
        warm: bool = True,
        cycles: tuple[float, float] | None = None,
        **given: Any,
    ) -> Picture:
        """What the simdgroups of a threadgroup do on a chip, and when they wait for each other.

        Notebooks show the picture; `.save("kernel.svg")` writes it. `cycles` are those to show,
        counted from the threadgroup's launch. Raises ValueError if nothing runs in them.
        """
        timed = self.time(chip=chip, warm=warm, timeline=True, **given)
        return timed.plot_timeline(cycles=cycles)

    @property
    def _arguments(self) -> Iterable[tuple[str, Argument]]:
        return self.declared.arguments.items()

    def _bound(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], Grid]:
        """Arrays and bytes of all arguments by name, and the grid."""
        refuse_unknown(self.declared, given)
        values: dict[str, Any] = {}
        for name, argument in self._arguments:
            if isinstance(argument, Output) or is_derived(self.declared, name):
                continue
            if isinstance(argument, Tensor):
                values[name] = self._array(name, argument, given[name])
            else:
                values[name] = given[name]
        for name in outputs_of(self.declared):
            values[name] = self._made(name, values)
        for name, argument in self._arguments:
            if isinstance(argument, Params) and argument.make is not None:
                values[name] = following(self.declared, argument.make, values)
        grid = following(self.declared, self.grid_of, {**given, **values})
        for name, argument in self._arguments:
            if isinstance(argument, Params):
                values[name] = self._packed(name, argument, values[name], given)
        return values, grid

    def _array(self, name: str, argument: Tensor, value: Any) -> NDArray[Any]:
        found = value if isinstance(value, np.ndarray) else self._foreign(name, value)
        if found is None or found.dtype != argument.dtype:
            kind = type(value).__name__ if found is None else found.dtype.name
            raise call_error(
                self.declared, f"{name} is {kind}; it takes arrays of {argument.dtype.name}"
            )
        if isinstance(argument, Updated):
            return np.array(found, order="C")
        return np.ascontiguousarray(found)

    def _made(self, name: str, values: Mapping[str, Any]) -> NDArray[Any]:
        argument = self.declared.arguments[name]
        assert isinstance(argument, Output)
        shape = argument.shape
        if isinstance(shape, str):
            sizes = values[shape].shape
        else:
            sizes = tuple(following(self.declared, shape, values) if callable(shape) else shape)
        made = np.empty(sizes, argument.dtype)
        # What the kernel leaves out is NaN, or has all bits set.
        made.reshape(-1).view(np.uint8)[:] = 0xFF
        return made

    def _packed(
        self, name: str, argument: Params, value: Any, given: Mapping[str, Any]
    ) -> NDArray[np.uint8]:
        where = f"{self.declared.function}: {name}"
        return np.frombuffer(argument.layout.pack(value, where, given), np.uint8)

    def _in_order(self, values: Mapping[str, Any]) -> list[Any]:
        indices = self.declared.indices
        ordered = sorted(values, key=lambda name: indices[name])
        return [self._launched(name, values[name]) for name in ordered]

    def _launched(self, name: str, value: NDArray[Any]) -> NDArray[Any] | bytes:
        """An argument as checks and predictions take it, which have no empty buffers."""
        if isinstance(self.declared.arguments[name], Params):
            return value.tobytes()
        return value if value.size else np.zeros(1, value.dtype)

    def _foreign(self, name: str, value: Any) -> NDArray[Any] | None:
        if not hasattr(value, "__dlpack__"):
            return None
        try:
            return from_dlpack(value)
        except (BufferError, RuntimeError, ValueError) as error:
            kind = type(value).__name__
            raise call_error(
                self.declared, f"{name} is a {kind} that cannot be read: {error}"
            ) from None
