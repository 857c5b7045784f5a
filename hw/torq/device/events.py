"""What a run leaves behind: when each unit worked or waited, and which memory it touched."""

from dataclasses import dataclass

UNITS = ("HOST", "NSS", "XR", "XW", "CDMA", "CSS", "SLC0", "SLC1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A unit at work, or waiting, from cycle `begin` to `end`.

    `what` is `program`, `wait`, `load`, `store`, `copy`, `task` or `css`; of the host `start`,
    `interrupt`, `copy` or `code`. `address` is the LRAM
    address of the command word behind it, `size` the bytes moved. `agents` says of a slice task how
    many cycles each agent would take alone, `limit` which one takes longest, of a task of the CSS
    core its name, of a program that a fault ended `fault`; of a wait, `waits_for` names the units.
    """

    unit: str
    what: str
    begin: int
    end: int
    address: int | None = None
    size: int = 0
    agents: tuple[tuple[str, int], ...] = ()
    limit: str = ""
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Memory that one agent touches during a piece of work.

    `ranges` are (start, stop) byte addresses in `memory` (LRAM, XRAM, ITCM, DTCM), apart and in
    order. `descriptor` is the LRAM address of the agent's descriptor or of its registers.
    """

    unit: str
    agent: str
    memory: str
    writes: bool
    begin: int
    end: int
    ranges: tuple[tuple[int, int], ...]
    descriptor: int = 0
