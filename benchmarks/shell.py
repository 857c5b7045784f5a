"""Commands of Assay in fresh processes: what they print, cost in time, and cost in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One that ended well: `seconds` of the processor, user and system; `memory` at most, bytes."""

    output: str
    seconds: float
    memory: int


def assay(arguments: Sequence[str], folder: Path) -> Command:
    """What `assay ARGUMENTS` in a folder gives. Raises RuntimeError if it fails."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            stdout=output,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # nobody else waits for it
        if process.returncode:
            raise RuntimeError(f"assay {' '.join(arguments)} failed")
        output.seek(0)
        return Command(
            output=output.read(),
            seconds=usage.ru_utime + usage.ru_stime,
            memory=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1 << 10),
        )
