"""A device model in a context: where its tensors are and what shapes they have now."""

from __future__ import annotations

from collections.abc import Mapping

from ..buffer import Buffer, BufferView
from ..element_type import DENSE_ROW_MAJOR
from ..status import StatusError
from .expressions import Values, evaluate
from .memory import Growing, allocate
from .opened import OpenedModule
from .records import LARGEST_DIMENSION, NONE, UNKNOWN, Deduce, Forward, Place
from .repeated import Repeated, call_sequences
from .shapes import Shape
from .verify import bytes_of


class ModelState:
    """Views of all tensors; those of static ones are made here, and never again."""

    def __init__(
        self, opened: OpenedModule, number: int, arenas: Mapping[int, Buffer] | None
    ) -> None:
        """`arenas` is the memory of planned tensors, by device; None gives each some of its own."""
        self._devices = opened.devices
        self.model = opened.model(number)
        self._codes = [expression.code for expression in opened.module.expressions]
        self._arenas = arenas
        self._symbols = len(opened.module.symbols)
        self.grown = {
            at: Growing(opened.devices[tensor.device])
            for at, tensor in enumerate(self.model.tensors)
            if tensor.place == Place.DYNAMIC
        }
        self.sequences = [
            call_sequences(opened, self.model, region) for region in range(len(self.model.regions))
        ]
        self.repeated: dict[tuple[int, int], Repeated] = {}
        """What is known of sequences' last runs, by region and first instruction."""
        self.views: list[BufferView | None] = [None] * len(self.model.tensors)
        self._last = list(self.views)
        """Views as they were last, which unchanged ones still are."""
        self.values = Values(
            symbols=[None] * self._symbols, shapes=[None] * len(self.model.tensors)
        )
        for at, tensor in enumerate(self.model.tensors):
            if tensor.place == Place.WEIGHT:
                self.views[at] = opened.weight(tensor.device, tensor.where)
                self.values.shapes[at] = tensor.shape
            elif tensor.place == Place.PLANNED and UNKNOWN not in tensor.shape:
                self._place_planned(at, tensor.shape)
            elif UNKNOWN not in tensor.shape:
                self.values.shapes[at] = tensor.shape

    def give(self, number: int, buffer: Buffer, shape: Shape) -> None:
        """Memory and shape of an input's tensor."""
        self._put(number, buffer, shape)

    def set_symbols(self, sizes: Mapping[int, int]) -> None:
        """Sizes of symbols, for the runs to come."""
        self.values.symbols = [sizes.get(number) for number in range(self._symbols)]

    def view(self, number: int) -> BufferView:
        """Where a tensor is, with its shape. Raises StatusError if it is nowhere yet."""
        view = self.views[number]
        if view is None:
            name = self.model.tensors[number].name
            raise StatusError("FAILED_PRECONDITION", f"tensor {name} has no memory yet")
        return view

    def evaluate(self, expression: int) -> int:
        """An expression, by number. Raises StatusError."""
        return evaluate(self._codes[expression], self.values)

    def deduce(self, item: Deduce) -> None:
        """A shape from expressions; planned tensors are at their place at once."""
        tensor = self.model.tensors[item.tensor]
        shape = self._shape(item.tensor, item.dims)
        if tensor.place == Place.PLANNED:
            if bytes_of(tensor.element_type, shape) > tensor.size:
                raise StatusError(
                    "OUT_OF_RANGE",
                    f"tensor {tensor.name} of shape {shape} needs more than the {tensor.size} "
                    "bytes that are set aside for it",
                )
            self._place_planned(item.tensor, shape)
        else:
            self.values.shapes[item.tensor] = shape
            self.views[item.tensor] = None

    def reserve(self, number: int) -> None:
        """Memory for a dynamic tensor of the shape it has now. Raises StatusError."""
        tensor, shape = self.model.tensors[number], self.values.shapes[number]
        assert shape is not None  # the reader has seen to it
        size = bytes_of(tensor.element_type, shape)
        if size >> 62:
            raise StatusError("OUT_OF_RANGE", f"tensor {tensor.name} of shape {shape} is too large")
        if size > self.grown[number].size:
            self._forget(number)
        self._put(number, self.grown[number].get(size).subspan(0, size), shape)

    def release(self, number: int) -> None:
        """Gives a dynamic tensor's memory back."""
        self._forget(number)
        self.grown[number].release()

    def _forget(self, number: int) -> None:
        """Lets go of memory that is about to be given back, so that nothing here keeps it."""
        self.views[number] = self._last[number] = None
        self.repeated.clear()

    def forward(self, item: Forward) -> None:
        """Makes a tensor a view of another: nothing is moved. Raises StatusError."""
        tensor = self.model.tensors[item.target]
        shape = self._shape(item.target, item.dims)
        offset = 0 if item.offset == NONE else self.evaluate(item.offset)
        source = self.view(item.source).buffer
        size = bytes_of(tensor.element_type, shape)
        if offset < 0 or offset + size > source.length:
            raise StatusError(
                "OUT_OF_RANGE",
                f"tensor {tensor.name}: {size} bytes at {offset} of tensor "
                f"{self.model.tensors[item.source].name}, which has {source.length}",
            )
        buffer = source if size == source.length else source.subspan(offset, size)
        self._put(item.target, buffer, shape)

    def close(self) -> None:
        """Gives all dynamic memory back."""
        self.repeated.clear()
        for number in self.grown:
            self.release(number)

    def _shape(self, number: int, dims: tuple[int, ...]) -> Shape:
        """Sizes from expressions, each in range and as the tensor's type says."""
        shape = tuple(self.evaluate(dim) for dim in dims)
        tensor = self.model.tensors[number]
        for axis, (size, known) in enumerate(zip(shape, tensor.shape, strict=True)):
            if not 0 <= size <= LARGEST_DIMENSION or known not in (UNKNOWN, size):
                wanted = "sizes of 0 or more" if known == UNKNOWN else str(known)
                raise StatusError(
                    "OUT_OF_RANGE",
                    f"tensor {tensor.name} would be {size} long in dimension {axis}; "
                    f"possible: {wanted}",
                )
        return shape

    def _place_planned(self, number: int, shape: Shape) -> None:
        tensor = self.model.tensors[number]
        size = bytes_of(tensor.element_type, shape)
        if self._arenas is None:
            place = allocate(self._devices[tensor.device], size).subspan(0, size)
        else:
            arena = self._arenas[self.model.arenas[tensor.where].device]
            place = arena.subspan(tensor.offset, size)
        self._put(number, place, shape)

    def _put(self, number: int, buffer: Buffer, shape: Shape) -> None:
        """A tensor's place and shape; its view stays what it is if it says just that."""
        self.values.shapes[number] = shape
        before = self._last[number]
        if before is None or before.shape != shape or not _is_same(before.buffer, buffer):
            kind = self.model.tensors[number].element_type
            self._last[number] = BufferView(buffer, shape, kind, DENSE_ROW_MAJOR)
        self.views[number] = self._last[number]


def _is_same(one: Buffer, other: Buffer) -> bool:
    return (one.storage, one.offset, one.length) == (other.storage, other.offset, other.length)
