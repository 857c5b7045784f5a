"""The tensors that an Assay module's kernels make, one by one, to be compared by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from assay.hal.module.records import Call, Copy, Instruction

from .assay_module import AssayModule, load_assay
from .elements import Array

NPU: Final = "torq"


def tensors_of(
    module: AssayModule, values: Sequence[Array], instead: Mapping[str, Array] | None = None
) -> dict[str, Array]:
    """What each kernel gave, by the tensors' names in the model, in the order of the kernels.

    Each kernel is waited for: memory is shared by tensors that are not needed at the same time.
    Later kernels are given what `instead` has of a tensor's name, so that differences of one do not
    go on to the next. Raises StatusError.
    """
    known = instead or {}
    found: dict[str, Array] = {}
    with module.new_context() as owner:
        context = owner.context
        context.reshape(
            {name: array.shape for name, array in zip(owner.inputs, values, strict=True)}
        )
        for name, array in zip(owner.inputs, values, strict=True):
            context.write(name, array)

        def done(item: Instruction) -> None:
            if not isinstance(item, Call):
                return
            context.finish()
            for number in item.outputs:
                name = context.model.tensors[number].name
                made = found[name] = context.read(number)
                other = known.get(name)
                if other is not None and (other.shape, other.dtype) == (made.shape, made.dtype):
                    context.view(number).buffer.write(0, np.ascontiguousarray(other).tobytes())

        context.run(done)
    return found


def npu_tensors(
    module: AssayModule,
    source: Path,
    values: Sequence[Array],
    tensors: Mapping[str, Array],
    say: Callable[[str], None],
    *,
    cache: bool = True,
) -> dict[str, Array]:
    """What the NPU's kernels should give: the same part of the ONNX model `source` as TOSA of
    integers, by IREE's CPU backend, made of `tensors`.

    Parts that IREE does not take, such as those with unsigned integers, are left out. `values` are
    the inputs of the module. What other formats than ONNX say of integers is the same on every
    device: none is needed for them. Without `cache` all parts are compiled anew, and not kept.
    Raises ModelError and StatusError.
    """
    from assay.compiler.graph.symbolic.onnx_graph import graph_of
    from assay.compiler.graph.symbolic.onnx_model import OnnxModel
    from assay.compiler.models import model_format
    from assay.compiler.module.extraction import extracted

    if model_format(source) != "onnx":
        return {}

    found: dict[str, Array] = {}
    parts = list(_npu_calls(module, values))
    if not parts:
        return found
    known = {**tensors, **dict(zip(module.context.inputs, values, strict=True))}
    onnx = OnnxModel(source)
    shapes = {name: known[name].shape for name in module.context.inputs}
    graph = graph_of(onnx, shapes)
    for number, (takes, gives) in enumerate(parts):
        say(f"part {number + 1} of {len(parts)} of the NPU on the CPU")
        if any(name not in known for name in takes):
            continue  # made by something that the reference does in one kernel
        part = _on_the_cpu(extracted(onnx, graph, takes, gives), cache=cache)
        if part is None:
            continue
        results = part.context.invoke([known[name] for name in takes])
        found.update(zip(gives, map(np.asarray, results), strict=True))
    return found


def _npu_calls(
    module: AssayModule, values: Sequence[Array]
) -> Iterator[tuple[list[str], list[str]]]:
    """(names of what a kernel of the NPU takes, of what it gives), as the model has them."""
    with module.new_context() as owner:
        pairs = zip(owner.inputs, values, strict=True)
        owner.context.reshape({name: array.shape for name, array in pairs})
        model, whole = owner.context.model, module.opened.module
    for region in model.regions:
        sources = {
            item.target: item.source for item in region.instructions if isinstance(item, Copy)
        }
        for item in region.instructions:
            if isinstance(item, Call) and whole.devices[whole.kernels[item.kernel].device] == NPU:
                inputs = (sources.get(number, number) for number in item.inputs)
                yield (
                    [model.tensors[number].name for number in inputs],
                    [model.tensors[number].name for number in item.outputs],
                )


def _on_the_cpu(part: bytes, *, cache: bool) -> AssayModule | None:
    """A part as TOSA, built for the CPU; None if IREE does not take it: unsigned constants."""
    from assay.compiler.graph.importer import import_model
    from assay.compiler.models import ModelError
    from assay.hal.module.build.build import build_module
    from assay.sim.native.work_folder import work_folder

    with work_folder() as work:
        model, tosa = Path(work) / "part.onnx", Path(work) / "part.mlir"
        model.write_bytes(part)
        tosa.write_text(str(import_model(model)))
        try:
            return load_assay(build_module(tosa, devices=["cpu"], cache=cache), "cpu")
        except ModelError:
            return None
