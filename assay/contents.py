"""What a compiled module contains, gathered for people: functions, kernels, constants."""

from dataclasses import dataclass

from assay.hal.metal.format import read_executable
from assay.hal.vm.archive import ModuleDefinition, read_module
from assay.hal.vm.asserted import exported

from .signatures import Signature, signature_of

_METAL = b"MTL1"
CPU = "an ELF image (CPU)"
_OTHER = {b"\x7fELF": CPU, b"\x03\x02\x23\x07": "SPIR-V", b"VKE1": "Vulkan"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedFunction:
    """A function that can be called from outside."""

    name: str
    declaration: str
    """IREE's own text of its signature, empty when the module does not keep it."""
    signature: Signature


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """One kernel of a Metal executable."""

    name: str
    entry_point: str
    threadgroup_size: tuple[int, int, int]
    bindings: int
    """How many buffers it takes."""
    constants: int
    """How many 32-bit push constants it takes."""
    msl: str
    """Its source; empty when the module carries compiled code only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """A module, summed up. Sizes are bytes."""

    name: str
    size: int
    functions: tuple[ExportedFunction, ...]
    kernels: tuple[Kernel, ...]
    other_executables: tuple[str, ...]
    """Executables for other devices."""
    constants: tuple[int, ...]
    """Sizes of the constant data."""
    global_bytes: int
    global_refs: int
    bytecode_bytes: int
    dependencies: tuple[str, ...]
    imports: tuple[str, ...]


def read_contents(data: bytes, name: str) -> Contents:
    """Reads a `.vmfb`; `name` is what messages call it. Raises StatusError for damage."""
    module = read_module(data, name)
    kernels: list[Kernel] = []
    others: list[str] = []
    constants: list[int] = []
    for blob in module.rodata:
        head = bytes(blob[:4])
        if head == _METAL:
            kernels.extend(_kernels(blob))
        elif head in _OTHER:
            others.append(_OTHER[head])
        elif not _is_text(blob):
            constants.append(len(blob))
    return Contents(
        name=module.name,
        size=len(data),
        functions=tuple(_functions(module)),
        kernels=tuple(kernels),
        other_executables=tuple(others),
        constants=tuple(constants),
        global_bytes=module.global_bytes,
        global_refs=module.global_refs,
        bytecode_bytes=len(module.bytecode),
        dependencies=tuple(dependency.name for dependency in module.dependencies),
        imports=tuple(entry.name for entry in module.imports),
    )


def _functions(module: ModuleDefinition) -> list[ExportedFunction]:
    """The exports people call: initialisers are left out."""
    found = []
    for name in module.exports:
        if name.startswith("__"):
            continue
        info = exported(module, name)
        found.append(
            ExportedFunction(name=name, declaration=info.declaration, signature=signature_of(info))
        )
    return found


def _is_text(blob: memoryview) -> bool:
    """Whether read-only data is a name or a message of the host program."""
    return len(blob) < 4096 and bytes(blob).isascii() and bytes(blob).decode().isprintable()


def _kernels(blob: memoryview) -> list[Kernel]:
    executable = read_executable(blob)
    return [
        Kernel(
            name=pipeline.name,
            entry_point=pipeline.entry_point,
            threadgroup_size=pipeline.threadgroup_size,
            bindings=pipeline.bindings,
            constants=pipeline.constants,
            msl=executable.libraries[pipeline.library].source or "",
        )
        for pipeline in executable.pipelines
    ]
