"""What goes wrong in the emulated Metal: misuse as exceptions, failures at run time as NSError.

Real Metal aborts the process on misuse when its validation layer is on; here that is
MetalValidationError. What Metal reports through NSError** comes as NSError.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .constants import (
    MTLCommandBufferErrorInternal,
    MTLCommandBufferErrorPageFault,
    MTLCommandBufferErrorTimeout,
    MTLLibraryErrorCompileFailure,
)

if TYPE_CHECKING:
    from .engine import Engine

_log = logging.getLogger(__name__)

MTLLibraryErrorDomain = "MTLLibraryErrorDomain"
MTLCommandBufferErrorDomain = "MTLCommandBufferErrorDomain"
MTLBinaryArchiveDomain = "MTLBinaryArchiveDomain"
MTLTensorDomain = "MTLTensorDomain"
MTL4CommandQueueErrorDomain = "MTL4CommandQueueErrorDomain"
NSLocalizedDescriptionKey = "NSLocalizedDescription"


class MetalError(Exception):
    """Base of all exceptions of the emulated Metal."""


class MetalValidationError(MetalError, AssertionError):
    """A call that Metal's validation layer would stop: which call, what was given, what to do."""


class MetalTypeError(MetalValidationError, TypeError):
    """An argument that PyObjC cannot turn into what Metal takes."""


class MetalOutOfMemoryError(MetalError, MemoryError):
    """The device's memory is used up. Deviation: Metal returns nil and gives no reason."""


class NSError:
    """An error report as Cocoa's NSError; `cause` is the Python exception behind it (ours)."""

    def __init__(self, domain: str, code: int, description: str, cause: BaseException | None):
        self._domain = domain
        self._code = code
        self._description = description
        self.cause = cause

    def domain(self) -> str:
        """Which part of Metal reports."""
        return self._domain

    def code(self) -> int:
        """The number of the error within its domain."""
        return self._code

    def localizedDescription(self) -> str:
        """What happened, in words."""
        return self._description

    def userInfo(self) -> Mapping[str, object]:
        """The description by its Cocoa key."""
        return {NSLocalizedDescriptionKey: self._description}

    def description(self) -> str:
        """Domain, code and words in one line, as Cocoa prints it."""
        return f'Error Domain={self._domain} Code={self._code} "{self._description}"'

    def __str__(self) -> str:
        return self.description()

    def __repr__(self) -> str:
        return f"<NSError {self.description()}>"


def library_error(code: int, description: str, cause: BaseException | None = None) -> NSError:
    """An error of the domain of libraries and pipelines."""
    return NSError(MTLLibraryErrorDomain, code, description, cause)


def compile_error(cause: Exception, engine: "Engine") -> NSError:
    """The error of a library, function or pipeline state that `cause` prevented."""
    return library_error(MTLLibraryErrorCompileFailure, _explained(cause, engine), cause)


def command_buffer_error(cause: Exception, engine: "Engine") -> NSError:
    """The error of a command buffer that `cause` stopped."""
    # assay.sim.simt.KernelFault.kind; all but "runaway" are accesses to memory that is not there.
    kind = getattr(cause, "kind", None)
    code = MTLCommandBufferErrorInternal
    if kind is not None:
        runaway = kind == "runaway"
        code = MTLCommandBufferErrorTimeout if runaway else MTLCommandBufferErrorPageFault
    return NSError(MTLCommandBufferErrorDomain, code, _explained(cause, engine), cause)


def _explained(cause: Exception, engine: "Engine") -> str:
    if isinstance(cause, MetalError) or engine.explains(cause):
        return str(cause)
    _log.debug("an exception that is not meant for users", exc_info=cause)
    return f"internal error of the emulator, {type(cause).__name__}: {cause}"
