"""Turning what Metal reports (NSError objects, refused calls) into status errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..status import StatusError


def error_text(error: Any) -> str:
    """The description of an NSError, or a stand-in if there is none."""
    return str(error.localizedDescription()) if error is not None else "no reason given"


def command_buffer_error(command_buffer: Any) -> StatusError:
    """Why a command buffer failed. The emulated Metal's fault is the error's cause."""
    error = command_buffer.error()
    status = StatusError("ABORTED", error_text(error))
    status.__cause__ = getattr(error, "cause", None)
    return status


@contextmanager
def metal_calls(doing: str) -> Iterator[None]:
    """Metal refuses wrong calls by raising; a program that causes one gets a status error."""
    try:
        yield
    except StatusError:
        raise
    except MemoryError as error:
        message = f"unable to allocate memory for {doing}: {error}"
        raise StatusError("RESOURCE_EXHAUSTED", message) from error
    except Exception as error:
        raise StatusError("INTERNAL", f"Metal refused {doing}: {error}") from error
