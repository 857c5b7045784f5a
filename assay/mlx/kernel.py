"""metal_kernel: a kernel from the text of its body, and what a call of it does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import launch
from ..tracebacks import ends_in_caller
from .arrays import Input, as_input, gives_mlx, new_output, to_mlx
from .dtypes import ElementType, element_type, is_type
from .passed import Value, passed
from .signature import Generated, InputForm, Source, TemplateValue, generate
from .transforms import without_derivatives

if TYPE_CHECKING:
    from assay.hal.metal.emulated import (
        MTLBuffer,
        MTLComputeCommandEncoder,
        MTLComputePipelineState,
    )

Size = tuple[int, int, int]
Array = np.ndarray[Any, Any]
_MATH_MODES = {"safe": 0, "relaxed": 1, "fast": 2}  # MTLMathMode
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What a call says beside its inputs, checked."""

    shapes: Sequence[tuple[int, ...]]
    types: Sequence[ElementType]
    grid: Size
    threadgroup: Size
    template: Mapping[str, TemplateValue]
    init_value: float | None
    verbose: bool


@ends_in_caller
def metal_kernel(
    name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
    compile_options: Mapping[str, str] | None = None,
) -> MetalKernel:
    """A kernel from the body of a Metal function, as mx.fast.metal_kernel takes it.

    The signature is generated from the arrays of each call. `compile_options` may have
    "math_mode": "safe" (the default), "relaxed" or "fast". Raises ValueError as MLX does.
    """
    written = Source(
        name=name,
        header=header,
        body=source,
        input_names=tuple(input_names),
        output_names=tuple(output_names),
        atomic_outputs=atomic_outputs,
    )
    _check_names(written)
    return MetalKernel(written, ensure_row_contiguous, _math_mode(compile_options))


class MetalKernel:
    """A kernel to be called with arrays; made by metal_kernel.

    Attributes:
        source: what its author wrote.
        math_mode: the MTLMathMode that it is compiled with.
    """

    def __init__(self, source: Source, ensure_row_contiguous: bool, math_mode: int) -> None:
        self.source = source
        self.math_mode = math_mode
        self._ensure_row_contiguous = ensure_row_contiguous
        self._pipelines: dict[tuple[int, str], MTLComputePipelineState] = {}

    @ends_in_caller
    def __call__(
        self,
        *,
        inputs: Sequence[object],
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[object],
        grid: Size,
        threadgroup: Size,
        template: Sequence[tuple[str, object]] | None = None,
        init_value: float | None = None,
        verbose: bool = False,
        stream: object = None,
    ) -> list[Any]:
        """Run `grid` threads and return the outputs, which are MLX arrays if anything given is.

        Unlike in MLX the kernel runs at once. `stream` is accepted and ignored: there is one
        device, and calls end before they return. Outputs that neither `init_value` nor the kernel
        sets are NaN, or have all bits set.

        Raises ValueError for arguments that do not fit, RuntimeError with the compiler's
        complaints, assay.launch.LaunchError for faults of the kernel.
        """
        source = self.source
        _check_count("inputs", inputs, len(source.input_names))
        _check_count("output_shapes", output_shapes, len(source.output_names))
        _check_count("output_dtypes", output_dtypes, len(source.output_names))
        call = _Call(
            shapes=[tuple(int(size) for size in shape) for shape in output_shapes],
            types=[element_type(of) for of in output_dtypes],
            grid=_size("grid", grid, 0),
            threadgroup=_size("threadgroup", threadgroup, 1),
            template=template_values(template or ()),
            init_value=init_value,
            verbose=verbose,
        )
        if not gives_mlx(inputs, output_dtypes):
            return self._compute(call, inputs)

        def compute(arrays: Sequence[object]) -> list[Any]:
            outputs = self._compute(call, arrays)
            return [to_mlx(array, of) for array, of in zip(outputs, call.types, strict=True)]

        return without_derivatives(source.name, compute, inputs)

    def arrays(self, inputs: Sequence[object]) -> list[Input]:
        """The inputs of a call as the kernel reads them. Raises ValueError."""
        names = self.source.input_names
        given = [as_input(value, name) for value, name in zip(inputs, names, strict=True)]
        return [one.row_contiguous() for one in given] if self._ensure_row_contiguous else given

    def generated(
        self,
        given: Sequence[Input],
        types: Sequence[ElementType],
        template: Mapping[str, TemplateValue],
    ) -> Generated:
        """The kernel for these inputs, types of outputs and template arguments."""
        forms = [
            InputForm(element_type=one.element_type, ndim=one.elements.ndim, size=one.elements.size)
            for one in given
        ]
        return generate(self.source, forms, types, template)

    def _compute(self, call: _Call, inputs: Sequence[object]) -> list[Array]:
        """The outputs, after the kernel has run."""
        source = self.source
        given = self.arrays(inputs)
        kernel = self.generated(given, call.types, call.template)
        if call.verbose:
            print(f"Generated source code for `{source.name}`:\n```\n{kernel.text}\n```")
        outputs: list[Array] = [
            new_output(shape, of, call.init_value)
            for shape, of in zip(call.shapes, call.types, strict=True)
        ]
        self._run(kernel, call, given, outputs)
        return outputs

    def _run(
        self,
        kernel: Generated,
        call: _Call,
        inputs: Sequence[Input],
        outputs: Sequence[Array],
    ) -> None:
        pipeline = self._pipeline(kernel)
        grid, threadgroup = call.grid, call.threadgroup
        size = threadgroup[0] * threadgroup[1] * threadgroup[2]
        most = pipeline.maxTotalThreadsPerThreadgroup()
        if size > most:
            raise ValueError(
                f"Thread group size ({size}) is greater than the maximum allowed threads per "
                f"threadgroup ({most})."
            )
        if 0 in grid:
            return
        width, height, depth = map(min, threadgroup, grid)
        launch.run(
            pipeline,
            lambda encoder: _bind(
                encoder, self.source, inputs, outputs, are_defined=call.init_value is not None
            ),
            threads=grid,
            threads_per_threadgroup=(width, height, depth),
        )

    def _pipeline(self, kernel: Generated) -> MTLComputePipelineState:
        """The compiled kernel, compiled once per device. Raises RuntimeError."""
        key = (launch.device().registryID(), kernel.program)
        found = self._pipelines.get(key)
        if found is None:
            try:
                library = launch.compiled(kernel.program, math_mode=self.math_mode)
                found = launch.pipeline(library, kernel.name)
            except launch.CompilationError as error:
                raise RuntimeError(
                    f"[metal::Device] Unable to build metal library from source\n{error}"
                ) from None
            self._pipelines[key] = found
        return found


