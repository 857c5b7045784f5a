"""Whole models as one kernel per device: those that come as TOSA, whose shapes are fixed.

So a quantised model runs on the NPU, the GPU or the CPU from one file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from xdsl.ir import Attribute

from assay.compiler.graph.elements import NUMPY, dtype_of, shape_of
from assay.compiler.graph.errors import naming
from assay.compiler.graph.importer import import_model
from assay.compiler.graph.symbolic.dims import text
from assay.compiler.graph.tosa import ops
from assay.compiler.models import ModelError, compile_model
from assay.compiler.models.compile import Target
from assay.compiler.module.plan import Life, planned
from assay.compiler.torq.schedule.compile import compiled
from assay.compiler.torq.schedule.options import USUAL

from ... import element_type as elements
from ...torq.pack import pack
from ...vm.build.torq import torq_module
from ..records import NONE, Arena, Call, Input, Kernel, Model, Output, Place, Region, Tensor
from .pool import RETURNING, Pool

_ENTRY: Final = "tf.entry_function"
_ASYNC_FLAG: Final = "--iree-execution-model=async-external"
Say = Callable[[str], None]
Kind = tuple[np.dtype[Any], tuple[int, ...]]


class WholeModel:
    """A model with one function of tensors of known shapes."""

    def __init__(self, path: Path, say: Say) -> None:
        """Raises ModelError."""
        self.path = path
        with naming(str(path)):
            function = ops.only_function(import_model(path, progress=say))
        self.function = function.sym_name.data
        kinds = function.function_type
        self.inputs = [self._kind(kind) for kind in kinds.inputs]
        self.outputs = [self._kind(kind) for kind in kinds.outputs]
        said = function.attributes.get(_ENTRY)
        self.input_names = _names(said, "inputs", "input", len(self.inputs))
        self.output_names = _names(said, "outputs", "output", len(self.outputs))

    def _kind(self, kind: Attribute) -> Kind:
        shape = shape_of(kind)
        dtype = dtype_of(getattr(kind, "element_type", kind))
        if shape is None or dtype is None or any(size < 0 for size in shape):
            raise ModelError(f"{self.path}: {kind} is no tensor of a known shape")
        return NUMPY[dtype], tuple(shape)

    def add(self, pool: Pool, device: int, target: Target | None, say: Say) -> Model:
        """A device model, whose program goes into the pool; without a target it is the NPU's."""
        data = self._for_npu(say) if target is None else self._by_iree(target, say)
        counts = len(self.inputs), 0, len(self.outputs)
        pool.add_program(device, data, [Kernel(device, RETURNING, NONE, self.function, *counts)])
        return self._model(pool, device)

    def _by_iree(self, target: Target, say: Say) -> bytes:
        say(f"compiling {self.path.name} for {target}")
        return compile_model(self.path, target=target, flags=[_ASYNC_FLAG], progress=say).data

    def _for_npu(self, say: Say) -> bytes:
        made = compiled(self.path, say, USUAL)
        return torq_module(pack(made.program, self.path.stem), self.function)

    def _model(self, pool: Pool, device: int) -> Model:
        kinds = [*self.inputs, *self.outputs]
        names = [*self.input_names, *self.output_names]
        sizes = [int(np.prod(shape)) * dtype.itemsize for dtype, shape in kinds]
        first = len(self.inputs)
        plan = planned(
            [
                Life(name=f"{number}", size=sizes[number], first=0, last=0)
                for number in range(first, len(kinds))
            ]
        )
        location = pool.location(self.path.name, "the whole model", self.function)
        tensors = []
        for number, ((dtype, shape), name) in enumerate(zip(kinds, names, strict=True)):
            code = elements.code_of(dtype)
            if number < first:
                place = (Place.INPUT, number, 0, 0)
            else:
                place = (Place.PLANNED, 0, plan.offsets[f"{number}"], sizes[number])
            tensors.append(Tensor(name, code, shape, device, *place, location))
        kernel = pool.kernel(device, self.function)
        inputs, outputs = tuple(range(first)), tuple(range(first, len(kinds)))
        return Model(
            name=f"{self._set_name()} on {pool.devices[device]}",
            devices=(device,),
            inputs=tuple(
                Input(names[number], number, tuple(pool.size(d, {}) for d in kinds[number][1]))
                for number in inputs
            ),
            outputs=tuple(Output(names[number], number) for number in outputs),
            arenas=(Arena(device, plan.size),),
            tensors=tuple(tensors),
            regions=(Region((Call(kernel, inputs, (), outputs),)),),
            points=0,
        )

    def _set_name(self) -> str:
        pairs = zip(self.input_names, self.inputs, strict=True)
        return ", ".join(f"{name}={text(shape)}" for name, (_, shape) in pairs)


def _names(said: object, key: str, plain: str, count: int) -> Sequence[str]:
    """Names that a model gives its arguments or results, or numbers."""
    found = getattr(said, "data", {}).get(key)
    names = [name.strip() for name in getattr(found, "data", "").split(",")]
    if len(names) == count == len(set(names)) and all(names):
        return names
    return [f"{plain}{number}" for number in range(count)]
