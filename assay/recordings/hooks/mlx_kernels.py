"""Kernels of `mx.fast.metal_kernel`, recorded.

MLX evaluates when it must; a kernel that is recorded is evaluated where it is called. Inside of
`mx.compile` and `mx.vmap` there is nothing to evaluate yet: those calls are counted, not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from assay.hal.metal.recorder import Session

from ...mlx.arrays import Input, as_input, new_output
from ...mlx.kernel import MetalKernel, template_values
from ...mlx.kernel import metal_kernel as declared
from ...mlx.passed import Value, passed
from .called import RAISED, Call, Kernels, Size


@contextmanager
def hooked(session: Session, _device: str) -> Iterator[None]:
    """Record what kernels of `mx.fast.metal_kernel` do until the block ends; MLX has no times."""
    mlx = import_module("mlx.core")
    metal_kernel = mlx.fast.metal_kernel
    kernels = Kernels(session)

    def recorded(*given: Any, **named: Any) -> Kernel:
        real = metal_kernel(*given, **named)
        return Kernel(real, declared(*given, **named), session, kernels)

    mlx.fast.metal_kernel = recorded
    try:
        yield
    finally:
        mlx.fast.metal_kernel = metal_kernel


class Kernel:
    """Stands for a kernel; its calls are recorded."""

    def __init__(self, real: Any, ours: MetalKernel, session: Session, kernels: Kernels) -> None:
        self._real = real
        self._ours = ours  # what is known of it, whoever runs it
        self._session = session
        self._kernels = kernels

    def __call__(
        self, *, inputs: Sequence[object], grid: Size, threadgroup: Size, **given: Any
    ) -> list[Any]:
        """Run it as MLX would, and wait."""
        whole = {"inputs": inputs, "grid": grid, "threadgroup": threadgroup, **given}
        if not self._session.chooses(self._ours.source.name):
            return list(self._real(**whole))
        arrays = self._readable(inputs)
        if arrays is None:
            self._session.leave_out("calls in functions that MLX transforms")
            return list(self._real(**whole))
        try:
            results = list(self._real(**whole))
            outputs = [as_input(each, "output") for each in results]
        except Exception:
            self._session.leave_out(RAISED)
            raise
        if 0 not in grid:
            self._keep(arrays, outputs, grid, threadgroup, given)
        return results

    def _readable(self, inputs: Sequence[object]) -> list[Input] | None:
        """The inputs' elements; None if there are none yet, or they are no inputs."""
        try:
            return self._ours.arrays(inputs)
        except (ValueError, RuntimeError):
            return None

    def _keep(
        self,
        inputs: Sequence[Input],
        outputs: Sequence[Input],
        grid: Size,
        threadgroup: Size,
        given: Mapping[str, Any],
    ) -> None:
        source = self._ours.source
        types = [each.element_type for each in outputs]
        template = template_values(given.get("template") or ())
        kernel = self._ours.generated(inputs, types, template)
        before = {
            name: new_output(each.elements.shape, each.element_type, given.get("init_value"))
            for name, each in zip(source.output_names, outputs, strict=True)
        }
        call = Call(self._session)
        elements = [each.elements for each in outputs]
        for index, each in enumerate(passed(source, inputs, elements)):
            if isinstance(each, Value):
                call.value(index, each.data.tobytes())
            elif each.data.nbytes:
                held = before[each.name].reshape(-1).view(np.uint8) if each.is_output else each.data
                memory = call.memory(index, each.name, partial(np.array, each.data), held)
                call.bind(index, memory, each.offset)
        width, height, depth = map(min, threadgroup, grid)
        number = self._kernels.number(kernel.program, self._ours.math_mode, kernel.name)
        call.finish(number, grid, (width, height, depth))
