"""Large sets of cases: some in every run of the tests, the others among the slow ones."""

from __future__ import annotations

import zlib

import pytest


def marks_of_every_other(name: str) -> list[pytest.MarkDecorator]:
    """The mark `slow` for half of all names, always the same half."""
    return [pytest.mark.slow] if zlib.crc32(name.encode()) & 1 else []
