"""What a native function answers when the program has to wait before it can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Pending:
    """A wait: `ready()` asks without blocking, `block()` waits and gives the function's result."""

    __slots__ = ("block", "ready")

    def __init__(self, *, ready: Callable[[], bool], block: Callable[[], Any]) -> None:
        self.ready = ready
        self.block = block
