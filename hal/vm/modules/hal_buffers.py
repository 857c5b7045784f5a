"""The `hal` module's functions on allocators, buffers, buffer views and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import element_type as elements
from ...buffer import Buffer, BufferView, File
from ...device import Allocator, Device
from ...flags import BufferUsage, buffer_usage_text, memory_type_text
from ...status import StatusError, invalid_argument, out_of_range
from ..values import VmBuffer, require
from .registry import NativeModule, export


class BufferFunctions(NativeModule):
    """Part of the `hal` module."""

    @export("ex.file.from_memory", "0rIirIIi_r")
    def _file_from_memory(
        self, device: Any, _: int, access: int, buffer: Any, offset: int, length: int, __: int
    ) -> File:
        require(Device, device)  # type: ignore[type-abstract]
        if access & ~1:
            raise StatusError(
                "PERMISSION_DENIED",
                "only read-only memory can be accessed via a file handle (today)",
            )
        return File(require(VmBuffer, buffer).span(offset, length))

    @export("allocator.select", "0iiICrID_rI")
    def _allocator_select(
        self, _: int, __: int, ___: int, choices: Sequence[tuple[Any, int]]
    ) -> tuple[Any, int]:
        if not choices:
            raise invalid_argument("at least one device/queue affinity pair must be provided")
        return require(Device, choices[0][0]), choices[0][1]  # type: ignore[type-abstract]

    @export("allocator.allocate", "0rIiiI_r")
    def _allocate(self, allocator: Any, _: int, memory_type: int, usage: int, size: int) -> Buffer:
        found = require(Allocator, allocator)  # type: ignore[type-abstract]
        return found.allocate(memory_type, usage, size)

    @export("allocator.import", "0riIiirII_r")
    def _import(
        self,
        allocator: Any,
        is_try: int,
        _: int,
        memory_type: int,
        usage: int,
        source: Any,
        offset: int,
        length: int,
    ) -> Buffer | None:
        target = require(Allocator, allocator)  # type: ignore[type-abstract]
        data = require(VmBuffer, source).data
        size = len(data)
        length = size if length == -1 else length
        if length < 0 or offset < 0 or offset + length > size:
            raise invalid_argument(
                f"byte range out of bounds (requested {offset}-{offset + length - 1} of "
                f"available {size})"
            )
        if data.readonly and not usage & BufferUsage.SHARING_IMMUTABLE:
            raise StatusError(
                "PERMISSION_DENIED",
                "source buffer is immutable and can only be imported for constant usage",
            )
        imported = target.import_host(data[offset : offset + length], memory_type, usage)
        if imported is None and not is_try:
            raise StatusError("UNAVAILABLE", "the device cannot use this host memory in place")
        return imported

    @export("buffer.assert", "0rrrIii_v")
    def _buffer_assert(
        self, buffer: Any, message: Any, _: Any, minimum: int, memory_type: int, usage: int
    ) -> None:
        actual = require(Buffer, buffer)
        if actual.length < minimum:
            raise invalid_argument(
                f"{require(VmBuffer, message).text()} buffer byte length {actual.length} less "
                f"than expected minimum {minimum}"
            )
        if actual.memory_type & memory_type != memory_type:
            raise StatusError(
                "PERMISSION_DENIED",
                f"{require(VmBuffer, message).text()} buffer memory type is not compatible; "
                f"buffer has {memory_type_text(actual.memory_type)}, operation requires "
                f"{memory_type_text(memory_type)}",
            )
        if actual.usage & usage != usage:
            raise StatusError(
                "PERMISSION_DENIED",
                f"{require(VmBuffer, message).text()} requested usage was not specified when the "
                f"buffer was allocated; buffer allows {buffer_usage_text(actual.usage)}, "
                f"operation requires {buffer_usage_text(usage)}",
            )

    @export("buffer.allocation.preserve", "0r_v")
    def _preserve(self, buffer: Any) -> None:
        require(Buffer, buffer)

    @export("buffer.allocation.discard", "0r_i")
    def _discard(self, buffer: Any) -> int:
        require(Buffer, buffer)
        return 0  # references are counted by Python: no owner can know itself to be the last

    @export("buffer.allocation.is_terminal", "0r_i")
    def _is_terminal(self, buffer: Any) -> int:
        require(Buffer, buffer)
        return 0

    @export("buffer.subspan", "0rII_r")
    def _subspan(self, buffer: Any, offset: int, length: int) -> Buffer:
        return require(Buffer, buffer).subspan(offset, length)

    @export("buffer.length", "0r_I")
    def _length(self, buffer: Any) -> int:
        return require(Buffer, buffer).length

    @export("buffer.load", "0rIi_i")
    def _load(self, buffer: Any, offset: int, length: int) -> int:
        source = require(Buffer, buffer)
        if not 0 <= length <= 4:
            raise invalid_argument(f"load length byte count {length} exceeds max")
        word = bytes(source.read(offset, length)) + bytes(4 - length)
        return int.from_bytes(word, "little", signed=True)

    @export("buffer.store", "0irIi_v")
    def _store(self, value: int, buffer: Any, offset: int, length: int) -> None:
        target = require(Buffer, buffer)
        if not 0 <= length <= 4:
            raise invalid_argument(f"store length byte count {length} exceeds max")
        if offset < 0 or offset + length > target.length:
            raise out_of_range(
                f"store out of bounds (target_offset={offset}, length={length} into max "
                f"{target.length})"
            )
        target.write(offset, (value & 0xFFFFFFFF).to_bytes(4, "little")[:length])

    @export("buffer_view.create", "0rIIiiCID_r")
    def _view_create(
        self,
        buffer: Any,
        offset: int,
        length: int,
        element_type: int,
        encoding_type: int,
        shape: Sequence[int],
    ) -> BufferView:
        source = require(Buffer, buffer)
        if offset != 0 or length != source.length:
            source = source.subspan(offset, length)
        _check_shape(shape)
        return BufferView(source, tuple(shape), element_type, encoding_type)

    @export("buffer_view.assert", "0rriiCID_v")
    def _view_assert(
        self, view: Any, message: Any, element_type: int, encoding_type: int, shape: Sequence[int]
    ) -> None:
        assert_view(require(BufferView, view), message, element_type, encoding_type, shape)

    @export("buffer_view.buffer", "0r_r")
    def _view_buffer(self, view: Any) -> Buffer:
        return require(BufferView, view).buffer

    @export("buffer_view.element_type", "0r_i")
    def _view_element_type(self, view: Any) -> int:
        return require(BufferView, view).element_type

    @export("buffer_view.encoding_type", "0r_i")
    def _view_encoding_type(self, view: Any) -> int:
        return require(BufferView, view).encoding_type

    @export("buffer_view.rank", "0r_i")
    def _view_rank(self, view: Any) -> int:
        return len(require(BufferView, view).shape)

    @export("buffer_view.dim", "0ri_I")
    def _view_dim(self, view: Any, index: int) -> int:
        shape = require(BufferView, view).shape
        return shape[index] if 0 <= index < len(shape) else 0

    @export("buffer_view.trace", "0rCrD_v")
    def _view_trace(self, key: Any, views: Sequence[Any]) -> None:
        name = require(VmBuffer, key).text()
        self.trace_views(name, [require(BufferView, view) for view in views])

    def trace_views(self, name: str, views: Sequence[BufferView]) -> None:
        """Show views that a program traces; the whole module overrides this."""
        raise NotImplementedError


def _check_shape(shape: Sequence[int]) -> None:
    if len(shape) > 128 or any(not 0 <= dimension < 1 << 40 for dimension in shape):
        raise invalid_argument(f"buffer view shape {list(shape)[:8]} is out of range")


def assert_view(
    view: BufferView, message: Any, element_type: int, encoding_type: int, shape: Sequence[int]
) -> None:
    """Check a view as `buffer_view.assert` does, with IREE's messages."""
    if view.encoding_type not in (0, encoding_type):
        raise invalid_argument(
            f"{require(VmBuffer, message).text()} encoding mismatch; expected "
            f"{encoding_type:08X} but have {view.encoding_type:08X}"
        )
    if not elements.compatible(view.element_type, element_type):
        raise invalid_argument(
            f"{require(VmBuffer, message).text()} element type mismatch; expected "
            f"{elements.text(element_type)} ({element_type:08X}) but have "
            f"{elements.text(view.element_type)} ({view.element_type:08X})"
        )
    if view.shape != tuple(shape):
        raise _shape_mismatch(require(VmBuffer, message).text(), tuple(shape), view.shape)


def _shape_mismatch(name: str, expected: tuple[int, ...], actual: tuple[int, ...]) -> StatusError:
    shapes = (
        f"expected shape `{elements.shape_text(expected)}`, "
        f"actual shape `{elements.shape_text(actual)}`"
    )
    if len(expected) != len(actual):
        ranks = [f"{len(s)}{' (scalar)' if not s else ''}" for s in (expected, actual)]
        text = f"{name} shape rank mismatch; expected {ranks[0]} but have {ranks[1]}"
    else:
        index = next(
            i for i, pair in enumerate(zip(expected, actual, strict=True)) if pair[0] != pair[1]
        )
        text = (
            f"{name} shape dimension {index} mismatch; expected {expected[index]} "
            f"but have {actual[index]}"
        )
    return invalid_argument(f"{text}; {shapes}")
