"""The instruction set as objects: one `Operation` per row of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .isa_table import PREFIX_F32, PREFIX_F64, ROWS

PREFIXES: Final = {"core": b"", "f32": bytes([PREFIX_F32]), "f64": bytes([PREFIX_F64])}
"""What stands before the opcode of an instruction, by opcode set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One instruction: how its encoding begins, its mnemonic, and the kinds of its fields in
    encoding order."""

    encoding: bytes
    mnemonic: str
    fields: tuple[str, ...]
    ends_block: bool


_BLOCK_ENDS = frozenset(
    {
        "br",
        "cond_br",
        "br_table",
        "return",
        "yield",
        "break",
        "cond_break",
        "call.yieldable",
        "call.variadic.yieldable",
    }
)


def _parse_rows() -> dict[str, dict[int, Operation]]:
    sets: dict[str, dict[int, Operation]] = {"core": {}, "f32": {}, "f64": {}}
    for row in ROWS.strip().splitlines():
        head, _, fields = row.partition(" : ")
        opcode_set, opcode, mnemonic = head.split()
        sets[opcode_set][int(opcode, 16)] = Operation(
            encoding=PREFIXES[opcode_set] + bytes([int(opcode, 16)]),
            mnemonic=mnemonic,
            fields=tuple(fields.split()),
            ends_block=mnemonic in _BLOCK_ENDS,
        )
    return sets


OPERATIONS: Final = _parse_rows()
"""Operations by opcode set (`core`, `f32`, `f64`) and opcode."""

BY_MNEMONIC: Final = {
    operation.mnemonic: operation for found in OPERATIONS.values() for operation in found.values()
}
"""Operations by mnemonic, which is unique over all sets."""
