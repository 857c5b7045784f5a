"""Which Metal is used: the emulated one or the system's. Chosen by name, never by chance."""

import importlib
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DEVICES = ("emulated", "native")
_stand_ins: dict[str, Any] = {}


class NoSuchMetal(Exception):
    """The Metal that was asked for is not here; the message says what to do."""


@contextmanager
def standing_in(device: str, metal: Any) -> Iterator[None]:
    """Let `load(device)` give `metal` meanwhile, which works on that device."""
    before = _stand_ins.get(device)
    _stand_ins[device] = metal
    try:
        yield
    finally:
        _stand_ins.pop(device)
        if before is not None:
            _stand_ins[device] = before


def load(device: str) -> Any:
    """The Metal called `device`: "emulated" is ours, "native" PyObjC's on a Mac.

    Both have the same names: MTLCreateSystemDefaultDevice, MTLSizeMake and so on. Raises
    NoSuchMetal; there is no falling back from one to the other.
    """
    if device in _stand_ins:
        return _stand_ins[device]
    if device == "emulated":
        from . import emulated

        return emulated
    if device == "native":
        return _native()
    raise NoSuchMetal(f"device {device!r} is not known; there are {', '.join(DEVICES)}")


def _native() -> Any:
    if platform.system() != "Darwin":
        raise NoSuchMetal(
            f"device 'native' is Apple's own Metal and this machine runs {platform.system()}; "
            "choose device 'emulated'"
        )
    try:
        return importlib.import_module("Metal")
    except ImportError as error:
        raise NoSuchMetal(
            f"device 'native' needs PyObjC's Metal, which cannot be imported ({error}); install "
            "it with pip install 'assay-emulator[macos]', or choose device 'emulated'"
        ) from error
