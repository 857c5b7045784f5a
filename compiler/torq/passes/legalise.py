"""The pass that brings TOSA and linalg to TorqHL."""

from __future__ import annotations

from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from ..legalise.function import legalise_module
from .base import HlPass


class LegaliseTosa(HlPass):
    """Replaces each operator of TOSA and linalg by one of TorqHL, or by several.

    Before:
        %0 = "tosa.maximum"(%a, %b) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
    After:
        %0 = torq_hl.elementwise %a, %b {way = "general", kind = "MAX"}
            : (tensor<8xi8, xram>, tensor<8xi8, xram>) -> tensor<8xi8>
    """

    name: ClassVar[str] = "legalise-tosa"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises GraphRefused, which lists what cannot be done."""
        legalise_module(op)

    def run(self, block: Block) -> None:
        """Not called: functions are replaced as wholes."""
