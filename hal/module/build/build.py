"""From a model file to an Assay module: one device model per shape set and device."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from assay.compiler.graph.symbolic.dims import Dims
from assay.compiler.graph.symbolic.dims import text as dims_text
from assay.compiler.graph.symbolic.graph import Graph, Operator
from assay.compiler.graph.symbolic.mlir_sizes import ShapesFromValues
from assay.compiler.graph.symbolic.shape_sets import Bounds, names_of
from assay.compiler.models import ModelError, compile_model, model_format
from assay.compiler.models.compile import Target
from assay.compiler.module.kernels import flags_of, mlir_of
from assay.compiler.module.mlir_source import MlirSource
from assay.compiler.module.onnx_source import OnnxSource
from assay.compiler.module.source import Source
from assay.compiler.module.split import Split
from assay.hw.apple.facts.chips import Chip
from assay.sim.native.work_folder import work_folder

from .. import records
from ..file import write_module
from ..programs import ASYNC
from ..records import NONE, VERSION, Module
from .auto import AutoSplit
from .device_model import Part, device_model
from .npu import NpuPrograms, npu_kernel
from .pool import VMFB, Pool
from .together import Together, with_npu, without_npu

TARGETS: Final[Mapping[str, Target]] = {"metal": "metal", "cpu": "llvm-cpu"}
"""Devices that IREE compiles for, and its targets for them."""
NPU: Final = "torq"
DEVICES: Final = (*TARGETS, NPU)
"""Devices that modules can be built for."""
_PRODUCER: Final = "assay build"
Say = Callable[[str], None]


def build_module(
    path: Path,
    *,
    devices: Sequence[str],
    shapes: Sequence[Mapping[str, Dims]] = (),
    bounds: Mapping[str, Bounds] | None = None,
    split: Split | Chip | None = None,
    apart: bool = False,
    cache: bool = True,
    say: Say = lambda text: None,
    report: Say = lambda text: None,
    chosen: Say = lambda text: None,
) -> bytes:
    """The file of a module.

    Args:
        path: an ONNX model; or one in TFLite or MLIR, which is one kernel for each device unless
            there is a split, or its operators are apart, or shapes follow from values.
        devices: names from `DEVICES`, the one that is preferred first.
        shapes: shape sets, the default first; without any, the shapes that the model declares.
        bounds: what named dimensions can be; others can be anything from 1 on.
        split: which device does which operator, or the GPU by whose predicted times that is chosen;
            without it every model is for one device.
        apart: makes each operator a kernel of its own, where there is no split, so that every
            tensor can be looked at.
        cache: whether what IREE compiled before will do, and what it compiles is kept.
        say: is told what is being done.
        report: is told, line by line, which operators are not on the device that was meant, and
            which tensors the host waits for.
        chosen: is given the split that was chosen for the first shape set, as the text of a file.

    Raises ModelError for what cannot be built.
    """
    _check_devices(devices)
    is_onnx = model_format(path) == "onnx"
    if not is_onnx and split is None and not apart:
        try:
            return _whole(path, devices, shapes, bounds or {}, say, cache=cache)
        except ShapesFromValues:
            pass  # operators one by one can be told what others made
    say(f"reading {path.name}")
    source: Source = OnnxSource(path) if is_onnx else MlirSource(path)
    sets = [dict(each) for each in shapes] or [source.declared()]
    graphs = [source.graph(each) for each in sets]
    pool = Pool(devices, _bounds(sets, bounds or {}))
    programs = NpuPrograms(say)
    if split is None:
        parts = [
            _part(graph, path, f"on {name}", _alone(source, graph, devices, name, programs, apart))
            for name in devices
            for graph in graphs
        ]
    else:
        where = f"on {', '.join(devices)}"
        if isinstance(split, Chip):
            chooser = AutoSplit(devices, split, programs, say, report, cache=cache)
            ranges = {each.name: (each.minimum, each.maximum or None) for each in pool.symbols}
            made = [chooser.split(source, graph, ranges) for graph in graphs]
            chosen(chooser.text(graphs[0], made[0]))
        else:
            made = [_split(source, graph, devices, split, programs, report) for graph in graphs]
        parts = [_part(graph, path, where, each) for graph, each in zip(graphs, made, strict=True)]
    for number, device in enumerate(devices):
        if device == NPU:
            _add_npu_programs(pool, number, programs, parts)
        else:
            _add_program(pool, number, TARGETS[device], parts, path, say, cache=cache)
    models = [device_model(pool, part) for part in parts]
    for each in models:
        _report_reads(each, report)
    return _written(path, pool, models)


def _alone(
    source: Source,
    graph: Graph,
    devices: Sequence[str],
    device: str,
    programs: NpuPrograms,
    apart: bool,
) -> Together:
    """All of a graph on one device. Raises ModelError for what the NPU cannot do."""
    number = devices.index(device)
    if device == NPU:
        return with_npu(source, graph, _all_on(number), number, None, programs)
    return without_npu(source, graph, _all_on(number), apart=apart)


def _report_reads(model: records.Model, report: Say) -> None:
    """What makes the host wait for a device, in the midst of a run."""
    for region in model.regions:
        for item in region.instructions:
            if isinstance(item, records.Read):
                name = model.tensors[item.tensor].name
                report(f"model {model.name}: the host waits for {name}, on which shapes depend")


def _split(
    source: Source,
    graph: Graph,
    devices: Sequence[str],
    split: Split,
    programs: NpuPrograms,
    report: Say,
) -> Together:
    """The devices' parts of a graph, and a report of what is not where it was meant to be."""
    if NPU not in devices:
        return without_npu(source, graph, split.device)
    npu = devices.index(NPU)
    following = (npu + 1) % len(devices) if len(devices) > 1 else None
    made = with_npu(source, graph, split.device, npu, following, programs)
    instead = devices[following or 0]
    for refusal in made.refused:
        report(f"not on {NPU} but on {instead}: {refusal}")
    return made


