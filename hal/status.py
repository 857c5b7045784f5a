"""Status codes and the one error class that crosses the HAL: IREE's codes, words for people."""

from __future__ import annotations

from typing import Final

CODES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
    "DEFERRED",
    "INCOMPATIBLE",
)
"""Names of the status codes; the index is the code's number (IREE's `iree/base/status.h`)."""


def code_of(name: str) -> int:
    """The number of a status code's name."""
    return CODES.index(name)


def name_of(code: int) -> str:
    """The name of a status code's number; unknown numbers are `UNKNOWN`."""
    return CODES[code] if 0 <= code < len(CODES) else "UNKNOWN"


class StatusError(Exception):
    """An operation failed: a status name, a message, and where in the program it happened.

    `str()` is `STATUS; message` as IREE prints it, then one line per location.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.locations: list[str] = []

    def at(self, location: str) -> StatusError:
        """Add where it happened (innermost first) and return the error itself."""
        self.locations.append(location)
        return self

    def __str__(self) -> str:
        head = f"{self.status}; {self.message}" if self.message else self.status
        return "\n".join([head, *(f"  in {location}" for location in self.locations)])


def invalid_argument(message: str) -> StatusError:
    """The error for an argument that cannot be used."""
    return StatusError("INVALID_ARGUMENT", message)


def out_of_range(message: str) -> StatusError:
    """The error for an index or byte range outside its container."""
    return StatusError("OUT_OF_RANGE", message)
