"""What hosts see to when they launch their kernels, read from `launches/*.toml`.

Each table names kernels, and the place in the host's source that its facts were read from.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("launches")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLaunch:
    """How a host launches some kernels.

    Attributes:
        kernels: patterns of their names.
        threadgroup: threads of a threadgroup, one of those that the host chooses; `wm` is the
            number behind these letters in the kernel's name.
        constants: function constants.
        assume: conditions that hold of every launch.
        lengths: bytes of threadgroup memory that the host sets, by argument.
        ragged: whether the last threadgroups may not be full.
        host: where in the host's source that stands.
    """

    kernels: tuple[str, ...]
    threadgroup: tuple[int | str, ...] | None = None
    constants: Mapping[str, bool | int | float] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    lengths: Mapping[str, str] = field(default_factory=dict)
    ragged: bool = False
    host: str = ""

    def size_for(self, kernel: str) -> tuple[int, int, int] | None:
        """Threads of a kernel's threadgroups."""
        if self.threadgroup is None:
            return None
        numbers = [_number(each, kernel) for each in self.threadgroup]
        x, y, z = (*numbers, 1, 1)[:3]
        return x, y, z


def _number(size: int | str, kernel: str) -> int:
    if isinstance(size, int):
        return size
    found = re.search(rf"_{size}(\d+)", kernel)
    if found is None:
        raise ValueError(f"{kernel}: its name does not say what {size} is")
    return int(found[1])


def launch_of(project: str, kernel: str) -> HostLaunch:
    """How a project launches a kernel: the first table that names it; nothing is assumed if none
    does.
    """
    for launch in launches_of(project):
        if any(fnmatch.fnmatchcase(kernel, pattern) for pattern in launch.kernels):
            return launch
    return HostLaunch(kernels=(kernel,))


@functools.cache
def launches_of(project: str) -> tuple[HostLaunch, ...]:
    """All tables of a project."""
    path = FOLDER / f"{project}.toml"
    if not path.exists():
        return ()
    return tuple(_launch(each) for each in tomllib.loads(path.read_text())["launch"])


def _launch(table: Mapping[str, Any]) -> HostLaunch:
    return HostLaunch(
        kernels=tuple(table["kernels"]),
        threadgroup=tuple(table["threadgroup"]) if "threadgroup" in table else None,
        constants=table.get("constants", {}),
        assume=tuple(table.get("assume", ())),
        lengths=table.get("lengths", {}),
        ragged=table.get("ragged", False),
        host=table["host"],
    )
