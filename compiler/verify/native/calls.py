"""Functions of z3's library, called without a look at their arguments and at errors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import z3

Call = Callable[..., Any]


def call(name: str, result: Any, arguments: int) -> Call:
    """A function by its name in the library, of handles alone.

    Its wrapper in Python asks whether there was an error after each call. Terms that are made of
    terms of the right sort bring none; what makes them looks whether there is a result.
    """
    return typed(name, result, *[ctypes.c_void_p] * arguments)


def call_of_many(name: str, result: Any) -> Call:
    """The same of a context and any number of terms, as that number and an array."""
    return typed(name, result, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p)


def typed(name: str, result: Any, *arguments: Any) -> Call:
    """A function by its name, what it gives and what it takes."""
    # z3 lets go of the library as such; its wrappers have the functions.
    (wrapped,) = getattr(z3.z3core, name).__defaults__
    address = ctypes.cast(wrapped.f, ctypes.c_void_p).value or 0
    # The lock of Python is kept: a context is not for several threads at once.
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


ADD_REFERENCE = call("Z3_inc_ref", None, 2)
