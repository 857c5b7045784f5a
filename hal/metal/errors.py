"""Turning what Metal reports (NSError objects, refused calls) into status errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..status import StatusError


def error_text(error: Any) -> str:
    """The description of an NSError, or a stand-in if there is none."""
    return str(error.localizedDescription()) if error is not None else "no reason given"


@contextmanager
def metal_calls(doing: str) -> Iterator[None]:
    """Metal refuses wrong calls by raising; a program that causes one gets a status error."""
    try:
        yield
    except (StatusError, MemoryError):
        raise
    except Exception as error:
        raise StatusError("INTERNAL", f"Metal refused {doing}: {error}") from error