def _bind(
    encoder: MTLComputeCommandEncoder,
    source: Source,
    inputs: Sequence[Input],
    outputs: Sequence[Array],
    *,
    are_defined: bool,
) -> None:
    """Set the arguments in the order of the generated signature.

    To checks, outputs are uninitialised whose elements nothing defines before the kernel does.
    """
    from assay.hal.metal.emulated.host import buffer_over
    from assay.hal.metal.emulated.resources.undefined import note_undefined

    for index, each in enumerate(passed(source, inputs, outputs)):
        if isinstance(each, Value):
            encoder.setBytes_length_atIndex_(each.data, each.data.nbytes, index)
            continue
        buffer: MTLBuffer | None = None
        if each.data.nbytes:  # an array without elements is a null pointer
            buffer = buffer_over(launch.device(), each.data, each.name)
        encoder.setBuffer_offset_atIndex_(buffer, each.offset, index)
        if each.is_output and buffer is not None and not are_defined:
            note_undefined(buffer)


def template_values(given: Sequence[tuple[str, object]]) -> dict[str, TemplateValue]:
    """Template arguments by name. Raises ValueError for what is none."""
    values: dict[str, TemplateValue] = {}
    for name, value in given:
        if isinstance(value, bool | int):
            values[name] = value
        elif is_type(value):
            values[name] = element_type(value)
        else:
            raise ValueError(
                "[metal_kernel] Invalid template argument. Must be `mlx.core.Dtype`, `int` or "
                f"`bool`; {name!r} is {value!r}."
            )
    return values


def _math_mode(options: Mapping[str, str] | None) -> int:
    if options is not None and not isinstance(options, Mapping):
        raise ValueError("[metal_kernel] Expected `compile_options` to be a dict.")
    for key in options or {}:
        if key != "math_mode":
            raise ValueError(f"[metal_kernel] Unknown compile option `{key}`.")
    mode = (options or {}).get("math_mode", "safe")
    if mode not in _MATH_MODES:
        raise ValueError("[metal_kernel] Expected math_mode to be 'safe', 'relaxed', or 'fast'.")
    return _MATH_MODES[mode]


def _check_names(source: Source) -> None:
    if not source.output_names:
        raise ValueError("[metal_kernel] Must specify at least one output.")
    if not _WORD.fullmatch(source.name):
        raise ValueError(
            f"[metal_kernel] The name {source.name!r} becomes part of a function's name; it may "
            "have letters, digits and underscores."
        )
    names = (*source.input_names, *source.output_names)
    for name in names:
        if not name.isidentifier() or names.count(name) > 1:
            raise ValueError(
                f"[metal_kernel] {name!r} becomes an argument of the kernel; give each input and "
                "output its own name of letters, digits and underscores."
            )


def _check_count(what: str, values: Sequence[object], expected: int) -> None:
    if len(values) != expected:
        raise ValueError(
            f"[metal_kernel] Expected `{what}` to have size {expected} but got size {len(values)}."
        )


def _size(what: str, given: Sequence[int], least: int) -> Size:
    try:
        width, height, depth = (int(size) for size in given)
    except (TypeError, ValueError):
        width, height, depth = -1, -1, -1
    if min(width, height, depth) < least:
        raise ValueError(
            f"[metal_kernel] Expected `{what}` to be three sizes from {least} up, such as "
            f"(256, 1, 1), but got {given!r}."
        )
    return width, height, depth
