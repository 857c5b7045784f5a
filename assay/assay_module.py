"""Assay modules as Python objects: shapes are switched by reshaping inputs, arrays go in and out.

module = assay.load("model.assay", device="cpu")
module.input("data").reshape(2, 3, 224, 224)
scores = module(data)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.hal import element_type as elements
from assay.hal.buffer import Buffer
from assay.hal.device import Device
from assay.hal.module.context import Context, MemoryUse
from assay.hal.module.file import ModuleFile, read_file, read_module
from assay.hal.module.opened import OpenedModule
from assay.hal.module.pipeline import Pipeline
from assay.hal.status import StatusError

from .elements import Array, Value
from .tracebacks import ends_in_caller

AUTO = "auto"
"""A split that is chosen by predicted times."""
GPUS = ("emulated", "native")
"""Devices that stand for a module's `metal`."""


class View:
    """A tensor of a module as it was when the view was made.

    It raises as soon as shapes were switched, or, of an output, as the next run began: what lies
    there then is something else.
    """

    def __init__(self, owner: ModuleContext, tensor: int, *, of_run: bool) -> None:
        self._owner, self._tensor = owner, tensor
        self._state = owner.state(of_run=of_run)
        self._of_run = of_run

    @ends_in_caller
    def numpy(self) -> Array:
        """The elements, copied. Raises StatusError if the view is stale."""
        self._check()
        return self._owner.context.read(self._tensor)

    @property
    def buffer(self) -> Buffer:
        """The memory itself. Raises StatusError if the view is stale."""
        self._check()
        return self._owner.context.view(self._tensor).buffer

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape. Raises StatusError if the view is stale."""
        self._check()
        return self._owner.context.view(self._tensor).shape

    def _check(self) -> None:
        if self._owner.state(of_run=self._of_run) != self._state:
            raise StatusError(
                "FAILED_PRECONDITION",
                "this view is stale: shapes were switched, or the module ran, after it was made; "
                "ask for a new one",
            )


class Input:
    """An input of a context, by name, whichever device model is active."""

    def __init__(self, owner: ModuleContext, name: str) -> None:
        self._owner, self.name = owner, name

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that it has now."""
        return self._owner.context.shapes[self.name]

    @ends_in_caller
    def reshape(self, *shape: int) -> None:
        """Another shape, which makes the model for it active, with the other inputs' shapes.

        Raises StatusError, which lists the shape sets, if there is none.
        """
        self._owner.context.reshape({self.name: shape})

    @ends_in_caller
    def write(self, array: Any) -> None:
        """Copies elements; the shape must be the one of now. Raises StatusError."""
        self._owner.context.write(self.name, self._owner.cast(self.name, array))

    @ends_in_caller
    def bind(self, buffer: Buffer) -> None:
        """Memory of the device to be used in place, until shapes are switched."""
        self._owner.context.bind(self.name, buffer)

    def view(self) -> View:
        """The input's memory; stale once shapes are switched."""
        return View(self._owner, self._owner.context.input_tensor(self.name), of_run=False)


