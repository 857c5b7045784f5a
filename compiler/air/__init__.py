"""Kernels that Apple's compiler made: `.metallib` containers and AIR, as programs of the engine."""

from .container import AirFormatError
from .library import AirLibrary, open_library

__all__ = ["AirFormatError", "AirLibrary", "open_library"]
