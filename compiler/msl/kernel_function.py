"""A compiled kernel: bitcode and reflection, also as bytes for the cache on disk."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from . import records
from .arguments import Argument
from .constant_errors import ConstantError
from .errors import MissingConstants

if TYPE_CHECKING:
    from assay.sim.simt import Program

# Offsets of buffers are checked when they are bound, for alignments up to this many bytes.
_MOST_CHECKED_ALIGNMENT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """A compiled kernel: its bitcode, the wrapper's symbol in it, and what the host must know.

    One that `logs` takes the buffer of os_log's records behind its arguments. `errors` are those in
    constant expressions, with which it does compile.
    """

    name: str
    bitcode: bytes = field(repr=False)
    entry: str
    arguments: tuple[Argument, ...]
    max_total_threads_per_threadgroup: int | None
    position_attributes: tuple[str, ...]
    position_types: tuple[str, ...]
    file: str
    line: int
    logs: bool = False
    errors: tuple[ConstantError, ...] = ()

    def program(self) -> Program:
        """The kernel as the engine takes it; made once."""
        return _program(self)


@functools.lru_cache(maxsize=256)
def _program(kernel: KernelFunction) -> Program:
    from assay.sim.simt import Parameter, Program

    parameters = [
        Parameter(
            name=argument.name,
            kind="threadgroup" if argument.kind == "threadgroup" else "buffer",
            index=argument.index,
            is_constant=argument.access == "read",
            alignment=max(1, min(argument.alignment, _MOST_CHECKED_ALIGNMENT)),
        )
        for argument in kernel.arguments
    ]
    if kernel.logs:
        parameters.append(Parameter(name="the log buffer", kind="buffer", index=-1))
    return Program(kernel.bitcode, kernel.entry, name=kernel.name, parameters=parameters)


def stored(kernel: KernelFunction) -> bytes:
    """A kernel as bytes."""
    record = asdict(kernel)
    bitcode = record.pop("bitcode")
    return records.pack(record, bitcode)


def stored_error(error: MissingConstants) -> bytes:
    """That a kernel cannot be compiled without values for function constants, as bytes."""
    return records.pack({"missing": error.names, "error": str(error)}, b"")


def restored(raw: bytes) -> KernelFunction:
    """The kernel that was stored.

    Raises:
        MissingConstants: if that was stored in its place.
    """
    record, bitcode = records.unpack(raw)
    if "missing" in record:
        raise MissingConstants(record["error"], tuple(record["missing"]))
    record["arguments"] = records.arguments_of(record["arguments"])
    record["position_attributes"] = tuple(record["position_attributes"])
    record["position_types"] = tuple(record["position_types"])
    record["errors"] = tuple(ConstantError(**error) for error in record["errors"])
    return KernelFunction(bitcode=bitcode, **record)
