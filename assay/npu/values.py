"""Arrays to the bytes of an executable's buffers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Value, element_name
from ..signatures import Signature, Slot

if TYPE_CHECKING:
    from assay.hal.torq.format import Executable

Bytes = NDArray[np.uint8]


class NpuInputError(ValueError):
    """Arrays do not fit what a program takes; the message says which would.

    `kinds` are those that would, such as 1x8x8x4xi8, if none is there.
    """

    def __init__(self, message: str, kinds: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.kinds = tuple(kinds)


class Buffers:
    """The buffers that an executable is run with; `program` is what messages call it."""

    def __init__(self, executable: Executable, program: str) -> None:
        from assay.hal.torq.buffers import read_by, sizes_of, written_by

        self._executable, self._program = executable, program
        self._sizes = sizes_of(executable)
        self.inputs = read_by(executable)
        self.outputs = written_by(executable)
        """Numbers of the buffers that are read, and of those that are written."""

    def filled(self, values: Sequence[Any]) -> list[Bytes]:
        """A buffer per number, zeros at first. Raises NpuInputError.

        Inputs are, in order, all buffers that are read, or those that are only read: older
        compilers do not say which are only written.
        """
        sizes, inputs = self._sizes, self.inputs
        if len(values) != len(inputs):
            inputs = tuple(number for number in inputs if number not in self.outputs)
        if len(values) != len(inputs):
            wanted = ", ".join(f"{sizes[number]} bytes" for number in inputs) or "none"
            raise NpuInputError(
                f"{self._program}: {len(values)} inputs for {len(inputs)} buffers that are read "
                f"({wanted})",
                [self._kind(number) for number in inputs],
            )
        buffers = [
            np.zeros(sizes.get(number, 0), np.uint8) for number in range(max(sizes, default=-1) + 1)
        ]
        for number, value in zip(inputs, values, strict=True):
            data = np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8)
            if len(data) != sizes[number]:
                raise NpuInputError(
                    f"{self._program}: an input of {len(data)} bytes for buffer {number}, which "
                    f"has {sizes[number]}"
                )
            stated = self._stated(number)
            if stated is not None and not is_laid_out_as(np.shape(value), stated[1]):
                raise NpuInputError(
                    f"{self._program}: an input of shape {shape_text(np.shape(value))} for buffer "
                    f"{number}, which is a {self._type(number)}"
                )
            buffers[number][:] = data
        return buffers

    def zeros(self) -> list[Value]:
        """An input of zeros for every buffer that is read."""
        return [np.zeros(self._sizes[number], np.int8) for number in self.inputs]

    def typed(self, number: int, data: Bytes) -> Value:
        """A buffer with the type and shape that the executable states, else as bytes."""
        dtype, shape = self._elements(number)
        return data.view(dtype).reshape(shape)

    def signature(self) -> Signature:
        """What goes in and comes out, buffer by buffer."""
        return Signature(
            name=self._program,
            arguments=self._slots("input", self.inputs),
            results=self._slots("output", self.outputs),
        )

    def _slots(self, name: str, numbers: Sequence[int]) -> tuple[Slot, ...]:
        return tuple(
            Slot(name=f"{name}{at}", type=self._type(number)) for at, number in enumerate(numbers)
        )

    def _type(self, number: int) -> str:
        """The type of a buffer as IREE writes it."""
        return f"tensor<{self._kind(number)}>"

    def _kind(self, number: int) -> str:
        """The shape and type of a buffer's elements, such as 4x4xi8."""
        dtype, shape = self._elements(number)
        return f"{''.join(f'{steps}x' for steps in shape)}{element_name(dtype)}"

    def _elements(self, number: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
        return self._stated(number) or (np.dtype(np.int8), (self._sizes[number],))

    def _stated(self, number: int) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
        """The type and shape that the executable gives a buffer; None if it gives none."""
        from assay.hal.torq.buffers import described, elements_of

        return elements_of(described(self._executable, number), self._sizes[number])


def is_laid_out_as(shape: Sequence[int], declared: Sequence[int]) -> bool:
    """Whether an array is what is declared, but for axes of one step, or all in a row.

    Channels that come first where they are declared last have as many bytes, and another meaning.
    """
    long = [size for size in shape if size != 1]
    return len(long) <= 1 or long == [size for size in declared if size != 1]


def shape_text(shape: Sequence[int]) -> str:
    """A shape as inputs are written: 1x8x8x4."""
    return "x".join(map(str, shape)) or "()"
