"""Named operations of linalg in terms of linalg.generic, by passes of IREE's bindings."""

from __future__ import annotations

from typing import Any

_PASSES = "builtin.module(func.func(iree-codegen-decompose-softmax,linalg-generalize-named-ops))"


def generalise(module: Any, data: bytes) -> None:
    """Rewrites a module of the bindings in place, if its file has linalg. Raises MLIRError."""
    if b"linalg" not in data:
        return
    from iree.compiler.passmanager import PassManager

    PassManager.parse(_PASSES).run(module.operation)
