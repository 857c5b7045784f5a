"""Kernels that Apple's compiler made: `.metallib` containers and AIR, as programs of the engine."""

from .container import AirFormatError
from .library import AirLibrary, mapped, open_library

__all__ = ["AirFormatError", "AirLibrary", "mapped", "open_library"]
