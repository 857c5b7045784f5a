"""What compute scripts take from `objc`: autorelease pools, names of nothing, lists of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from assay.hal.metal.emulated.resources.buffer import VarList as varlist

from .foundation import NSString as pyobjc_unicode

__all__ = [
    "NO",
    "NULL",
    "YES",
    "autorelease_pool",
    "error",
    "lookUpClass",
    "nil",
    "nosuchclass_error",
    "pyobjc_unicode",
    "python_method",
    "recycleAutoreleasePool",
    "varlist",
]

YES, NO = True, False
nil = NULL = None
Function = TypeVar("Function", bound=Callable[..., object])


class error(Exception):
    """Raised for what goes wrong in the bridge."""


class nosuchclass_error(error):
    """Raised for classes that are not there."""


@contextmanager
def autorelease_pool() -> Iterator[None]:
    """Accepted and without effect: Python's references alone keep objects alive."""
    yield


def recycleAutoreleasePool() -> None:
    """Accepted and without effect: Python's references alone keep objects alive."""


def python_method(function: Function) -> Function:
    """The function itself: there is no Objective-C that could call it."""
    return function


def lookUpClass(name: str) -> type:
    """The class of Foundation or Metal that is called so. Raises nosuchclass_error."""
    from assay.hal.metal import emulated

    from . import foundation

    for module in (foundation, emulated):
        found = vars(module).get(name)
        if isinstance(found, type):
            return found
    raise nosuchclass_error(f"there is no class {name!r} here")


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"the stand-in for objc has no {name!r}; it has {', '.join(sorted(__all__))}"
    )
