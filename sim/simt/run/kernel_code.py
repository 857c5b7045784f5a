"""Loads kernels' machine code together with the helpers that it calls, and the loop around it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

from ...native.disk_cache import DiskCache, digest
from ...native.jit import LoadedCode, MissingFunction, compile_object, load_linked, make_known
from ...native.llvm_host import LLVM_LOCK, host_target
from ...native.object_file import undefined_symbols
from ..emit.helpers import atomic_module, helper_module, helper_names
from ..ir.faults import UnsupportedKernel

_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


# Helpers that are loaded, by what each is for: an operation, or "" for all but atomic ones.
_loaded: dict[str, LoadedCode] = {}


def load_common_helpers() -> list[str]:
    """Make the symbols of the helpers known that any kernel may call; their names."""
    names = helper_names()
    _load("", helper_module(), names)
    return names


def load_helpers(data: bytes) -> frozenset[str]:
    """Make the symbols of the helpers known that an object file calls; the names it may call."""
    names = load_common_helpers()
    for called in undefined_symbols(data):
        module = atomic_module(called)
        if module is not None:
            _load(called, module, [called])
            names.append(called)
    return frozenset(names)


def _load(key: str, module: str, names: Sequence[str]) -> None:
    with LLVM_LOCK:  # of two threads, one would free what the other made known
        if key not in _loaded:
            code = LoadedCode(_compiled(module, "helpers"))
            make_known(names, code)
            _loaded[key] = code


def _compiled(text: str, kind: str) -> bytes:
    """The object file of LLVM IR, from the cache `kind` or compiled and put there."""
    cache = DiskCache(kind)
    key = digest(text, *host_target())
    data = cache.get(key)
    if data is None:
        data = compile_object(text)
        cache.put(key, data)
    return data


class LoadedKernel:
    """A kernel's machine code in memory, with the loop that runs it.

    Args:
        data: the kernel's object file.
        driver: LLVM IR of the loop that runs it.
        known: functions, besides the helpers, that the linker knows already.

    Raises:
        UnsupportedKernel: if the kernel calls a function that nobody has.
    """

    def __init__(self, data: bytes, driver: str, known: Sequence[str] = ()) -> None:
        helpers = load_helpers(data)
        try:
            self._kernel = load_linked(data, helpers.union(known))
            self._driver = _load_driver(driver, tuple(known))
        except MissingFunction as missing:
            raise UnsupportedKernel(
                f"it needs the function '{missing}', which is not here"
            ) from None
        self._code = self._kernel.address("simdgroup")
        self._run = _RUN(self._driver.address("run"))

    def run(self, context: int, first: int, count: int) -> int:
        """Run threadgroups of the box that the context at this address has; not 0 after a fault."""
        return int(self._run(context, first, count, self._code))


@functools.cache
def _load_driver(text: str, known: tuple[str, ...]) -> LoadedCode:
    """The code of such a loop, which all kernels share that need the same."""
    return load_linked(_compiled(text, "drivers"), frozenset({*helper_names(), *known}))
