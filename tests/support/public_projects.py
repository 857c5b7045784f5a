"""Checkouts of other projects' sources, for tests; nothing of them is kept in this one.

Where `ASSAY_PUBLIC_KERNELS` names a folder, they are in it, each under its project's name. Else git
fetches what is needed, where there is a network.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

_SECONDS = 120
"""That one step of git may take."""
_SOURCES = {
    "candle": (
        "https://github.com/huggingface/candle",
        "2a13b0f3ff62f7e67013597f2996f764c5735e21",
        "candle-metal-kernels/src/metal_src",
    ),
    "mlx": (
        "https://github.com/ml-explore/mlx",
        "846d176227a0ac13d2667e58d2bb68b322109ab0",
        "mlx/backend/metal/kernels",
    ),
}
"""By the project's name where it is, the commit, and the folder that is fetched."""


def checkout(project: str, folder: Path) -> Path:
    """The top of a project's checkout, fetched into `folder` where no other is named.

    Skips the test where there is none to be had.
    """
    given = os.environ.get("ASSAY_PUBLIC_KERNELS")
    if given:
        return Path(given) / project
    found = _fetched(project, folder / project)
    if isinstance(found, str):
        pytest.skip(f"ASSAY_PUBLIC_KERNELS names no folder of checkouts, and git says: {found}")
    return found


@cache
def _fetched(project: str, top: Path) -> Path | str:
    """A checkout of the one folder at `top`, or why it cannot be had."""
    url, commit, folder = _SOURCES[project]
    top.mkdir(parents=True)
    for command in (
        ("init", "-q"),
        ("sparse-checkout", "set", folder),
        ("fetch", "-q", "--depth", "1", "--filter=blob:none", url, commit),
        ("config", "remote.origin.url", url),
        ("config", "remote.origin.promisor", "true"),
        ("checkout", "-q", "FETCH_HEAD"),
    ):
        try:
            done = subprocess.run(
                ["git", *command], cwd=top, capture_output=True, text=True, timeout=_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            return done.stderr.strip()
    return top
