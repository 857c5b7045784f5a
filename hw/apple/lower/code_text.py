"""Machine code as text, for people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .code import MachineCode

_LINE_COLUMN = 64


def code_text(code: MachineCode) -> str:
    """One line per instruction: what it writes, its class, what it reads, the source line."""
    head = (
        f"{len(code.kinds)} instructions in {len(code.names)} blocks, {code.registers} registers "
        f"of 32 bits, {code.uniform_registers} shared ones"
    )
    lines = [head]
    for block in range(len(code.names)):
        lines.append(f"\nblock {block}:")
        lines += _moves(code, block)
        for n in range(code.starts[block], code.starts[block + 1]):
            lines.append(_instruction(code, n))
    return "\n".join(lines) + "\n"


def _moves(code: MachineCode, block: int) -> Iterator[str]:
    rows = code.moves[code.move_starts[block] : code.move_starts[block + 1]]
    for register in dict.fromkeys(int(row[1]) for row in rows):
        found = ", ".join(
            f"{'a constant' if source < 0 else f'r{source}'} from block {origin}"
            for origin, _, source in rows[rows[:, 1] == register]
        )
        yield f"    r{register} = {found}"


def _instruction(code: MachineCode, n: int) -> str:
    destination = int(code.destinations[n])
    result = f"r{destination} = " if destination >= 0 else ""
    sources = ", ".join(f"r{r}" for r in np.asarray(code.sources[n]) if r >= 0)
    access = f" #{code.accesses[n]}" if code.accesses[n] >= 0 else ""
    text = f"    {result}{code.classes[code.kinds[n]]}{access} {sources}".rstrip()
    site = code.sites[code.places[n]]
    return f"{text:<{_LINE_COLUMN}} ; line {site.line}" if site.line else text
