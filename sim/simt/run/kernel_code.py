"""Loads kernels' machine code together with the helpers that it calls."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

from ...native.disk_cache import DiskCache, digest
from ...native.jit import LoadedCode, MissingFunction, compile_object, load_linked, make_known
from ...native.llvm_host import host_target
from ..emit.helpers import helper_module, helper_names
from ..ir.faults import UnsupportedKernel

RUN_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@functools.cache
def load_helpers() -> LoadedCode:
    """Make the helpers' symbols known to code loaded later."""
    text = helper_module()
    cache = DiskCache("helpers")
    key = digest(text, *host_target())
    data = cache.get(key)
    if data is None:
        data = compile_object(text)
        cache.put(key, data)
    helpers = LoadedCode(data)
    make_known(helper_names(), helpers)
    return helpers


def load_kernel(data: bytes, known: Sequence[str] = ()) -> tuple[LoadedCode, ctypes._FuncPointer]:
    """Load a kernel's object file; returns its owner and `run(ctx, first, count)`.

    `known` names functions, besides the helpers, that the linker knows already.

    Raises:
        UnsupportedKernel: if it calls a function that nobody has.
    """
    load_helpers()
    try:
        code = load_linked(data, {*helper_names(), *known})
    except MissingFunction as missing:
        raise UnsupportedKernel(f"it needs the function '{missing}', which is not here") from None
    return code, RUN_SIGNATURE(code.address("run"))
