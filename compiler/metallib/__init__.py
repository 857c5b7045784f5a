"""Files of compiled kernels: those of Apple's compiler, and those that `assay metal` writes."""

from .opening import open_library, opened

__all__ = ["open_library", "opened"]