def _all_on(device: int) -> Callable[[Operator], int]:
    """All operators on one device."""
    return lambda _: device


def _part(graph: Graph, path: Path, where: str, made: Together) -> Part:
    """What becomes a device model."""
    return Part(
        name=f"{_set_name(graph)} {where}",
        file=path.name,
        graph=graph,
        steps=made.steps,
        kernels=made.kernels,
        devices=made.devices,
    )


def _whole(
    path: Path,
    devices: Sequence[str],
    shapes: Sequence[Mapping[str, Dims]],
    bounds: Mapping[str, Bounds],
    say: Say,
    *,
    cache: bool,
) -> bytes:
    """A model in TFLite or MLIR: one kernel per device."""
    if NPU in devices and (shapes or bounds):
        raise ModelError(
            f"{path}: the NPU's programs have the model's own shapes; leave out shapes, or the NPU"
        )
    from .whole import WholeModel

    model = WholeModel(path, say)
    sets = [dict(each) for each in shapes] or [model.function.declared()]
    pool = Pool(devices, _bounds(sets, bounds))
    parts = [model.part(each, number, devices) for number in range(len(devices)) for each in sets]
    for number, device in enumerate(devices):
        model.add_program(pool, number, TARGETS.get(device), say, cache=cache)
    return _written(path, pool, [device_model(pool, part) for part in parts])


def _bounds(sets: Sequence[Mapping[str, Dims]], known: Mapping[str, Bounds]) -> dict[str, Bounds]:
    """What the named dimensions of shape sets can be. Raises ModelError."""
    names = names_of(sets)
    for name in known:
        if name not in names:
            raise ModelError(f"dim: no shape set has a dimension {name}; named are {names}")
    return {name: known.get(name, Bounds()) for name in names}


def _written(path: Path, pool: Pool, models: Sequence[records.Model]) -> bytes:
    module = Module(
        version=VERSION,
        name=path.stem,
        producer=_PRODUCER,
        devices=pool.devices,
        symbols=pool.symbols,
        weights=pool.weights,
        kernels=pool.kernels,
        expressions=pool.expressions,
        models=tuple(models),
        locations=pool.locations,
        segments=(),
    )
    return write_module(module, pool.segments)


def _check_devices(devices: Sequence[str]) -> None:
    known = ", ".join(DEVICES)
    for name in devices:
        if name not in DEVICES:
            raise ModelError(f"devices: modules cannot be built for {name!r}; there are {known}")
    if not devices or len(set(devices)) != len(devices):
        raise ModelError(f"devices: expected one or more of {known}, each once")


_LINE: Final = re.compile(r"kernels\.mlir:(\d+):")


def _about(path: Path, source: Path, error: ModelError, parts: Sequence[Part]) -> ModelError:
    """What IREE said of kernels, by the operators of the model that they are for."""
    lines = source.read_text().splitlines()
    named = {
        kernel.entry: " and ".join(f"{op.node.op_type} {op.name}" for op in group.operators)
        for part in parts
        for group, kernel in part.kernels.items()
    }
    found: dict[str, None] = {}
    for number in _LINE.findall(str(error)):
        before = [line for line in lines[: int(number)] if "func.func @" in line]
        entry = before[-1].partition("@")[2].partition("(")[0] if before else ""
        entry = entry.strip('"').removesuffix(ASYNC)
        found[named.get(entry, entry)] = None
    operators = "".join(f"\n  {text}" for text in found if text)
    said = _LINE.sub("", str(error).replace(str(source), "kernels.mlir")).partition("\n")[2]
    return ModelError(
        f"{path}: IREE cannot compile kernels of this model{':' if operators else ''}{operators}\n"
        f"It says:\n{said}",
        log=error.log,
    )


def _set_name(graph: Graph) -> str:
    return ", ".join(f"{each.name}={dims_text(each.dims)}" for each in graph.inputs)


def _add_npu_programs(
    pool: Pool, device: int, programs: NpuPrograms, parts: Sequence[Part]
) -> None:
    """The NPU's kernels, each of which is a program of its own."""
    wanted = {
        kernel.entry: kernel
        for part in parts
        for group, kernel in part.kernels.items()
        if part.devices[group] == device
    }
    for entry, kernel in sorted(wanted.items()):
        made = programs.of(kernel)
        pool.add_program(device, made.data, [npu_kernel(device, entry, made.executable)])


def _add_program(
    pool: Pool,
    device: int,
    target: Target,
    parts: Sequence[Part],
    path: Path,
    say: Say,
    *,
    cache: bool,
) -> None:
    """All kernels that any shape set needs of a device, compiled together."""
    wanted = {
        kernel.entry: kernel
        for part in parts
        for group, kernel in part.kernels.items()
        if part.devices[group] == device
    }
    if not wanted:
        return
    ordered = [wanted[entry] for entry in sorted(wanted)]
    with work_folder() as work:
        source = work / f"{path.stem}-kernels.mlir"
        module = mlir_of(ordered)
        source.write_bytes(module)
        say(f"compiling {len(ordered)} kernels for {target}")
        try:
            data = compile_model(source, target=target, flags=flags_of(module), cache=cache).data
        except ModelError as error:
            raise _about(path, source, error, parts) from None
    made = [
        records.Kernel(
            device,
            VMFB,
            NONE,
            kernel.entry,
            len(kernel.arguments),
            len(kernel.constants),
            len(kernel.outputs),
        )
        for kernel in ordered
    ]
    pool.add_program(device, data, made)
