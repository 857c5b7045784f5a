"""The executable container `metal-msl-fb`: kernels as MSL source with what a dispatch needs.

Layout: a 64-byte header (magic `MTL1`, version, size), then a FlatBuffer with the same
identifier. Schema facts: `runtime/src/iree/schemas/metal_executable_def.fbs` of iree-org/iree.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..flatbuffer import FlatBuffer, Table
from ..status import StatusError

FORMAT = "metal-msl-fb"
_HEADER_SIZE = 64
_MOST_CONSTANTS = 64
_MOST_BINDINGS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryDefinition:
    """One library: MSL source and the language version it is written in, or a compiled one."""

    source: str | None
    language_version: int
    metallib: bytes | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineDefinition:
    """One kernel: where it is and how it is called. `constants` counts 32-bit words."""

    name: str
    entry_point: str
    library: int
    threadgroup_size: tuple[int, int, int]
    constants: int
    bindings: int
    source_file: str
    source_line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutableDefinition:
    """All kernels of one executable."""

    libraries: tuple[LibraryDefinition, ...]
    pipelines: tuple[PipelineDefinition, ...]


def read_executable(data: memoryview) -> ExecutableDefinition:
    """Parse and check an executable. Raises StatusError for damage and for unusable content."""
    if len(data) < _HEADER_SIZE + 8 or bytes(data[:4]) != b"MTL1":
        raise StatusError(
            "INVALID_ARGUMENT",
            f"not a Metal executable: {len(data)} bytes starting with {bytes(data[:4])!r}, "
            "expected a header starting with b'MTL1'",
        )
    version, size = struct.unpack_from("<IQ", data, 4)
    if version != 0:
        raise StatusError("INCOMPATIBLE", f"Metal executable format {version}; only 0 is known")
    if _HEADER_SIZE + size > len(data):
        raise StatusError(
            "INVALID_ARGUMENT",
            f"truncated Metal executable: {size} bytes declared, {len(data) - _HEADER_SIZE} there",
        )
    root = FlatBuffer(data[_HEADER_SIZE : _HEADER_SIZE + size], "Metal executable").root(b"MTL1")
    definition = ExecutableDefinition(
        libraries=root.tables(1, _library), pipelines=root.tables(0, _pipeline)
    )
    _check(definition)
    return definition


def _library(table: Table) -> LibraryDefinition:
    source = table.table(0)
    metallib = table.bytes(1)
    return LibraryDefinition(
        source=source.text(1) if source else None,
        language_version=source.number(0, "I") if source else 0,
        metallib=bytes(metallib) if metallib is not None else None,
    )


def _pipeline(table: Table) -> PipelineDefinition:
    entry_point = table.required_text(1, "a pipeline's entry point")
    size = table.struct(3, "III")
    if size is None:
        raise table.buffer.damaged(f"pipeline '{entry_point}' has no threadgroup size")
    debug = table.table(7)
    location = debug.table(1) if debug else None
    return PipelineDefinition(
        name=table.text(8) or entry_point,
        entry_point=entry_point,
        library=table.number(0, "I"),
        threadgroup_size=(size[0], size[1], size[2]),
        constants=table.number(5, "I"),
        bindings=table.vector(6, 8)[1],
        source_file=(location.text(0) if location else None) or "",
        source_line=location.number(1, "i") if location else 0,
    )


def _check(definition: ExecutableDefinition) -> None:
    for pipeline in definition.pipelines:
        if pipeline.library >= len(definition.libraries):
            raise StatusError(
                "INVALID_ARGUMENT",
                f"pipeline '{pipeline.name}' names library {pipeline.library} of "
                f"{len(definition.libraries)}",
            )
        if pipeline.constants > _MOST_CONSTANTS or pipeline.bindings > _MOST_BINDINGS:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"pipeline '{pipeline.name}' takes {pipeline.constants} constants and "
                f"{pipeline.bindings} bindings; at most {_MOST_CONSTANTS} and {_MOST_BINDINGS} "
                "are possible",
            )
        x, y, z = pipeline.threadgroup_size
        if not 0 < x * y * z <= 1024:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"pipeline '{pipeline.name}' has a threadgroup of {x} x {y} x {z} threads; 1 to "
                "1024 are possible",
            )
