"""LLVM modules that are freed at once.

The garbage collector may free the context of a module that is part of a cycle, such as the frames
of an exception, before the module, which ends the process. Closed modules are safe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import llvmlite.binding as llvm


@contextlib.contextmanager
def module_of(source: bytes | str) -> Iterator[llvm.ModuleRef]:
    """A module from bitcode or text, in a context of its own.

    Raises:
        RuntimeError: if it does not load, in LLVM's words.
    """
    context = llvm.create_context()
    parse = llvm.parse_bitcode if isinstance(source, bytes) else llvm.parse_assembly
    with contextlib.closing(parse(source, context)) as module:
        yield module
