"""One case of the suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FLOATS = ("float", "half")
Bind = Callable[[Any, Any, Any, Any], None]
"""Called with the Metal API, the device, the encoder and the function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel with buffers x, y (inputs) and z (output), a thread for each element.

    Attributes:
        name: its group and what it does: "convert/float-int".
        given: MSL type of the elements of x and y.
        result: MSL type of the elements of z.
        body: statements; `a` and `b` are the thread's elements, `r` is what goes to z.
        is_fast: whether fast math is on.
        function: what Apple's promises call it; "" if there are none for it.
        domain: the largest magnitude of floats in x and y; 0 for all of them.
        parameters: further ones of the kernel, each with a comma behind.
        declared: what stands before the kernel.
        bind: sets what these parameters are.
    """

    name: str
    given: str
    result: str
    body: str
    is_fast: bool = False
    function: str = ""
    domain: float = 0.0
    parameters: str = ""
    declared: str = ""
    bind: Bind | None = None


def simple(name: str, given: str, expression: str, result: str = "") -> Case:
    """A case whose result is an expression of `a` and `b`, and of their type unless it is said."""
    return Case(name=name, given=given, result=result or given, body=f"r = {expression};")