class ModuleContext:
    """What one thread needs to run a module: memory, shapes, one run at a time."""

    def __init__(self, opened: OpenedModule, *, apart: bool = False) -> None:
        """`apart` gives each tensor memory of its own."""
        self.context = Context(opened, apart=apart)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of inputs, in their order."""
        return tuple(given.name for given in self.context.model.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of outputs, in their order."""
        return tuple(output.name for output in self.context.model.outputs)

    @property
    def active(self) -> str:
        """The name of the device model that is active."""
        return self.context.model.name

    @property
    def memory(self) -> MemoryUse:
        """Bytes that are held."""
        return self.context.memory

    @ends_in_caller
    def input(self, name: str) -> Input:
        """An input. Raises StatusError."""
        if name not in self.inputs:
            listed = ", ".join(self.inputs) or "none"
            raise StatusError("NOT_FOUND", f"there is no input {name}; there are {listed}")
        return Input(self, name)

    @ends_in_caller
    def output(self, name: str) -> View:
        """An output of the last run; stale once the next begins. Raises StatusError."""
        return View(self, self.context.output_tensor(name), of_run=True)

    @ends_in_caller
    def reshape(self, **shapes: Sequence[int]) -> None:
        """Shapes of several inputs at once."""
        self.context.reshape({name: tuple(shape) for name, shape in shapes.items()})

    @ends_in_caller
    def run(self) -> None:
        """Runs on what the inputs hold. Raises StatusError, after which more runs can follow."""
        self.context.run()

    @ends_in_caller
    def __call__(self, *arrays: Any) -> Any:
        """Runs on arrays, whose shapes decide which model is active; one result, or a tuple."""
        results = self.invoke(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def invoke(self, arrays: Sequence[Any]) -> list[Value]:
        """The same; always a list of results."""
        if len(arrays) != len(self.inputs):
            raise StatusError(
                "INVALID_ARGUMENT",
                f"it takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), "
                f"{len(arrays)} were given",
            )
        given = {
            name: self.cast(name, array) for name, array in zip(self.inputs, arrays, strict=True)
        }
        self.context.reshape({name: array.shape for name, array in given.items()})
        for name, array in given.items():
            self.context.write(name, array)
        self.context.run()
        return [self.context.read(self.context.output_tensor(name)) for name in self.outputs]

    def cast(self, name: str, array: Any) -> Array:
        """An array for an input; lists and scalars get its type."""
        if isinstance(array, np.ndarray):
            return array
        return np.asarray(array, self._dtype(name))

    def zeros(self, name: str) -> Array:
        """Zeros for an input of the shape it has now."""
        return np.zeros(self.context.shapes[name], self._dtype(name))

    def _dtype(self, name: str) -> np.dtype[Any]:
        model = self.context.model
        number = next(given.tensor for given in model.inputs if given.name == name)
        return np.dtype(elements.dtype_of(model.tensors[number].element_type))

    def state(self, *, of_run: bool) -> tuple[int, int]:
        """Changes whenever views become stale."""
        return self.context.switches, self.context.runs if of_run else 0

    def close(self) -> None:
        """Gives all memory back; may be called again."""
        self.context.close()

    def __enter__(self) -> ModuleContext:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AssayModule:
    """A loaded Assay module. Each thread that calls it has a context of its own."""

    def __init__(self, opened: OpenedModule) -> None:
        self.opened = opened
        self._threads = threading.local()

    @property
    def name(self) -> str:
        """The module's name."""
        return self.opened.module.name

    @property
    def shape_sets(self) -> tuple[str, ...]:
        """The input shapes that there are device models for."""
        shapes = self.opened.shapes
        return tuple(dict.fromkeys(each.text(shapes.symbols) for each in shapes.sets))

    def new_context(self, *, apart: bool = False) -> ModuleContext:
        """A context that the caller keeps; `apart` gives each tensor memory of its own."""
        return ModuleContext(self.opened, apart=apart)

    @property
    def context(self) -> ModuleContext:
        """The calling thread's own context."""
        found: ModuleContext | None = getattr(self._threads, "context", None)
        if found is None:
            found = self._threads.context = self.new_context()
        return found

    @ends_in_caller
    def input(self, name: str) -> Input:
        """An input of the thread's context."""
        return self.context.input(name)

    @ends_in_caller
    def output(self, name: str) -> View:
        """An output of the last run of the thread's context."""
        return self.context.output(name)

    @ends_in_caller
    def run(self) -> None:
        """Runs the thread's context."""
        self.context.run()

    @ends_in_caller
    def __call__(self, *arrays: Any) -> Any:
        """Runs the thread's context on arrays; one result, or a tuple."""
        return self.context(*arrays)

    def map(self, batches: Iterable[Any], in_flight: int | None = None) -> Iterator[Any]:
        """The results for each of `batches` (an array, or a tuple of them), in their order.

        Several runs are in flight, each with memory of its own: while one device works on one of
        them, others work on the next. `in_flight` is how many; as many as a run has parts on
        alternating devices if left out, 2 to 4.
        """
        names = self.context.inputs
        with Pipeline(self.opened, in_flight) as pipeline:
            for results in pipeline.map(self._given(names, each) for each in batches):
                yield results[0] if len(results) == 1 else tuple(results)

    def zeros(self) -> list[Array]:
        """Inputs of zeros, of the shapes that the thread's context has now."""
        return [self.context.zeros(name) for name in self.context.inputs]

    def _given(self, names: Sequence[str], batch: Any) -> dict[str, Array]:
        arrays = batch if isinstance(batch, tuple) else (batch,)
        if len(arrays) != len(names):
            raise StatusError(
                "INVALID_ARGUMENT",
                f"it takes {len(names)} inputs ({', '.join(names)}), {len(arrays)} were given",
            )
        pairs = zip(names, arrays, strict=True)
        return {name: self.context.cast(name, array) for name, array in pairs}

    def __repr__(self) -> str:
        return f"<assay module {self.name}: {'; '.join(self.shape_sets)}>"


def load_assay(source: str | Path | bytes, device: str = "emulated") -> AssayModule:
    """Loads an Assay module on some of its devices, named with commas between them.

    "emulated" and "native" are its `metal`; "cpu" and "torq" are themselves. Raises StatusError.
    """
    file = read_module(source) if isinstance(source, bytes) else read_file(Path(source))
    chosen = [name.strip() for name in device.split(",")]
    gpu = next((name for name in chosen if name in GPUS), "emulated")
    names = ["metal" if name in GPUS else name for name in chosen]
    if device in GPUS and "metal" not in file.module.devices:
        raise StatusError("NOT_FOUND", _other_devices(file))
    return AssayModule(OpenedModule(file, names, lambda name: _open(name, gpu)))


def _other_devices(file: ModuleFile) -> str:
    known = ", ".join(file.module.devices)
    return f"{file.name}: it was not built for the GPU; choose its device: {known}"


def _open(name: str, gpu: str) -> Device:
    """A device of a module by its name there."""
    if name == "metal":
        from assay.hal.metal import api
        from assay.hal.metal.driver import MetalDriver

        try:
            return MetalDriver(api.load(gpu)).open()
        except api.NoSuchMetal as error:
            raise StatusError("UNAVAILABLE", str(error)) from None
    if name == "cpu":
        from assay.hal.cpu.device import CpuDriver

        return CpuDriver().open()
    if name == "torq":
        from assay.hal.torq.driver import TorqDriver

        return TorqDriver().open()
    raise StatusError("NOT_FOUND", f"there is no device {name!r} here")


def build(
    model: str | Path,
    output: str | Path | None = None,
    *,
    shapes: str = "",
    devices: Sequence[str] = ("metal",),
    dims: Mapping[str, str] | None = None,
    split: str | None = None,
    chip: str = "m1",
    report: Callable[[str], None] | None = None,
    cache: bool = True,
) -> bytes:
    """Builds an Assay module of a model, and writes it where `output` says; its bytes.

    `shapes` are sets such as "data=1x3x224x224; data=2x3x224x224"; `dims` the bounds of their
    named dimensions, such as {"rows": "1..128:16"}; `split` has a line for each pattern of
    operators, with the device that does them behind it, or is "auto": chosen by predicted times,
    those of the GPU `chip`. `report` is told which operators are on another device than was meant,
    and why. With `cache` False kernels are compiled even if they were before, and not kept. Raises
    ModelError, and SpecError for an unknown chip.
    """
    data = built(
        Path(model),
        devices=devices,
        shapes=shapes,
        dims=[f"{name}={text}" for name, text in (dims or {}).items()],
        split=split,
        chip=chip,
        cache=cache,
        report=report or (lambda text: None),
    )
    if output is not None:
        Path(output).write_bytes(data)
    return data


def built(
    model: Path,
    *,
    devices: Sequence[str],
    shapes: str,
    dims: Sequence[str],
    split: str | None,
    split_name: str = "split",
    chip: str = "m1",
    cache: bool = True,
    say: Callable[[str], None] = lambda text: None,
    report: Callable[[str], None] = lambda text: None,
    chosen: Callable[[str], None] = lambda text: None,
) -> bytes:
    """A module out of what people write; `dims` are such as "rows=1..128". Raises ModelError.

    `split_name` is what messages call the text `split`; `say` is told what is being done, `report`
    which operators are not where they were meant to be, `chosen` the text of a split that was
    chosen.
    """
    from assay.compiler.graph.symbolic.shape_sets import parse_bounds, parse_shapes
    from assay.compiler.module.split import Split
    from assay.hal.module.build.build import build_module
    from assay.hw.apple.facts.chips import Chip
    from assay.hw.apple.facts.chips import chip as chip_named

    how: Split | Chip | None = None
    if split is not None:
        how = chip_named(chip) if split == AUTO else Split(split, devices, split_name)
    return build_module(
        model,
        devices=devices,
        shapes=parse_shapes(shapes) if shapes else (),
        bounds=parse_bounds(dims),
        split=how,
        cache=cache,
        say=say,
        report=report,
        chosen=chosen,
    )
