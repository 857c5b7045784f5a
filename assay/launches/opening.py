"""Opens what kernels come in: MSL text, which is compiled, or a compiled library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.compiler.msl import CompileOptions, KernelLibrary

COMPILED = (".metallib", ".dylib", ".air")
"""How files with compiled kernels are called: libraries, programs that hold some, bitcode alone."""


def opened_library(source: str, file_name: str, options: CompileOptions) -> KernelLibrary:
    """The kernels of `source`; of the file itself, if its name is that of a compiled library.

    Raises:
        CompileError: if the text does not compile, or the library is damaged.
    """
    if Path(file_name).suffix in COMPILED:
        from assay.compiler.metallib import open_library

        return open_library(Path(file_name))
    from assay.compiler.msl import compile_library

    return compile_library(source, options=options, file_name=file_name, each_alone=True)
