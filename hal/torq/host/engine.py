"""Unicorn's emulator of aarch64, which can also call compiled functions; needs the extra `host`."""

from __future__ import annotations

import ctypes

import unicorn
from unicorn.unicorn_py3.unicorn import uclib


@unicorn.ucsubclass
class Engine(unicorn.Uc):  # type: ignore[misc]
    """An emulated processor. Unicorn's own binding takes functions of Python as hooks only."""

    @property
    def stop_address(self) -> int:
        """Where the function is that stops an engine."""
        return ctypes.cast(uclib.uc_emu_stop, ctypes.c_void_p).value or 0

    def call_compiled(self, kind: int, address: int, shared: ctypes.Structure) -> ctypes.c_size_t:
        """Have a compiled function called with `shared`, which must live as long; gives a handle.

        Raises UcError.
        """
        handle = ctypes.c_size_t()
        # A range from 1 to 0 is everything.
        first, last = ctypes.c_uint64(1), ctypes.c_uint64(0)
        function, data = ctypes.c_void_p(address), ctypes.byref(shared)
        made = ctypes.byref(handle)
        status = uclib.uc_hook_add(self._uch, made, kind, function, data, first, last)
        if status != unicorn.UC_ERR_OK:
            raise unicorn.UcError(status)
        return handle

    def call_no_more(self, handle: ctypes.c_size_t) -> None:
        """Take a compiled function away."""
        uclib.uc_hook_del(self._uch, handle)
