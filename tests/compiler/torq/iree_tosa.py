"""Chains of TOSA operators compiled by IREE for the CPU and run: a second opinion."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
_TYPES = {
    "bool": "i1",
    "int8": "i8",
    "uint8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int48": "i48",
    "float32": "f32",
    "bfloat16": "bf16",
}
_CARRIERS = {"bfloat16": "int16", "uint8": "int8"}
"""What IREE's runtime takes and gives for a type: TOSA tells unsigned integers by attributes."""
_FLAGS = ["--iree-llvmcpu-target-cpu=generic", "--iree-llvmcpu-debug-symbols=false"]


def array(numbers: Sequence[int]) -> str:
    """An attribute that holds whole numbers of 64 bits."""
    return f"array<i64: {', '.join(str(n) for n in numbers)}>"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor in a function; of type "shape", the sizes that an operator asks for."""

    function: Function
    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def type(self) -> str:
        """As IREE writes it."""
        if self.dtype == "shape":
            return f"!tosa.shape<{self.shape[0]}>"
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{_TYPES[self.dtype]}>"


class Function:
    """Operators one behind the other, written down as they are called."""

    def __init__(self) -> None:
        self.inputs: list[Array] = []
        self._arguments: list[str] = []
        self._lines: list[str] = []

    def argument(self, value: Array) -> Value:
        """A tensor that the function is given."""
        dtype = str(value.dtype)
        carrier = _CARRIERS.get(dtype, dtype)
        given = np.ascontiguousarray(value.view(carrier))
        argument = Value(self, f"%a{len(self.inputs)}", given.shape, carrier)
        self.inputs.append(given)
        self._arguments.append(f"{argument.name}: {argument.type}")
        return argument if carrier == dtype else self._as(argument, dtype)

    def _as(self, value: Value, dtype: str) -> Value:
        """The same bits as another type, which may be the same one to IREE."""
        other = Value(self, value.name, value.shape, dtype)
        return other if other.type == value.type else self.arith("bitcast", value, dtype)

    def carried(self, value: Value) -> Value:
        """`value` as IREE's runtime gives it."""
        return self._as(value, _CARRIERS.get(value.dtype, value.dtype))

    def constant(self, numbers: Sequence[int] | Sequence[float], dtype: str) -> Value:
        """A vector that is compiled in."""
        return self._const("const", numbers, (len(numbers),), dtype)

    def sizes(self, numbers: Sequence[int]) -> Value:
        """A shape, or how often to repeat each axis."""
        return self._const("const_shape", numbers, (len(numbers),), "shape")

    def _const(
        self,
        op: str,
        numbers: Sequence[int] | Sequence[float],
        shape: tuple[int, ...],
        dtype: str,
    ) -> Value:
        kind = f"tensor<{len(numbers)}xindex>"
        if dtype != "shape":
            kind = Value(self, "", shape, dtype).type
        text = f"dense<[{', '.join(str(n) for n in numbers)}]> : {kind}"
        return self.tosa(op, (), shape, dtype, values=text)

    def tosa(
        self,
        op: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        dtype: str,
        **attributes: str,
    ) -> Value:
        """The result of `tosa.<op>`, of this shape and type."""
        names = ", ".join(operand.name for operand in operands)
        kinds = ", ".join(operand.type for operand in operands)
        given = ", ".join(f"{key} = {value}" for key, value in attributes.items())
        result = Value(self, f"%v{len(self._lines)}", tuple(shape), dtype)
        self._lines.append(
            f'{result.name} = "tosa.{op}"({names}) {{{given}}} : ({kinds}) -> {result.type}'
        )
        return result

    def arith(self, op: str, value: Value, dtype: str) -> Value:
        """`arith.<op>`, which gives the same elements another type."""
        result = Value(self, f"%v{len(self._lines)}", value.shape, dtype)
        self._lines.append(
            f"{result.name} = arith.{op} {value.name} : {value.type} to {result.type}"
        )
        return result

    def text(self, name: str, result: Value) -> str:
        """The function with a name, and `result` as what it returns."""
        header = f"func.func @{name}({', '.join(self._arguments)}) -> {result.type} {{"
        return "\n  ".join((header, *self._lines, f"return {result.name} : {result.type}\n}}"))


def results(values: Sequence[Value]) -> list[Array]:
    """Each value as IREE computes it; all of their functions are compiled as one module."""
    ends = [value.function.carried(value) for value in values]
    text = "\n".join(end.function.text(f"run{n}", end) for n, end in enumerate(ends))
    module = _compiled(text)
    found = []
    for n, value in enumerate(values):
        # A copy: the device frees its memory when the result goes out of scope.
        raw = np.array(module[f"run{n}"](*value.function.inputs).to_host())
        floats = value.dtype == "bfloat16"
        found.append(raw.view(ml_dtypes.bfloat16 if floats else value.dtype))
    return found


def run(
    op: str,
    inputs: Sequence[Array],
    result: tuple[tuple[int, ...], str],
    *,
    constants: Sequence[Array] = (),
    attributes: Mapping[str, str] | None = None,
) -> Array:
    """The result of `tosa.<op>` of `inputs` followed by `constants`, which are compiled in."""
    function = Function()
    operands = [function.argument(x) for x in inputs]
    operands += [function.constant(c.tolist(), str(c.dtype)) for c in constants]
    return results([function.tosa(op, operands, *result, **(attributes or {}))])[0]


@functools.lru_cache(maxsize=64)
def _compiled(text: str):  # type: ignore[no-untyped-def]
    import iree.compiler as compiler
    import iree.runtime as runtime

    binary = compiler.compile_str(
        text, target_backends=["llvm-cpu"], input_type="tosa", extra_args=_FLAGS
    )
    config = runtime.Config("local-sync")
    return runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
