"""Kernels that Apple's compiler made: `.metallib` containers and AIR, as programs of the engine."""

from .container import AirFormatError
from .library import SUFFIX, AirLibrary, open_library

__all__ = ["SUFFIX", "AirFormatError", "AirLibrary", "open_library"]
