"""Files of bitcode alone, as `metal -c` writes them (`.air`): one module with all entry points."""

from __future__ import annotations

import hashlib

from .container import Container, Data, StoredConstant, StoredFunction
from .metadata import Metadata
from .reading import READER

# Apple's wrapper around bitcode, and bitcode itself.
_MAGICS = (b"\xde\xc0\x17\x0b", b"BC\xc0\xde")


def is_bare(data: Data) -> bool:
    """Whether a file begins as bitcode does."""
    return bytes(data[:4]) in _MAGICS


def read_bare(data: Data) -> Container:
    """The entry points of a module. Raises AirFormatError if it does not load."""
    stored = memoryview(bytes(data))
    metadata = Metadata(READER.text(bytes(data)))
    versions = (metadata.version("air.version"), metadata.version("air.language_version"))
    constants = tuple(
        StoredConstant(
            name=each.name, index=each.index, type_name=each.type_name, required=each.required
        )
        for each in metadata.constants()
    )
    digest = hashlib.sha256(stored).digest()
    functions = {
        name: StoredFunction(
            name=name,
            kind="kernel",
            stored=stored,
            digest=digest,
            air_version=versions[0],
            language_version=versions[1],
            constants=constants,
        )
        for kernel in metadata.kernels()
        for name in [kernel.symbol.strip('@"')]
    }
    return Container(version=(0, 0), platform="macOS", os_version=(0, 0), functions=functions)
