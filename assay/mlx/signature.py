"""The text around a kernel's body, as MLX writes it: which arguments, in which order, of what type.

Follows the documentation of mx.fast.metal_kernel and what it prints with verbose=True.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .dtypes import ElementType

TemplateValue = bool | int | ElementType

# Attributes of Metal that become arguments when the body names them.
ATTRIBUTES = {
    "dispatch_quadgroups_per_threadgroup": "uint",
    "dispatch_simdgroups_per_threadgroup": "uint",
    "dispatch_threads_per_threadgroup": "uint3",
    "grid_origin": "uint3",
    "grid_size": "uint3",
    "quadgroup_index_in_threadgroup": "uint",
    "quadgroups_per_threadgroup": "uint",
    "simdgroup_index_in_threadgroup": "uint",
    "simdgroups_per_threadgroup": "uint",
    "thread_execution_width": "uint",
    "thread_index_in_quadgroup": "uint",
    "thread_index_in_simdgroup": "uint",
    "thread_index_in_threadgroup": "uint",
    "thread_position_in_grid": "uint3",
    "thread_position_in_threadgroup": "uint3",
    "threadgroup_position_in_grid": "uint3",
    "threadgroups_per_grid": "uint3",
    "threads_per_grid": "uint3",
    "threads_per_simdgroup": "uint",
    "threads_per_threadgroup": "uint3",
}
# Inputs with fewer elements come in the constant address space.
_CONSTANT_BELOW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the author of a kernel wrote."""

    name: str
    header: str
    body: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    atomic_outputs: bool

    def wants(self, input_name: str, what: str) -> bool:
        """Whether the body names the `shape`, `strides` or `ndim` of an input."""
        return f"{input_name}_{what}" in self.body


@dataclass(frozen=True, slots=True, kw_only=True)
class InputForm:
    """What the signature depends on of an input: its type, its dimensions, its elements."""

    element_type: ElementType
    ndim: int
    size: int

    @property
    def space(self) -> str:
        """The address space that the input comes in."""
        return "constant" if self.size < _CONSTANT_BELOW else "device"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A whole kernel: its name, its text as MLX prints it, its text as it is compiled."""

    name: str
    text: str
    program: str


def generate(
    source: Source,
    inputs: Sequence[InputForm],
    outputs: Sequence[ElementType],
    template: Mapping[str, TemplateValue],
) -> Generated:
    """The kernel for inputs and outputs of these types and these template arguments."""
    name = _kernel_name(source.name, inputs, outputs, template)
    signature = _signature(source, name, inputs, outputs, template)
    end = _instantiation(name, template)
    program = (
        f'{_utilities()}\n# 1 "{source.name}.header"\n{source.header}\n'
        f'# 1 "{source.name}.signature"\n{signature}\n'
        f'# 1 "{source.name}.source"\n{source.body}\n'
        f'# 1 "{source.name}.end"\n}}\n{end}'
    )
    text = f"{source.header}{signature}\n{source.body}\n}}\n{end}"
    return Generated(name=name, text=text, program=program)


@cache
def _utilities() -> str:
    """The declarations that every kernel may use."""
    path = files(__package__) / "include" / "utils.h"
    return f'# 1 "mlx_utils.h"\n{path.read_text()}'


def _kernel_name(
    name: str,
    inputs: Sequence[InputForm],
    outputs: Sequence[ElementType],
    template: Mapping[str, TemplateValue],
) -> str:
    parts = ["custom_kernel", name, *(_value(value) for value in template.values())]
    for form in inputs:
        suffix = "s" if form.ndim == 0 else "c" if form.space == "constant" else ""
        parts.append(form.element_type.metal + suffix)
    parts += [of.metal for of in outputs]
    return "_".join(parts).replace("-", "m")


def _signature(
    source: Source,
    name: str,
    inputs: Sequence[InputForm],
    outputs: Sequence[ElementType],
    template: Mapping[str, TemplateValue],
) -> str:
    arguments: list[str] = []
    for input_name, form in zip(source.input_names, inputs, strict=True):
        arguments += _input_arguments(source, input_name, form)
    for output_name, of in zip(source.output_names, outputs, strict=True):
        element = f"atomic<{of.metal}>" if source.atomic_outputs else of.metal
        arguments.append(f"device {element}* {output_name}")
    numbered = [f"  {argument} [[buffer({n})]]" for n, argument in enumerate(arguments)]
    numbered += [
        f"  {kind} {attribute} [[{attribute}]]"
        for attribute, kind in ATTRIBUTES.items()
        if attribute in source.body
    ]
    parameters = ", ".join(f"{_parameter(value)} {key}" for key, value in template.items())
    head = f"template <{parameters}>\n" if template else ""
    return f"{head}[[kernel]] void {name}(\n" + ",\n".join(numbered) + ") {"


def _input_arguments(source: Source, name: str, form: InputForm) -> list[str]:
    mark = "&" if form.ndim == 0 else "*"
    arguments = [f"const {form.space} {form.element_type.metal}{mark} {name}"]
    if form.ndim:
        if source.wants(name, "shape"):
            arguments.append(f"const constant int* {name}_shape")
        if source.wants(name, "strides"):
            arguments.append(f"const constant int64_t* {name}_strides")
        if source.wants(name, "ndim"):
            arguments.append(f"const constant int& {name}_ndim")
    return arguments


def _instantiation(name: str, template: Mapping[str, TemplateValue]) -> str:
    if not template:
        return ""
    whole = f"{name}<{', '.join(map(_value, template.values()))}>"
    return f'\ntemplate [[host_name("{name}")]] [[kernel]] decltype({whole}) {whole};\n'


def _parameter(value: TemplateValue) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "typename"


def _value(value: TemplateValue) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value) if isinstance(value, int) else value.metal
