"""One TOSA operator compiled by IREE for the CPU and run: a second opinion on the reference."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
_TYPES = {"int8": "i8", "int16": "i16", "int32": "i32", "bool": "i1", "float32": "f32"}


def array(numbers: Sequence[int]) -> str:
    """An attribute that holds whole numbers of 64 bits."""
    return f"array<i64: {', '.join(str(n) for n in numbers)}>"


def run(
    op: str,
    inputs: Sequence[Array],
    result: tuple[tuple[int, ...], str],
    *,
    constants: Sequence[Array] = (),
    attributes: Mapping[str, str] | None = None,
) -> Array:
    """The result of `tosa.<op>` of `inputs` followed by `constants`, which are compiled in."""
    shape, dtype = result
    text = _module(op, inputs, constants, attributes or {}, _type(shape, dtype))
    module = _compiled(text)
    # A copy: the device frees its memory when the result goes out of scope.
    return np.array(module["run"](*inputs).to_host()).reshape(shape)


def _module(
    op: str,
    inputs: Sequence[Array],
    constants: Sequence[Array],
    attributes: Mapping[str, str],
    result: str,
) -> str:
    arguments = ", ".join(f"%a{n}: {_type_of(x)}" for n, x in enumerate(inputs))
    lines = [f"func.func @run({arguments}) -> {result} {{"]
    for n, value in enumerate(constants):
        numbers = ", ".join(str(int(v)) for v in value.flat)
        kind = _type_of(value)
        lines.append(
            f'  %c{n} = "tosa.const"() {{values = dense<[{numbers}]> : {kind}}} : () -> {kind}'
        )
    names = [f"%a{n}" for n in range(len(inputs))] + [f"%c{n}" for n in range(len(constants))]
    kinds = ", ".join(_type_of(x) for x in (*inputs, *constants))
    given = ", ".join(f"{key} = {value}" for key, value in attributes.items())
    lines.append(f'  %r = "tosa.{op}"({", ".join(names)}) {{{given}}} : ({kinds}) -> {result}')
    lines += [f"  return %r : {result}", "}"]
    return "\n".join(lines)


def _type_of(value: Array) -> str:
    return _type(value.shape, str(value.dtype))


def _type(shape: Sequence[int], dtype: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{_TYPES[dtype]}>"


@functools.lru_cache(maxsize=64)
def _compiled(text: str):  # type: ignore[no-untyped-def]
    import iree.compiler as compiler
    import iree.runtime as runtime

    binary = compiler.compile_str(
        text,
        target_backends=["llvm-cpu"],
        input_type="tosa",
        extra_args=["--iree-llvmcpu-target-cpu=generic"],
    )
    config = runtime.Config("local-sync")
    return runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
