"""Looks up, once, the buffers that a kernel reaches through pointers it loads or computes."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.cfg import Cfg
from ..ir.nodes import AddressRoot, Block, Function, Instruction, Value
from ..ir.operations.control import PHI
from ..ir.operations.memory import LOOKUP_AVAILABLE, LOOKUP_HOST
from ..ir.passes import rewrites
from .divergence import Divergence


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where a GPU address is on the host, and how many bytes its buffer has from there."""

    host: Instruction
    available: Instruction


@rewrites
def insert_lookups(function: Function, cfg: Cfg, divergence: Divergence) -> dict[Value, Lookup]:
    """Add a look-up behind the definition of every address that all lanes share."""
    found: dict[Value, Lookup] = {}
    if not cfg.reducible:
        return found
    for instruction in list(function.instructions()):
        root = instruction.root
        if not isinstance(root, AddressRoot) or root.address in found:
            continue
        address = root.address
        if isinstance(address, Instruction) and not divergence.is_varying(address):
            found[address] = _insert(address)
    return found


def _insert(address: Instruction) -> Lookup:
    block = address.block
    assert block is not None
    host = Instruction(LOOKUP_HOST, "ptr", [address], address.site)
    available = Instruction(LOOKUP_AVAILABLE, "i64", [address], address.site)
    host.block = available.block = block
    at = _place_behind(address, block)
    block.body[at:at] = [host, available]
    return Lookup(host, available)


def _place_behind(address: Instruction, block: Block) -> int:
    if address.operation is PHI:
        return 0
    return block.body.index(address) + 1
