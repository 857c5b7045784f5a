"""Contexts: what one thread needs to run a module. Shapes are switched here, and memory is held."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import element_type as elements
from ..buffer import Buffer, BufferView
from ..status import StatusError, invalid_argument
from .expressions import constant
from .memory import Growing, allocate
from .opened import OpenedModule
from .order import Order
from .queues import Bridge, Lane
from .records import NONE, Call, Input, Instruction, Model
from .run import Run
from .shapes import Shape, shape_text
from .state import ModelState
from .verify import bytes_of

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryUse:
    """Bytes that a context holds on all devices; weights are the module's."""

    arenas: int
    inputs: int
    dynamic: int
    weights: int
    workspaces: int
    """What kernels use for themselves, one after the other."""
    allocations: int
    """How often memory for inputs, dynamic tensors and workspaces was allocated so far."""


class Context:
    """One run at a time: exactly one device model is active, the first one to begin with.

    Everything static is allocated here: per device one arena, as large as the largest model's, and
    the inputs. Switching between shape sets allocates nothing then.
    """

    def __init__(self, opened: OpenedModule, *, apart: bool = False) -> None:
        """`apart` gives each tensor memory of its own, so that checks see what goes beyond it."""
        self.opened = opened
        self._apart = apart
        self._lock = threading.Lock()
        self._lanes = {number: Lane(device) for number, device in opened.devices.items()}
        for device, size in ({} if apart else _workspaces(opened)).items():
            self._lanes[device].scratch.get(size)
        self._bridge = Bridge()
        self._closed = False
        self._arenas = {
            device: allocate(opened.devices[device], size)
            for device, size in ({} if apart else _arena_sizes(opened)).items()
        }
        self._states = {
            number: ModelState(opened, number, None if apart else self._arenas)
            for number in opened.models
        }
        self._inputs = {key: Growing(opened.devices[key[1]]) for key in _input_keys(opened)}
        for key, size in ({} if apart else _input_sizes(opened)).items():
            self._inputs[key].get(size)
        self.switches = 0
        """How often another device model, or other shapes, became active."""
        self.runs = 0
        self._active, self._shapes = opened.shapes.first()
        self._staged: dict[str, Shape] = {}
        number, sizes = opened.shapes.find(self._shapes)
        self._activate(number, sizes, self._shapes)

    # Shapes.

    @property
    def model(self) -> Model:
        """The device model that is active."""
        return self._states[self._active].model

    @property
    def active(self) -> int:
        """Its number."""
        return self._active

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """The shapes of the inputs as they are now."""
        return dict(self._shapes)

    def reshape(self, shapes: Mapping[str, Shape]) -> None:
        """Gives inputs other shapes; the tuple of all of them decides which model becomes active.

        Where one input alone fits a set but all together do not, it is waited for the others.
        Raises StatusError, which lists the sets, and leaves everything as it was.
        """
        with self._exclusive():
            self._check_open()
            for name, shape in shapes.items():
                self.opened.shapes.check(self._known(name), shape)
            staged = {**self._staged, **shapes}
            wanted = {**self._shapes, **staged}
            try:
                number, sizes = self.opened.shapes.find(wanted)
            except StatusError:
                self._staged = staged
                return
            self._activate(number, sizes, wanted)
            self._staged = {}

    def require(self) -> None:
        """Raises StatusError if shapes were asked for that fit no set together."""
        self._check_open()
        if self._staged:
            self.opened.shapes.find({**self._shapes, **self._staged})

    def _check_open(self) -> None:
        if self._closed:
            raise StatusError("FAILED_PRECONDITION", "the context is closed")

    def _activate(self, number: int, sizes: Mapping[int, int], shapes: Mapping[str, Shape]) -> None:
        """Nothing is changed unless there is memory for all inputs. Raises StatusError."""
        state = self._states[number]
        buffers = [self._room(state.model, given, shapes) for given in state.model.inputs]
        self._active, self._shapes = number, dict(shapes)
        state.set_symbols(sizes)
        for given, buffer in zip(state.model.inputs, buffers, strict=True):
            self._give(state, given.tensor, buffer, shapes[given.name])
        self.switches += 1

    def _room(self, model: Model, given: Input, shapes: Mapping[str, Shape]) -> Buffer:
        tensor = model.tensors[given.tensor]
        size = bytes_of(tensor.element_type, shapes[given.name])
        if size >> 62:
            raise StatusError("OUT_OF_RANGE", f"input {given.name} is too large")
        if self._apart:
            return allocate(self.opened.devices[tensor.device], size)
        return self._inputs[given.name, tensor.device].get(size)

    def _give(self, state: ModelState, tensor: int, buffer: Buffer, shape: Shape) -> None:
        kind = state.model.tensors[tensor].element_type
        state.give(tensor, buffer.subspan(0, bytes_of(kind, shape)), shape)

    # Inputs and outputs.

    def input_tensor(self, name: str) -> int:
        """The active model's tensor of an input. Raises StatusError."""
        self.require()
        names = [given.name for given in self.model.inputs]
        return self.model.inputs[names.index(self._known(name))].tensor

    def output_tensor(self, name: str) -> int:
        """The active model's tensor of an output. Raises StatusError."""
        self.require()
        for output in self.model.outputs:
            if output.name == name:
                return output.tensor
        known = ", ".join(output.name for output in self.model.outputs)
        raise StatusError("NOT_FOUND", f"there is no output {name}; there are {known or 'none'}")

    def view(self, tensor: int) -> BufferView:
        """Where a tensor of the active model is now. Raises StatusError."""
        return self._states[self._active].view(tensor)

    def write(self, name: str, array: Array) -> None:
        """Copies an array into an input of the same type and shape. Raises StatusError."""
        view = self.view(self.input_tensor(name))
        dtype = elements.dtype_of(view.element_type)
        if array.dtype != dtype or array.shape != view.shape:
            raise invalid_argument(
                f"input {name} is {shape_text(view.shape)} {dtype}, not "
                f"{shape_text(array.shape)} {array.dtype}; reshape the input to switch"
            )
        if array.size:
            view.buffer.write(0, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def bind(self, name: str, buffer: Buffer) -> None:
        """Memory from outside for an input, used in place until shapes are switched.

        Raises StatusError if it is too small.
        """
        number = self.input_tensor(name)
        state = self._states[self._active]
        self._give(state, number, buffer, self._shapes[name])

    def read(self, tensor: int) -> Array:
        """The elements of a tensor of the active model, copied. Raises StatusError."""
        view = self.view(tensor)
        data = bytes(view.buffer.read(0, view.buffer.length))
        return np.frombuffer(data, elements.dtype_of(view.element_type)).reshape(view.shape)

    def _known(self, name: str) -> str:
        names = [given.name for given in self.model.inputs]
        if name not in names:
            listed = ", ".join(names) or "none"
            raise StatusError("NOT_FOUND", f"there is no input {name}; there are {listed}")
        return name

    # Runs.

    def run(self, done: Callable[[Instruction], None] | None = None) -> None:
        """Runs the active model on what the inputs hold. Raises StatusError; runs can follow.

        `done` is called behind each instruction: `finish` then waits for its work.
        """
        with self._exclusive():
            self.begin(done).go()

    def begin(self, done: Callable[[Instruction], None] | None = None) -> Run:
        """A run that is submitted part by part. Raises StatusError.

        It must be drained before the next one, and before inputs are written.
        """
        self.require()
        self.runs += 1
        return Run(self.opened, self._states[self._active], self._lanes, self._bridge, done)

    def check_order(self, order: Order) -> None:
        """Runs from here on tell `order` what they give devices to do, each call by itself."""
        self._bridge.order = order
        for lane in self._lanes.values():
            lane.order = order

    def finish(self) -> None:
        """Waits for what was submitted so far on all devices. Raises StatusError."""
        for lane in self._lanes.values():
            lane.finish()

    @property
    def memory(self) -> MemoryUse:
        """What is held now."""
        grown = [each for state in self._states.values() for each in state.grown.values()]
        inputs = list(self._inputs.values())
        workspaces = [lane.scratch for lane in self._lanes.values()]
        return MemoryUse(
            arenas=sum(arena.length for arena in self._arenas.values()),
            inputs=sum(each.size for each in inputs),
            dynamic=sum(each.size for each in grown),
            weights=self.opened.weight_bytes,
            workspaces=sum(each.size for each in workspaces),
            allocations=sum(each.allocations for each in (*grown, *inputs, *workspaces)),
        )

    def close(self) -> None:
        """Gives all memory back; may be called again."""
        with self._exclusive():
            self._closed = True
            self._bridge.close()
            for state in self._states.values():
                state.close()
            for memory in (
                *self._inputs.values(),
                *(each.scratch for each in self._lanes.values()),
            ):
                memory.release()
            self._arenas.clear()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise StatusError(
                "FAILED_PRECONDITION",
                "this context is at work in another thread; each thread needs one of its own",
            )
        try:
            yield
        finally:
            self._lock.release()


def _arena_sizes(opened: OpenedModule) -> dict[int, int]:
    """Bytes of the largest model's arena, by device."""
    sizes: dict[int, int] = {}
    for number in opened.models:
        for arena in opened.model(number).arenas:
            sizes[arena.device] = max(sizes.get(arena.device, 0), arena.size)
    return sizes


def _workspaces(opened: OpenedModule) -> dict[int, int]:
    """Bytes of the largest workspace whose size is a number, by device."""
    sizes: dict[int, int] = {}
    for number in opened.models:
        for region in opened.model(number).regions:
            for item in region.instructions:
                if isinstance(item, Call) and item.workspace != NONE:
                    size = constant(opened.module.expressions[item.workspace].code)
                    device = opened.module.kernels[item.kernel].device
                    if size is not None and size > sizes.get(device, 0):
                        sizes[device] = size
    return sizes


def _input_keys(opened: OpenedModule) -> dict[tuple[str, int], None]:
    return {
        (given.name, model.tensors[given.tensor].device): None
        for model in map(opened.model, opened.models)
        for given in model.inputs
    }


def _input_sizes(opened: OpenedModule) -> dict[tuple[str, int], int]:
    """Bytes that each input takes at most, where there is a most."""
    sizes: dict[tuple[str, int], int] = {}
    symbols = opened.module.symbols
    for each in opened.shapes.sets:
        model = opened.model(each.model)
        for given in model.inputs:
            tensor = model.tensors[given.tensor]
            dims = each.inputs[given.name]
            most = [
                dim.number if dim.number is not None else symbols[dim.symbol].maximum
                for dim in dims
            ]
            key = given.name, tensor.device
            sizes[key] = max(sizes.get(key, 0), bytes_of(tensor.element_type, most))
    return sizes
