"""A module on devices: kernels loaded and weights in place, once, for all threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..buffer import BufferView
from ..device import Device
from ..element_type import DENSE_ROW_MAJOR
from ..status import StatusError
from .file import ModuleFile
from .memory import allocate
from .programs import LOADERS, Loader, Program
from .records import NONE, Call, Model, Module, Place
from .shapes import ShapeTable
from .staged import STAGED_LOADERS

OpenDevice = Callable[[str], Device]


class OpenedModule:
    """What is chosen of a module, ready to run; immutable.

    Of devices that are not chosen nothing is opened, loaded or even held against its checksum.
    """

    def __init__(
        self,
        file: ModuleFile,
        devices: Sequence[str],
        open_device: OpenDevice,
        loaders: Mapping[str, Loader] = LOADERS,
    ) -> None:
        """`devices` are names of the module's. Raises StatusError."""
        self.file = file
        self.module: Module = file.module
        self.models = _usable(file, devices)
        self.shapes = ShapeTable(self.module, self.models)
        self._check_alike()
        used = {device for number in self.models for device in self.model(number).devices}
        self.devices = {number: open_device(self.module.devices[number]) for number in sorted(used)}
        self._programs = dict(self._load(loaders))
        self._weights = dict(self._place_weights())

    def model(self, number: int) -> Model:
        """A device model."""
        return self.module.models[number]

    def program(self, kernel: int) -> Program:
        """What a kernel is a function of."""
        return self._programs[self._key(kernel)]

    def _key(self, kernel: int) -> tuple[int, int, str, int]:
        """Kernels of one key are one program; those that have stages are one each."""
        record = self.module.kernels[kernel]
        own = kernel if record.format in STAGED_LOADERS else NONE
        return record.device, record.segment, record.format, own

    def weight(self, device: int, number: int) -> BufferView:
        """A weight in a device's memory."""
        return self._weights[device, number]

    @property
    def weight_bytes(self) -> int:
        """Bytes of weights in the memories of all devices."""
        return sum(view.buffer.length for view in self._weights.values())

    def _check_alike(self) -> None:
        """All device models have the same inputs and outputs, by name and type."""
        first, *others = (_interface(self.model(number)) for number in self.models)
        for other in others:
            if other != first:
                raise StatusError(
                    "INVALID_ARGUMENT",
                    f"{self.file.name}: its models differ in their inputs or outputs",
                )

    def _load(
        self, loaders: Mapping[str, Loader]
    ) -> Iterator[tuple[tuple[int, int, str, int], Program]]:
        wanted: dict[tuple[int, int, str, int], None] = {}
        for number in self.models:
            for region in self.model(number).regions:
                for item in region.instructions:
                    if isinstance(item, Call):
                        wanted[self._key(item.kernel)] = None
        for key in wanted:
            device, segment, kind, kernel = key
            if kind in STAGED_LOADERS:
                record = self.module.kernels[kernel]
                yield key, STAGED_LOADERS[kind](self.devices[device], record, self.file.segment)
                continue
            if kind not in loaders:
                known = ", ".join((*loaders, *STAGED_LOADERS))
                raise StatusError(
                    "INCOMPATIBLE",
                    f"{self.file.name}: kernels of format {kind!r} cannot run; there are {known}",
                )
            yield key, loaders[kind](self.devices[device], self.file.segment(segment))

    def _place_weights(self) -> Iterator[tuple[tuple[int, int], BufferView]]:
        """Each weight once in the memory of each device that uses it."""
        wanted = {
            (tensor.device, tensor.where)
            for number in self.models
            for tensor in self.model(number).tensors
            if tensor.place == Place.WEIGHT
        }
        for device, number in sorted(wanted):
            weight = self.module.weights[number]
            data = self.file.segment(weight.segment)
            buffer = allocate(self.devices[device], len(data))
            buffer.write(0, data)
            exact = buffer.subspan(0, len(data))
            view = BufferView(exact, weight.shape, weight.element_type, DENSE_ROW_MAJOR)
            yield (device, number), view


def _usable(file: ModuleFile, devices: Sequence[str]) -> tuple[int, ...]:
    """The device models that need no other devices than the chosen ones."""
    known = file.module.devices
    listed = ", ".join(known) or "none"
    for name in devices:
        if name not in known:
            raise StatusError(
                "NOT_FOUND", f"{file.name}: it was not built for {name}; its devices are {listed}"
            )
    chosen = {known.index(name) for name in devices}
    found = tuple(
        number
        for number, model in enumerate(file.module.models)
        if chosen.issuperset(model.devices)
    )
    if not found:
        raise StatusError(
            "NOT_FOUND",
            f"{file.name}: no model of it runs on {', '.join(devices) or 'no device'} alone; "
            f"its devices are {listed}: run it with --device {','.join(known)}",
        )
    return found


def _interface(model: Model) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    return (
        [(each.name, model.tensors[each.tensor].element_type) for each in model.inputs],
        [(each.name, model.tensors[each.tensor].element_type) for each in model.outputs],
    )
