"""Modules of the NPU's compiler as text, whichever dialect they are in."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from assay.compiler.torq.hl.text import text_of
from assay.compiler.torq.hw.dialect import hw_text
from assay.compiler.torq.hw.executable import ExecutableOp


def listing(module: ModuleOp, *, most: int | None = None) -> str:
    """The module; constants of more than `most` elements or bytes are left out, if it is given."""
    if any(isinstance(op, ExecutableOp) for op in module.body.block.ops):
        return hw_text(module, most=most)
    return text_of(module, most=most)
